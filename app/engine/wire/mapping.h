#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "app/engine/wire/fields.h"
#include "app/engine/wire/wire.h"

namespace sawtooth {

// The mapping between the program's structs and MessagePack, in both directions, for messages and files. A
// struct is a map from the names of its fields to their values, without those that are zero, false or empty,
// also by default. An enumerator is its name, an alternative of a variant {name: value}, an absent value nil,
// and a list of numbers that are no integers is bytes: little endian, the byte order of all supported
// machines.
static_assert(std::endian::native == std::endian::little);

template <class T>
concept Real = std::is_same_v<T, double> || std::is_same_v<T, float>;
template <class T>
concept Enumeration = std::is_enum_v<T>;
template <class T>
concept Container = requires(const T& value) {
    value.empty();
};

// Writes values of the program.
class NamedWriter {
  public:
    template <Struct T>
    void put(const T& value) {
        put_struct(value);
    }
    // Compiled once, in mapping.cpp: they are most of every message and file.
    void put(const Result& value);
    void put(const Figure& value);
    void put(bool value) { out_.boolean(value); }
    void put(const std::string& value) { out_.text(value); }
    void put(Real auto value) { out_.number(value); }
    void put(std::signed_integral auto value) { out_.integer(int64_t{value}); }
    void put(std::unsigned_integral auto value) { out_.integer(uint64_t{value}); }
    template <Enumeration T>
    void put(T value) {
        out_.text(enumerator_names<T>[static_cast<size_t>(value)]);
    }
    template <class T>
    void put(const std::optional<T>& value) {
        value ? put(*value) : out_.nil();
    }
    template <class T>
    void put(const std::shared_ptr<const T>& value) {
        value ? put(*value) : out_.nil();
    }
    void put(const Bytes& bytes) { out_.binary(bytes.data(), bytes.size()); }
    template <Real T>
    void put(const std::vector<T>& values) {
        out_.binary(values.data(), values.size() * sizeof(T));
    }
    template <class T>
    void put(const std::vector<T>& values) {
        out_.list(values.size());
        for (const T& value : values) put(value);
    }
    void put(const std::vector<LaunchRecord>& launches) { put(columns_of(launches)); }
    template <class T, class Less>
    void put(const std::map<std::string, T, Less>& values) {
        out_.map(values.size());
        for (const auto& [name, value] : values) {
            out_.text(name);
            put(value);
        }
    }
    template <class... T>
    void put(const std::variant<T...>& value) {
        out_.map(1);
        std::visit(
            [&]<class Held>(const Held& held) {
                out_.text(name_of_alternative<Held>());
                put(held);
            },
            value);
    }

    std::string take() && { return std::move(out_).take(); }

  private:
    template <Struct T>
    void put_struct(const T& value) {
        static const T fallback{};
        put(value, fallback);
    }
    static bool is_zero(Real auto value) { return value == 0 && !std::signbit(value); }
    static bool is_zero(std::integral auto value) { return value == 0; }
    static bool is_zero(Enumeration auto value) { return static_cast<int>(value) == 0; }
    static bool is_zero(const Container auto& value) { return value.empty(); }
    template <class T>
    static bool is_zero(const std::optional<T>& value) {
        return !value;
    }
    template <class T>
    static bool is_zero(const std::shared_ptr<const T>& value) {
        return !value;
    }
    template <class... T>
    static bool is_zero(const std::variant<T...>&) {
        return false;
    }
    template <Struct T>
    static bool is_zero(const T& value) {
        return with_fields(value, [](const auto&... fields) { return (is_zero(fields) && ...); });
    }

    template <class T>
    static bool is_left_out(const T& field, const T& fallback) {
        return is_zero(field) && is_zero(fallback);
    }
    // `fallback` is what a reader has before it reads.
    template <Struct T>
    void put(const T& value, const T& fallback) {
        with_fields(fallback, [&](const auto&... absent) {
            with_fields(value, [&](const auto&... fields) {
                out_.map((size_t{!is_left_out(fields, absent)} + ... + 0));
                [[maybe_unused]] size_t at = 0;
                (put_field(field_names<T>[at++], fields, absent), ...);
            });
        });
    }
    template <class T>
    void put_field(std::string_view name, const T& field, const T& fallback) {
        if (is_left_out(field, fallback)) return;
        out_.text(name);
        if constexpr (Struct<T>)
            put(field, fallback);
        else
            put(field);
    }

    MessageWriter out_;
};

// The memory that decoding may take: in all, with the message itself, at most four times its size. Short
// messages have short lists of large structs.
inline int64_t memory_for(size_t message_bytes) {
    constexpr int64_t always = int64_t{128} << 20;
    return std::max(always, 3 * static_cast<int64_t>(message_bytes));
}

// Texts from outside are shorter: names, notes and errors. Laying out more takes seconds.
constexpr size_t longest_text = 4096;

// Reads values straight into the structs, whose memory is counted before it is allocated. Each function
// returns whether the value had the expected type and fitted. `clean`: texts are made printable and cut,
// because this process shows them.
template <bool clean>
class NamedReader {
  public:
    explicit NamedReader(std::string_view bytes) : cursor_(bytes), memory_(memory_for(bytes.size())) {}

    bool at_end() const { return cursor_.at_end(); }
    bool is_out_of_memory() const { return memory_ < 0; }
    // What could not be read, for an error message.
    std::string fault() const { return where_.empty() ? why_ : where_ + ": " + why_; }

