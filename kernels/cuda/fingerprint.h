#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sawtooth::cuda {

// A 128-bit FNV-1a hash of texts: names the files of the cubin cache and detects damaged ones. Not safe
// against deliberate collisions.
class Fingerprint {
  public:
    void add(std::string_view text);  // with its length, so that "ab", "c" differs from "a", "bc"
    std::string hex() const;          // 32 digits

  private:
    void add_byte(unsigned char byte);
    // The offset basis of FNV-1a for 128 bits.
    uint64_t high_ = 0x6c62272e07bb0142, low_ = 0x62b821756295c58d;
};

}  // namespace sawtooth::cuda
