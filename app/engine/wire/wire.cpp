#include "app/engine/wire/wire.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace sawtooth {
namespace {

constexpr size_t length_bytes = 4;
constexpr uint32_t packed_bit = uint32_t{1} << 31;
static_assert(longest_message < packed_bit);
constexpr size_t least_packed = 512, most_packed = size_t{4} << 20;

// The length in front of a message; nullopt if its bytes have not arrived yet.
std::optional<uint32_t> length_in(std::string_view bytes) {
    if (bytes.size() < length_bytes) return {};
    uint32_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i)
        length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return length;
}

std::string packed_with_zlib(std::string_view message) {
    uLongf size = ::compressBound(message.size());
    std::string packed(size, '\0');
    ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(message.data()), message.size(),
                Z_BEST_SPEED);  // fails only without room
    packed.resize(size);
    return packed;
}

// nullopt: the bytes are not one packed message, or one that is longer than any that is packed.
std::optional<std::string> unpacked_with_zlib(std::string_view packed) {
    std::string message;
    for (size_t room = std::max(4 * packed.size(), size_t{1} << 16); room <= 4 * most_packed; room *= 4) {
        uLongf size = std::min(room, most_packed);
        message.resize(size);
        const int outcome = ::uncompress(reinterpret_cast<Bytef*>(message.data()), &size,
                                         reinterpret_cast<const Bytef*>(packed.data()), packed.size());
        message.resize(size);
        if (outcome == Z_OK) return message;
        if (outcome != Z_BUF_ERROR) return {};
    }
    return {};
}

}  // namespace

std::string framed(std::string_view message, bool packed) {
    const bool packs = packed && message.size() >= least_packed && message.size() <= most_packed;
    const std::string shorter = packs ? packed_with_zlib(message) : "";
    const std::string_view content = packs ? shorter : message;
    const uint32_t length = static_cast<uint32_t>(content.size()) | (packs ? packed_bit : 0);
    std::string bytes;
    bytes.reserve(length_bytes + content.size());
    for (size_t i = 0; i < length_bytes; ++i) bytes.push_back(static_cast<char>(length >> (8 * i)));
    return bytes.append(content);
}

std::string printable(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        // In UTF-8 the second set of control characters is C2 80 to C2 9F.
        const bool second_set =
            c == 0xC2 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) & 0xE0) == 0x80;
        if (second_set) ++i;
        const bool controls = second_set || c == 0x7F || (c < 0x20 && c != '\n' && c != '\t');
        clean += controls ? '?' : text[i];
    }
    return clean;
}

void FrameReader::append(std::string_view bytes) {
    held_.erase(0, std::exchange(taken_, 0));
    held_.append(bytes);
    // The whole message is reserved at once: growing step by step would take twice its memory.
    if (const auto length = length_in(held_); length && (*length & ~packed_bit) <= longest_message)
        held_.reserve(length_bytes + (*length & ~packed_bit));
}

Outcome<std::optional<std::string_view>> FrameReader::next() {
    const std::string_view rest = held();
    const auto word = length_in(rest);
    if (!word) return std::optional<std::string_view>();
    const uint32_t length = *word & ~packed_bit;
    if (length > longest_message)
        return Error::failure(
            fmt::format("a message of {} bytes is too long; the limit is {}", length, longest_message));
    if (rest.size() - length_bytes < length) return std::optional<std::string_view>();
    taken_ += length_bytes + length;
    const std::string_view content = rest.substr(length_bytes, length);
    if (!(*word & packed_bit)) return std::optional(content);
    auto unpacked = unpacked_with_zlib(content);
    if (!unpacked) return Error::failure("a packed message that cannot be unpacked");
    unpacked_ = std::move(*unpacked);
    return std::optional<std::string_view>(unpacked_);
}

void MessageWriter::put(int kind, uint64_t value, size_t bytes) {
    bytes_ += static_cast<char>(kind);
    for (size_t i = bytes; i-- > 0;) bytes_ += static_cast<char>(value >> (8 * i));
}

void MessageWriter::integer(uint64_t value) {
    if (value < 0x80) return put(static_cast<int>(value), 0, 0);
    if (value <= UINT8_MAX) return put(0xCC, value, 1);
    if (value <= UINT16_MAX) return put(0xCD, value, 2);
    if (value <= UINT32_MAX) return put(0xCE, value, 4);
    put(0xCF, value, 8);
}

void MessageWriter::integer(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    if (value >= 0) return integer(bits);
    if (value >= -32) return put(static_cast<int>(value), 0, 0);
    if (value >= INT8_MIN) return put(0xD0, bits, 1);
    if (value >= INT16_MIN) return put(0xD1, bits, 2);
    if (value >= INT32_MIN) return put(0xD2, bits, 4);
    put(0xD3, bits, 8);
}

void MessageWriter::number(double value) {
    const auto single = static_cast<float>(value);
    if (std::bit_cast<uint64_t>(static_cast<double>(single)) == std::bit_cast<uint64_t>(value))
        return put(0xCA, std::bit_cast<uint32_t>(single), 4);
    put(0xCB, std::bit_cast<uint64_t>(value), 8);
}

void MessageWriter::counted(int kind, size_t count) {
    if (count <= UINT8_MAX) return put(kind, count, 1);
    if (count <= UINT16_MAX) return put(kind + 1, count, 2);
    put(kind + 2, count, 4);
}