    bool take(bool& to) { return assign(cursor_.boolean(), to); }
    bool take(std::string& to) {
        const auto text = cursor_.text();
        if (!text || !spend(text->size())) return false;
        to = clean ? printable(text->substr(0, longest_text)) : std::string(*text);
        return true;
    }
    bool take(Real auto& to) { return assign(cursor_.number(), to); }
    template <std::integral T>
    bool take(T& to) {
        const auto value = cursor_.integer();
        if (!value) return false;
        return std::visit(
            [&](auto held) {
                to = static_cast<T>(held);
                return std::in_range<T>(held);
            },
            *value);
    }
    template <Enumeration T>
    bool take(T& to) {
        const auto name = cursor_.text();
        if (!name || name->empty()) return false;
        const auto& names = enumerator_names<T>;
        const auto found = std::find(names.begin(), names.end(), *name);
        if (found == names.end()) return refuse(fmt::format("the unknown value \"{}\"", shortened(*name)));
        to = static_cast<T>(found - names.begin());
        return true;
    }
    template <class T>
    bool take(std::optional<T>& to) {
        to.reset();
        if (cursor_.nil()) return true;
        to =
            T();  // emplace() does not compile with clang 14 for a T that is nested in the class of its field
        return take(*to);
    }
    template <class T>
    bool take(std::shared_ptr<const T>& to) {
        to.reset();
        if (cursor_.nil()) return true;
        if (!spend(sizeof(T))) return false;
        auto value = std::make_shared<T>();
        to = value;
        return take(*value);
    }
    bool take(Bytes& to) { return take_packed(to); }
    template <Real T>
    bool take(std::vector<T>& to) {
        return take_packed(to);
    }
    template <class T>
    bool take(std::vector<T>& to) {
        const auto count = cursor_.list();
        if (!count || !spend(*count * sizeof(T))) return false;
        to.clear();
        to.reserve(*count);
        for (size_t i = 0; i < *count; ++i)
            if (!take(to.emplace_back())) return false;
        return true;
    }
    bool take(std::vector<LaunchRecord>& to) {
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
    template <class T, class Less>
    bool take(std::map<std::string, T, Less>& to) {
        constexpr size_t node = 4 * sizeof(void*) + sizeof(std::pair<const std::string, T>);
        const auto count = cursor_.map();
        if (!count || !spend(*count * node)) return false;
        for (size_t i = 0; i < *count; ++i) {
            std::string name;
            if (!take(name) || !take(to[std::move(name)])) return false;
        }
        return true;
    }
    template <class... T>
    bool take(std::variant<T...>& to) {
        if (cursor_.map() != 1) return false;
        const auto name = cursor_.text();
        if (!name) return false;
        const auto take_one = [&]<size_t at>(std::integral_constant<size_t, at>, bool& taken) {
            if (name_of_alternative<std::variant_alternative_t<at, std::variant<T...>>>() != *name)
                return false;
            taken = take(to.template emplace<at>());
            return true;
        };
        return [&]<size_t... at>(std::index_sequence<at...>) {
            bool taken = false;
            if ((take_one(std::integral_constant<size_t, at>(), taken) || ...)) return taken;
            return refuse(fmt::format("the unknown kind \"{}\"", shortened(*name)));
        }
        (std::index_sequence_for<T...>());
    }
    template <Struct T>
    bool take(T& to) {
        return take_struct(to);
    }
    // Compiled once, in mapping.cpp.
    bool take(Result& to);
    bool take(Figure& to);

  private:
    template <Struct T>
    bool take_struct(T& to) {
        constexpr auto& names = field_names<T>;
        const auto count = cursor_.map();
        if (!count) return false;
        std::array<bool, names.size()> seen{};
        for (size_t i = 0; i < *count; ++i) {
            const auto name = cursor_.text();
            if (!name) return false;
            const auto at = static_cast<size_t>(std::find(names.begin(), names.end(), *name) - names.begin());
            if (at == names.size()) {
                if (!cursor_.skip()) return false;
                continue;
            }
            const bool is_new = !std::exchange(seen[at], true);
            if (is_new && take_field(to, at)) continue;
            if (where_.empty()) where_ = fmt::format("{}.{}", name_of_alternative<T>(), names[at]);
            return refuse(is_new ? "a value of another kind" : "a name that stands there twice");
        }
        return true;
    }
    template <Struct T>
    bool take_field(T& to, size_t at) {
        return with_fields(to, [&](auto&... fields) {
            [[maybe_unused]] size_t place = 0;
            return ((place++ == at && take(fields)) || ...);
        });
    }
    static std::string shortened(std::string_view text) { return printable(text.substr(0, 40)); }
    bool refuse(std::string why) {
        if (why_.empty()) why_ = std::move(why);
        return false;
    }
    // False if it takes too much memory.
    bool spend(size_t bytes) {
        memory_ -= static_cast<int64_t>(bytes);
        return memory_ >= 0;
    }
    template <class From, class To>
    static bool assign(const std::optional<From>& value, To& to) {
        if (value) to = static_cast<To>(*value);
        return value.has_value();
    }
    template <class T>
    bool take_packed(std::vector<T>& to) {
        const auto bytes = cursor_.binary();
        if (!bytes || bytes->size() % sizeof(T) != 0 || !spend(bytes->size())) return false;
        to.resize(bytes->size() / sizeof(T));
        if (!to.empty()) std::memcpy(to.data(), bytes->data(), bytes->size());
        return true;
    }

    MessageCursor cursor_;
    int64_t memory_;
    std::string where_, why_;  // of the first value that could not be read
};

}  // namespace sawtooth
