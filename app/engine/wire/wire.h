#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Framing of messages on a pipe: four bytes of length, little endian, then that many bytes of MessagePack.
// The highest bit of the length says that these are packed with zlib. The other end may be any program, so
// everything is checked before it is used.

constexpr uint32_t longest_message = uint32_t{128} << 20;

// The message with its length prefix. A `packed` one is packed if it is of a middle size: on a network the
// names of fields would take more time than packing, and arrays hardly get shorter.
std::string framed(std::string_view message, bool packed = false);

// The text of another program without control characters, which a terminal would obey; line breaks and tabs
// stay.
std::string printable(std::string_view text);

// Collects bytes as they arrive and returns whole messages.
class FrameReader {
  public:
    void append(std::string_view bytes);
    // The next message; nullopt if more bytes are needed. The message is valid until the next append.
    // Failure: the length exceeds longest_message, and nothing after it can be read.
    Outcome<std::optional<std::string_view>> next();
    std::string_view held() const {
        return std::string_view(held_).substr(taken_);
    }  // the bytes that were not taken yet

  private:
    std::string held_, unpacked_;
    size_t taken_ = 0;  // the taken bytes of `held_`: the next append erases them, not every message
};

// Writes MessagePack values, each in the shortest form that keeps its bits.
class MessageWriter {
  public:
    void nil() { bytes_ += '\xC0'; }
    void boolean(bool value) { bytes_ += value ? '\xC3' : '\xC2'; }
    void integer(uint64_t value);
    void integer(int64_t value);
    void number(double value);
    void text(std::string_view value);
    void binary(const void* data, size_t bytes);
    void list(size_t count);  // the elements follow
    void map(size_t count);   // the pairs follow

    std::string take() && { return std::move(bytes_); }

  private:
    // A kind, and after it the last `bytes` bytes of a value, the highest first.
    void put(int kind, uint64_t value, size_t bytes);
    // A length in 1, 2 or 4 bytes: the first of three kinds in a row.
    void counted(int kind, size_t count);

    std::string bytes_;
};

// Reads the MessagePack values of a message one after another, never past its end. Every function takes the
// next value if it has that type. Otherwise it returns nothing, and the message must be given up. Extension
// types are not read, because no message contains them.
class MessageCursor {
  public:
    explicit MessageCursor(std::string_view bytes) : left_(bytes) {}

    bool at_end() const { return left_.empty(); }
    bool nil();  // false: the next value is another one
    std::optional<bool> boolean();
    using Integer = std::variant<uint64_t, int64_t>;
    std::optional<Integer> integer();
    std::optional<double> number();  // takes an integer or a float
    std::optional<std::string_view> text();
    std::optional<std::string_view> binary();
    // The number of elements or pairs that follow, at most the number of bytes left.
    std::optional<size_t> list();
    std::optional<size_t> map();
    // Passes over one value, with all that it contains. False: it is cut or of no kind that is read.
    bool skip();

  private:
    std::optional<uint8_t> take_kind(uint8_t low, uint8_t high);
    std::optional<uint64_t> big_endian(size_t bytes);
    std::optional<std::string_view> step(std::optional<uint64_t> bytes);
    std::optional<size_t> counted(std::optional<uint64_t> count) const;

    std::string_view left_;
};

}  // namespace sawtooth