void MessageWriter::text(std::string_view value) {
    if (value.size() < 32)
        put(static_cast<int>(0xA0 | value.size()), 0, 0);
    else
        counted(0xD9, value.size());
    bytes_ += value;
}

void MessageWriter::binary(const void* data, size_t bytes) {
    counted(0xC4, bytes);
    if (bytes > 0) bytes_.append(static_cast<const char*>(data), bytes);
}

void MessageWriter::list(size_t count) {
    if (count < 16) return put(static_cast<int>(0x90 | count), 0, 0);
    put(count <= UINT16_MAX ? 0xDC : 0xDD, count, count <= UINT16_MAX ? 2 : 4);
}

void MessageWriter::map(size_t count) {
    if (count < 16) return put(static_cast<int>(0x80 | count), 0, 0);
    put(count <= UINT16_MAX ? 0xDE : 0xDF, count, count <= UINT16_MAX ? 2 : 4);
}

std::optional<uint8_t> MessageCursor::take_kind(uint8_t low, uint8_t high) {
    if (left_.empty()) return {};
    const auto kind = static_cast<uint8_t>(left_.front());
    if (kind < low || kind > high) return {};
    left_.remove_prefix(1);
    return kind;
}

std::optional<uint64_t> MessageCursor::big_endian(size_t bytes) {
    if (left_.size() < bytes) return {};
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(left_[i]);
    left_.remove_prefix(bytes);
    return value;
}

std::optional<std::string_view> MessageCursor::step(std::optional<uint64_t> bytes) {
    if (!bytes || *bytes > left_.size()) return {};
    const std::string_view content = left_.substr(0, *bytes);
    left_.remove_prefix(*bytes);
    return content;
}

std::optional<size_t> MessageCursor::counted(std::optional<uint64_t> count) const {
    if (!count || *count > left_.size()) return {};
    return *count;
}

bool MessageCursor::nil() { return take_kind(0xC0, 0xC0).has_value(); }

std::optional<bool> MessageCursor::boolean() {
    const auto kind = take_kind(0xC2, 0xC3);
    return kind ? std::optional(*kind == 0xC3) : std::nullopt;
}

std::optional<MessageCursor::Integer> MessageCursor::integer() {
    if (const auto kind = take_kind(0x00, 0x7F)) return Integer(uint64_t{*kind});
    if (const auto kind = take_kind(0xE0, 0xFF)) return Integer(int64_t{static_cast<int8_t>(*kind)});
    const auto kind = take_kind(0xCC, 0xD3);  // 1, 2, 4 or 8 bytes, unsigned and then signed
    if (!kind) return {};
    const size_t bytes = size_t{1} << (*kind & 3);
    const auto value = big_endian(bytes);
    if (!value) return {};
    if (*kind <= 0xCF) return Integer(*value);
    const auto unused_bits = static_cast<int>(64 - 8 * bytes);
    return Integer(static_cast<int64_t>(*value << unused_bits) >> unused_bits);
}

std::optional<double> MessageCursor::number() {
    if (const auto kind = take_kind(0xCA, 0xCB)) {
        if (*kind == 0xCB) {
            const auto bits = big_endian(8);
            return bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
        }
        const auto bits = big_endian(4);
        if (!bits) return {};
        return std::bit_cast<float>(static_cast<uint32_t>(*bits));
    }
    const auto value = integer();
    if (!value) return {};
    return std::visit([](auto held) { return static_cast<double>(held); }, *value);
}

std::optional<std::string_view> MessageCursor::text() {
    if (const auto kind = take_kind(0xA0, 0xBF)) return step(*kind & 0x1F);
    const auto kind = take_kind(0xD9, 0xDB);  // the length follows in 1, 2 or 4 bytes
    return kind ? step(big_endian(size_t{1} << (*kind - 0xD9))) : std::nullopt;
}

std::optional<std::string_view> MessageCursor::binary() {
    const auto kind = take_kind(0xC4, 0xC6);
    return kind ? step(big_endian(size_t{1} << (*kind - 0xC4))) : std::nullopt;
}

std::optional<size_t> MessageCursor::list() {
    if (const auto kind = take_kind(0x90, 0x9F)) return counted(*kind & 0x0F);
    const auto kind = take_kind(0xDC, 0xDD);  // the count follows in 2 or 4 bytes
    return kind ? counted(big_endian(*kind == 0xDC ? 2 : 4)) : std::nullopt;
}

std::optional<size_t> MessageCursor::map() {
    if (const auto kind = take_kind(0x80, 0x8F)) return counted(*kind & 0x0F);
    const auto kind = take_kind(0xDE, 0xDF);
    return kind ? counted(big_endian(*kind == 0xDE ? 2 : 4)) : std::nullopt;
}

bool MessageCursor::skip() {
    // Counted instead of called again for each, because a message may nest lists as deep as it is long.
    for (uint64_t left = 1; left > 0; --left) {
        if (left_.empty()) return false;
        const auto kind = static_cast<uint8_t>(left_.front());
        if (kind >> 4 == 0x9 || kind == 0xDC || kind == 0xDD) {
            const auto count = list();
            if (!count) return false;
            left += *count;
        } else if (kind >> 4 == 0x8 || kind == 0xDE || kind == 0xDF) {
            const auto pairs = map();
            if (!pairs) return false;
            left += 2 * *pairs;
        } else if (!nil() && !boolean() && !number() && !text() && !binary()) {
            return false;
        }
    }
    return true;
}

}  // namespace sawtooth
