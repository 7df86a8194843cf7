#include "app/engine/wire/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace sawtooth {
namespace {

using Kind = TypeDescriptor::Kind;

static_assert(std::endian::native == std::endian::little);

const void* at(const TypeDescriptor::Field& field, const void* object) {
    return static_cast<const char*>(object) + field.offset;
}
void* at(const TypeDescriptor::Field& field, void* object) {
    return static_cast<char*>(object) + field.offset;
}

// An unsigned value of 1 to 8 bytes, and a signed one.
uint64_t natural_at(const void* value, size_t bytes) {
    uint64_t natural = 0;
    std::memcpy(&natural, value, bytes);
    return natural;
}
int64_t integer_at(const void* value, size_t bytes) {
    const auto unused = static_cast<int>(64 - 8 * bytes);
    return static_cast<int64_t>(natural_at(value, bytes) << unused) >> unused;
}
double real_at(const void* value, size_t bytes) {
    return bytes == sizeof(float) ? double{*static_cast<const float*>(value)}
                                  : *static_cast<const double*>(value);
}

bool is_zero(const TypeDescriptor& type, const void* value) {
    switch (type.kind) {
        case Kind::boolean:
        case Kind::integer:
        case Kind::natural:
        case Kind::real:  // -0 has a bit
        case Kind::enumerator:
            return natural_at(value, type.size) == 0;
        case Kind::text:
            return static_cast<const std::string*>(value)->empty();
        case Kind::numbers:
        case Kind::list:
            return type.elements(value).second == 0;
        case Kind::launches:
            return static_cast<const std::vector<LaunchRecord>*>(value)->empty();
        case Kind::map:
            return type.entries(value).empty();
        case Kind::optional:
            return !type.held(value);
        case Kind::variant:
            return false;
        case Kind::structure:
            return std::ranges::all_of(type.fields, [&](const TypeDescriptor::Field& field) {
                return is_zero(field.type(), at(field, value));
            });
    }
    return false;
}

// The memory that decoding may take: in all, with the message itself, at most four times its size. Short
// messages have short lists of large structs.
int64_t memory_for(size_t message_bytes) {
    constexpr int64_t always = int64_t{128} << 20;
    return std::max(always, 3 * static_cast<int64_t>(message_bytes));
}

std::string shortened(std::string_view text) { return printable(text.substr(0, 40)); }

}  // namespace

void NamedWriter::put(const TypeDescriptor& type, const void* value) {
    switch (type.kind) {
        case Kind::boolean:
            return out_.boolean(*static_cast<const bool*>(value));
        case Kind::integer:
            return out_.integer(integer_at(value, type.size));
        case Kind::natural:
            return out_.integer(natural_at(value, type.size));
        case Kind::real:
            return out_.number(real_at(value, type.size));
        case Kind::enumerator:
            return out_.text(type.enumerators[natural_at(value, type.size)]);
        case Kind::text:
            return out_.text(*static_cast<const std::string*>(value));
        case Kind::numbers: {
            const auto [first, count] = type.elements(value);
            return out_.binary(first, count * type.inner().size);
        }
        case Kind::list: {
            const TypeDescriptor& inner = type.inner();
            const auto [first, count] = type.elements(value);
            out_.list(count);
            for (size_t i = 0; i < count; ++i) put(inner, static_cast<const char*>(first) + i * inner.size);
            return;
        }
        case Kind::launches:
            return put(columns_of(*static_cast<const std::vector<LaunchRecord>*>(value)));
        case Kind::map: {
            const auto entries = type.entries(value);
            out_.map(entries.size());
            for (const auto& [name, held] : entries) {
                out_.text(name);
                put(type.inner(), held);
            }
            return;
        }
        case Kind::optional: {
            const void* const held = type.held(value);
            return held ? put(type.inner(), held) : out_.nil();
        }
        case Kind::variant: {
            const TypeDescriptor::Alternative& alternative = type.alternatives[type.alternative(value)];
            out_.map(1);
            out_.text(alternative.name);
            return put(alternative.type(), type.held(value));
        }
        case Kind::structure:
            return put_struct(type, value, type.fallback);
    }
}

void NamedWriter::put_struct(const TypeDescriptor& type, const void* value, const void* fallback) {
    const auto is_left_out = [&](const TypeDescriptor::Field& field) {
        return is_zero(field.type(), at(field, value)) && is_zero(field.type(), at(field, fallback));
    };
    out_.map(type.fields.size() - static_cast<size_t>(std::ranges::count_if(type.fields, is_left_out)));
    for (const TypeDescriptor::Field& field : type.fields) {
        if (is_left_out(field)) continue;
        out_.text(field.name);
        if (field.type().kind == Kind::structure)
            put_struct(field.type(), at(field, value), at(field, fallback));
        else
            put(field.type(), at(field, value));
    }
}

NamedReader::NamedReader(std::string_view bytes, bool clean)
    : cursor_(bytes), clean_(clean), memory_(memory_for(bytes.size())) {}

