#include "kernels/cuda/fingerprint.h"

namespace sawtooth::cuda {
namespace {

// The upper 64 bits of a 64-bit by 32-bit product.
uint64_t upper(uint64_t value, uint64_t factor) {
    const uint64_t low = (value & 0xFFFFFFFF) * factor;
    return ((value >> 32) * factor + (low >> 32)) >> 32;
}

}  // namespace

void Fingerprint::add_byte(unsigned char byte) {
    low_ ^= byte;
    // The prime is 2^88 + 0x13B.
    const uint64_t shifted = low_ << 24;
    high_ = high_ * 0x13B + upper(low_, 0x13B) + shifted;
    low_ *= 0x13B;
}

void Fingerprint::add(std::string_view text) {
    for (uint64_t size = text.size(), digit = 0; digit < 8; ++digit, size >>= 8)
        add_byte(static_cast<unsigned char>(size & 0xFF));
    for (char character : text) add_byte(static_cast<unsigned char>(character));
}

std::string Fingerprint::hex() const {
    std::string text;
    for (uint64_t half : {high_, low_})
        for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[half >> shift & 0xF];
    return text;
}

}  // namespace sawtooth::cuda
