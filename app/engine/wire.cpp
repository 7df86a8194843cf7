#include "app/engine/wire.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace sawtooth {
namespace {

constexpr size_t length_bytes = 4;

// The head of a MessagePack value: the bytes that follow it, and the values that it contains.
struct Head {
    uint64_t bytes = 0;   // of the number, text or binary itself
    uint64_t values = 0;  // of a list or a map, keys counted
    bool holds_values = false;
    bool known = true;
};

Head list_of(uint64_t values) { return {0, values, true, true}; }
Head plain(uint64_t bytes) { return {bytes, 0, false, true}; }
constexpr Head unknown = {0, 0, false, false};

// Reads heads and skips their content, never past the end.
class Walk {
  public:
    explicit Walk(std::string_view bytes) : left_(bytes) {}

    bool at_end() const { return left_.empty(); }
    uint64_t left() const { return left_.size(); }
    bool step(uint64_t bytes) {
        if (bytes > left_.size()) return false;
        left_.remove_prefix(bytes);
        return true;
    }
    // Big endian, as in MessagePack; nullopt if the bytes end before.
    std::optional<uint64_t> number(int bytes) {
        if (left_.size() < static_cast<size_t>(bytes)) return {};
        uint64_t value = 0;
        for (int i = 0; i < bytes; ++i)
            value = value << 8 | static_cast<unsigned char>(left_[static_cast<size_t>(i)]);
        left_.remove_prefix(static_cast<size_t>(bytes));
        return value;
    }

  private:
    std::string_view left_;
};

// The table of MessagePack's first bytes. Extension types and the unused byte are unknown here, because no
// message contains them.
std::optional<Head> read_head(Walk& walk) {
    const auto first = walk.number(1);
    if (!first) return {};
    const uint64_t kind = *first;
    const auto declared = [&](int bytes, auto&& head) -> std::optional<Head> {
        const auto count = walk.number(bytes);
        return count ? std::optional(head(*count)) : std::nullopt;
    };
    const auto map_of = [](uint64_t pairs) { return list_of(2 * pairs); };
    if (kind <= 0x7F || kind >= 0xE0) return plain(0);  // small integers
    if (kind <= 0x8F) return map_of(kind & 0x0F);       // short maps
    if (kind <= 0x9F) return list_of(kind & 0x0F);      // short lists
    if (kind <= 0xBF) return plain(kind & 0x1F);        // short texts
    switch (kind) {
        case 0xC0:  // nil, false, true
        case 0xC2:
        case 0xC3:
            return plain(0);
        case 0xC4:  // binary, then texts: their length follows in 1, 2 or 4 bytes
        case 0xD9:
            return declared(1, plain);
        case 0xC5:
        case 0xDA:
            return declared(2, plain);
        case 0xC6:
        case 0xDB:
            return declared(4, plain);
        case 0xCA:  // floats
            return plain(4);
        case 0xCB:
            return plain(8);
        case 0xCC:  // unsigned and signed integers of 1, 2, 4 and 8 bytes
        case 0xCD:
        case 0xCE:
        case 0xCF:
            return plain(uint64_t{1} << (kind - 0xCC));
        case 0xD0:
        case 0xD1:
        case 0xD2:
        case 0xD3:
            return plain(uint64_t{1} << (kind - 0xD0));
        case 0xDC:  // lists, then maps: their count follows in 2 or 4 bytes
            return declared(2, list_of);
        case 0xDD:
            return declared(4, list_of);
        case 0xDE:
            return declared(2, map_of);
        case 0xDF:
            return declared(4, map_of);
        default:
            return unknown;
    }
}

}  // namespace

std::string framed(std::string_view message) {
    std::string bytes;
    bytes.reserve(length_bytes + message.size());
    for (size_t i = 0; i < length_bytes; ++i) bytes.push_back(static_cast<char>(message.size() >> (8 * i)));
    return bytes.append(message);
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
}

Outcome<std::optional<std::string>> FrameReader::next() {
    const std::string_view rest = held();
    if (rest.size() < length_bytes) return std::optional<std::string>();
    uint32_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i)
        length |= static_cast<uint32_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
    if (length > longest_message)
        return Error::failure(
            fmt::format("a message of {} bytes is too long; the limit is {}", length, longest_message));
    if (rest.size() - length_bytes < length) return std::optional<std::string>();
    taken_ += length_bytes + length;
    return std::optional(std::string(rest.substr(length_bytes, length)));
}

std::optional<std::string> message_refusal(std::string_view bytes) {
    Walk walk(bytes);
    std::array<uint64_t, deepest_nesting> open{};  // values still missing in each open list or map
    size_t depth = 0;
    for (int64_t values = 1;; ++values) {
        const std::optional<Head> head = read_head(walk);
        if (!head || (head->known && !walk.step(head->bytes))) return "it ends in the middle of a value";
        if (!head->known) return "it has a value of an unsupported type";
        if (values > most_values) return fmt::format("it has more than {} values", most_values);
        if (head->holds_values) {
            if (head->values > walk.left()) return "it declares more values than it has bytes";
            if (depth == open.size()) return fmt::format("it is nested deeper than {}", deepest_nesting);
            open[depth++] = head->values;
        }
        while (depth > 0 && open[depth - 1] == 0) --depth;
        if (depth == 0) break;
        --open[depth - 1];
    }
    if (!walk.at_end()) return "it has bytes after its end";
    return {};
}

}  // namespace sawtooth
