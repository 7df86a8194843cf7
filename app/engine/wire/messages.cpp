#include "app/engine/wire/messages.h"

#include <fmt/format.h>

#include <set>

#include "app/engine/identity.h"
#include "app/engine/wire/figure_faults.h"
#include "app/engine/wire/mapping.h"

namespace sawtooth {
namespace {

const std::string same_version = "install the same version on both ends";

template <class Message>
std::string fault_in_figures(const Message& message) {
    return std::visit(
        [](const auto& held) -> std::string {
            if constexpr (requires { held.figures; })
                if (held.figures) return fault_in(*held.figures);
            return "";
        },
        message);
}

template <class Message>
std::string encoded(const Message& message) {
    NamedWriter writer;
    writer.put(message);
    return std::move(writer).take();
}

template <class Message>
Outcome<Message> decoded(std::string_view bytes) {
    const auto invalid = [](const std::string& words) { return Error::failure("invalid message: " + words); };
    if (MessageCursor(bytes).list())
        return invalid(
            "the other end is a sawtooth from before format 10, which sent fields without names; " +
            same_version);
    Message message;
    NamedReader reader(bytes, std::is_same_v<Message, FromWorker>);
    const bool whole = reader.take(message);
    if (reader.is_out_of_memory())
        return invalid(fmt::format("its {} bytes decode to too many values", bytes.size()));
    if (!whole) return invalid(reader.fault().empty() ? "not in this format" : reader.fault());
    if (!reader.at_end()) return invalid("more bytes than the message has");
    if (const std::string words = fault_in_figures(message); !words.empty()) return invalid(words);
    return message;
}

// The fields of all structs that a type holds, each once.
class Schema {
  public:
    void add(const TypeDescriptor& type) {
        using Kind = TypeDescriptor::Kind;
        switch (type.kind) {
            case Kind::boolean:
                text_ += "boolean";
                return;
            case Kind::integer:
            case Kind::natural:
                text_ += "integer";
                return;
            case Kind::real:
                text_ += "real";
                return;
            case Kind::enumerator:
                for (const std::string_view name : type.enumerators) text_.append(name).append("|");
                return;
            case Kind::text:
                text_ += "text";
                return;
            case Kind::numbers:
            case Kind::list:
                text_ += "[]";
                return add(type.inner());
            case Kind::launches:
                return add(type.inner());
            case Kind::map:
                text_ += "{}";
                return add(type.inner());
            case Kind::optional:
                text_ += '?';
                return add(type.inner());
            case Kind::variant:
                for (const TypeDescriptor::Alternative& one : type.alternatives) {
                    text_.append("<").append(one.name).append(">");
                    add(one.type());
                }
                return;
            case Kind::structure:
                text_.append(type.name);
                if (!known_.insert(type.name).second) return;
                for (const TypeDescriptor::Field& field : type.fields) {
                    text_.append(" ").append(field.name).append(":");
                    add(field.type());
                }
        }
    }

    uint64_t hash() const {
        uint64_t hash = 14695981039346656037u;  // FNV-1a, which is the same everywhere
        for (const char c : text_) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
        return hash;
    }

  private:
    std::string text_;
    std::set<std::string_view> known_;
};

}  // namespace

std::string encode(const ToWorker& message) { return encoded(message); }
std::string encode(const FromWorker& message) { return encoded(message); }
Outcome<ToWorker> decode_to_worker(std::string_view bytes) { return decoded<ToWorker>(bytes); }
Outcome<FromWorker> decode_from_worker(std::string_view bytes) { return decoded<FromWorker>(bytes); }

Hello hello_from(const std::string& device) {
    static const uint64_t schema = [] {
        Schema all;
        all.add(descriptor_of<ToWorker>());
        all.add(descriptor_of<FromWorker>());
        return all.hash();
    }();
    return {build_identity(), wire_format, schema, device, false};
}

std::optional<std::string> version_refusal(const Hello& other) {
    if (other.format == wire_format) return {};
    return fmt::format(
        "version mismatch: the other end is sawtooth {} (format {}), this one is {} (format {}); {}",
        other.program, other.format, build_identity(), wire_format, same_version);
}

std::string other_build(const Hello& other) {
    if (other.schema == hello_from("").schema) return "";
    return fmt::format("; it is sawtooth {} and this one {}: {}", other.program, build_identity(),
                       same_version);
}

}  // namespace sawtooth
