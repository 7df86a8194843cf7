#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/integers.h"

namespace sawtooth::cuda {

// Computes sizeof of a device struct whose array lengths only the host knows, by one call per member, in
// order. The kernel checks the result with static_assert(sizeof(Shared) == SHARED_BYTES).
class StructBytes {
  public:
    // Adds an array of `count` elements of `element_bytes` bytes; `alignment` is that of alignas or of a
    // struct.
    constexpr StructBytes& array(int64_t count, int64_t element_bytes, int64_t alignment = 0) {
        const int64_t own = alignment > 0 ? alignment : element_bytes;
        bytes_ = round_up(bytes_, own) + count * element_bytes;
        alignment_ = std::max(alignment_, own);
        return *this;
    }
    constexpr int64_t total() const { return round_up(bytes_, alignment_); }

  private:
    int64_t bytes_ = 0, alignment_ = 1;
};

}  // namespace sawtooth::cuda