bool NamedReader::take(const TypeDescriptor& type, void* to) {
    switch (type.kind) {
        case Kind::boolean: {
            const auto value = cursor_.boolean();
            if (value) *static_cast<bool*>(to) = *value;
            return value.has_value();
        }
        case Kind::integer:
        case Kind::natural:
            return take_integer(type, to);
        case Kind::real: {
            const auto value = cursor_.number();
            if (!value) return false;
            if (type.size == sizeof(float))
                *static_cast<float*>(to) = static_cast<float>(*value);
            else
                *static_cast<double*>(to) = *value;
            return true;
        }
        case Kind::enumerator:
            return take_enumerator(type, to);
        case Kind::text:
            return take_text(*static_cast<std::string*>(to));
        case Kind::numbers:
            return take_numbers(type, to);
        case Kind::list:
            return take_list(type, to);
        case Kind::launches:
            return take_launches(*static_cast<std::vector<LaunchRecord>*>(to));
        case Kind::map:
            return take_map(type, to);
        case Kind::optional:
            return take_optional(type, to);
        case Kind::variant:
            return take_variant(type, to);
        case Kind::structure:
            return take_struct(type, to);
    }
    return false;
}

bool NamedReader::take_integer(const TypeDescriptor& type, void* to) {
    const auto value = cursor_.integer();
    if (!value) return false;
    const uint64_t bits = std::visit([](auto held) { return static_cast<uint64_t>(held); }, *value);
    std::memcpy(to, &bits, type.size);
    // Whether reading it again gives the value.
    return std::visit(
        [&](auto held) {
            return type.kind == Kind::integer ? std::cmp_equal(integer_at(to, type.size), held)
                                              : std::cmp_equal(natural_at(to, type.size), held);
        },
        *value);
}

bool NamedReader::take_text(std::string& to) {
    const auto text = cursor_.text();
    if (!text || !spend(text->size())) return false;
    to = clean_ ? printable(text->substr(0, longest_text)) : std::string(*text);
    return true;
}

bool NamedReader::take_enumerator(const TypeDescriptor& type, void* to) {
    const auto name = cursor_.text();
    if (!name || name->empty()) return false;
    const auto found = std::ranges::find(type.enumerators, *name);
    if (found == type.enumerators.end())
        return refuse(fmt::format("the unknown value \"{}\"", shortened(*name)));
    const auto value = static_cast<uint64_t>(found - type.enumerators.begin());
    std::memcpy(to, &value, type.size);
    return true;
}

bool NamedReader::take_numbers(const TypeDescriptor& type, void* to) {
    const auto bytes = cursor_.binary();
    const size_t size = type.inner().size;
    if (!bytes || bytes->size() % size != 0 || !spend(bytes->size())) return false;
    void* const first = type.renew(to, bytes->size() / size);
    if (!bytes->empty()) std::memcpy(first, bytes->data(), bytes->size());
    return true;
}

bool NamedReader::take_list(const TypeDescriptor& type, void* to) {
    const TypeDescriptor& inner = type.inner();
    const auto count = cursor_.list();
    if (!count || !spend(*count * inner.size)) return false;
    auto* const first = static_cast<char*>(type.renew(to, *count));
    for (size_t i = 0; i < *count; ++i)
        if (!take(inner, first + i * inner.size)) return false;
    return true;
}

bool NamedReader::take_launches(std::vector<LaunchRecord>& to) {
    LaunchColumns columns;
    if (!take(columns)) return false;
    if (!spend(columns.start_us.size() * sizeof(LaunchRecord) +
               columns.busy_worker.size() * sizeof(BusySpan)))
        return false;
    auto launches = launches_of(columns);
    if (!launches) return refuse("columns of launches that do not fit together");
    to = std::move(*launches);
    return true;
}

bool NamedReader::take_map(const TypeDescriptor& type, void* to) {
    const auto count = cursor_.map();
    if (!count || !spend(*count * type.allocated)) return false;
    for (size_t i = 0; i < *count; ++i) {
        std::string name;
        if (!take_text(name) || !take(type.inner(), type.entry(to, std::move(name)))) return false;
    }
    return true;
}

bool NamedReader::take_optional(const TypeDescriptor& type, void* to) {
    type.reset(to);
    if (cursor_.nil()) return true;
    return spend(type.allocated) && take(type.inner(), type.emplace(to));
}

bool NamedReader::take_variant(const TypeDescriptor& type, void* to) {
    if (cursor_.map() != 1) return false;
    const auto name = cursor_.text();
    if (!name) return false;
    const auto found = std::ranges::find(type.alternatives, *name, &TypeDescriptor::Alternative::name);
    if (found == type.alternatives.end())
        return refuse(fmt::format("the unknown kind \"{}\"", shortened(*name)));
    return take(found->type(), found->emplace(to));
}

bool NamedReader::take_struct(const TypeDescriptor& type, void* to) {
    const auto count = cursor_.map();
    if (!count) return false;
    std::vector<bool> seen(type.fields.size());
    for (size_t i = 0; i < *count; ++i) {
        const auto name = cursor_.text();
        if (!name) return false;
        const auto field = std::ranges::find(type.fields, *name, &TypeDescriptor::Field::name);
        if (field == type.fields.end()) {
            if (!cursor_.skip()) return false;
            continue;
        }
        const auto place = static_cast<size_t>(field - type.fields.begin());
        const bool is_new = !seen[place];
        seen[place] = true;
        if (is_new && take(field->type(), at(*field, to))) continue;
        if (where_.empty()) where_ = fmt::format("{}.{}", type.name, field->name);
        return refuse(is_new ? "a value of another kind" : "a name that stands there twice");
    }
    return true;
}

bool NamedReader::refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return false;
}

bool NamedReader::spend(size_t bytes) {
    memory_ -= static_cast<int64_t>(bytes);
    return memory_ >= 0;
}

}  // namespace sawtooth
