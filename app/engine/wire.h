#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/core/refusal.h"

namespace sawtooth {

// How messages cross a pipe: four bytes of length, little endian, then so many bytes of MessagePack. The
// other end may be any program, so nothing is believed before it was looked at.

constexpr uint32_t longest_message = uint32_t{256} << 20;
constexpr int deepest_nesting = 32;
// A parsed value takes some 16 bytes and more, however short it is in the message. Real messages carry their
// long lists of numbers as one binary value each.
constexpr int64_t most_values = int64_t{1} << 24;

// The message with its length before it.
std::string framed(std::string_view message);

// Takes bytes as they come and gives whole messages.
class FrameReader {
  public:
    void append(std::string_view bytes) { held_.append(bytes); }
    // nullopt: more bytes are needed. Failure: the length is more than longest_message; nothing that follows
    // can be read then.
    Outcome<std::optional<std::string>> next();
    std::string_view held() const { return held_; }  // what is no whole message yet

  private:
    std::string held_;
};

// Why these bytes are not one whole MessagePack value that is safe to parse with a parser that recurses;
// nullopt where they are. Walks over them with a stack of its own and takes no memory.
std::optional<std::string> message_refusal(std::string_view bytes);

}  // namespace sawtooth
