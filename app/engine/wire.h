#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Framing of messages on a pipe: four bytes of length, little endian, then that many bytes of MessagePack.
// The other end may be any program, so everything is checked before it is used.

constexpr uint32_t longest_message = uint32_t{256} << 20;
constexpr int deepest_nesting = 32;
// A parsed value takes 16 bytes or more, even if it is short in the message. Real messages send long lists of
// numbers as one binary value.
constexpr int64_t most_values = int64_t{1} << 24;

// The message with its length prefix.
std::string framed(std::string_view message);

// Text of another program without control characters, which a terminal would obey; line breaks and tabs stay.
std::string printable(std::string_view text);

// Collects bytes as they arrive and returns whole messages.
class FrameReader {
  public:
    void append(std::string_view bytes);
    // nullopt: more bytes are needed. Failure: the length exceeds longest_message, and nothing after it can
    // be read.
    Outcome<std::optional<std::string>> next();
    std::string_view held() const { return std::string_view(held_).substr(taken_); }  // not taken yet

  private:
    std::string held_;
    size_t taken_ = 0;  // of `held_`: erased with the next append, not once a message
};

// Why these bytes are not one whole MessagePack value that is safe for a recursive parser; nullopt if they
// are. Uses its own stack and allocates no memory.
std::optional<std::string> message_refusal(std::string_view bytes);

}  // namespace sawtooth
