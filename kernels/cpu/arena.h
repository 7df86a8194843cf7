#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/core/array.h"

namespace sawtooth::cpu {

// The memory of one plan. Arrays are placed one after another in blocks on huge pages, so that the arrays of
// two equal plans have the same places in pages and caches. With memory from the heap, one of two equal
// chains of launches was up to 15 % faster for as long as both existed.
class Arena {
  public:
    // Takes uninitialised memory, which is freed with the last array of its block.
    std::shared_ptr<std::byte[]> take(int64_t bytes) {
        const int64_t room = (bytes + line - 1) / line * line + gap;
        if (!block_ || used_ + room > size_) {
            size_ = (room + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
            block_ = allocate_huge(size_);
            used_ = 0;
        }
        std::shared_ptr<std::byte[]> memory(block_, block_.get() + used_);
        used_ += room;
        return memory;
    }

  private:
    static constexpr int64_t line = 64;
    // Without a gap, arrays whose size is a power of two would begin at the same offset in their pages; a
    // load that follows a store to the same offset waits for it.
    static constexpr int64_t gap = 9 * line;

    std::shared_ptr<std::byte[]> block_;
    int64_t size_ = 0, used_ = 0;
};

}  // namespace sawtooth::cpu
