#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/engine/wire/fields.h"

namespace sawtooth {

template <class T>
concept Real = std::is_same_v<T, double> || std::is_same_v<T, float>;
template <class T>
concept Enumeration = std::is_enum_v<T>;

// How the values of a type lie in memory, so that one function walks a value of any type. Templates that walk
// each type by themselves took a tenth of the compile time of the program.
struct TypeDescriptor {
    using Get = const TypeDescriptor& (*)();
    struct Field {
        size_t offset;
        Get type;
        std::string_view name = {};
    };
    struct Alternative {
        std::string_view name;
        Get type;
        void* (*emplace)(void* variant);
    };
    enum class Kind {
        boolean,
        integer,
        natural,  // an unsigned integer
        real,
        enumerator,
        text,
        numbers,   // a vector of numbers that are written as bytes
        list,      // any other vector
        launches,  // a vector of LaunchRecord, which is written as LaunchColumns
        map,       // from std::string
        optional,  // also a std::shared_ptr
        variant,
        structure
    };

    Kind kind;
    size_t size;  // bytes of a value

    std::vector<std::string_view> enumerators = {};  // 0, 1, 2, …

    Get inner = nullptr;  // of an element, and of what may be absent
    // Of lists: the first element and their number; a new list of default elements, whose first is returned.
    std::pair<const void*, size_t> (*elements)(const void* list) = nullptr;
    void* (*renew)(void* list, size_t count) = nullptr;
    // Of maps.
    std::vector<std::pair<std::string_view, const void*>> (*entries)(const void* map) = nullptr;
    void* (*entry)(void* map, std::string name) = nullptr;
    // Of what may be absent, and of variants: the value, null if it is absent.
    const void* (*held)(const void*) = nullptr;
    void (*reset)(void*) = nullptr;
    void* (*emplace)(void*) = nullptr;
    size_t allocated = 0;  // bytes that emplace() and entry() allocate

    size_t (*alternative)(const void* variant) = nullptr;
    std::vector<Alternative> alternatives = {};

    std::string_view name = {};  // of a struct
    std::vector<Field> fields = {};
    const void* fallback = nullptr;  // a struct as it is before it is read
};

template <class T>
const TypeDescriptor& descriptor_of();

inline TypeDescriptor describe(const bool*) { return {TypeDescriptor::Kind::boolean, sizeof(bool)}; }
inline TypeDescriptor describe(const std::string*) {
    return {TypeDescriptor::Kind::text, sizeof(std::string)};
}
template <class T>
requires std::is_arithmetic_v<T> TypeDescriptor describe(const T*) {
    return {Real<T>               ? TypeDescriptor::Kind::real
            : std::is_signed_v<T> ? TypeDescriptor::Kind::integer
                                  : TypeDescriptor::Kind::natural,
            sizeof(T)};
}
template <Enumeration T>
TypeDescriptor describe(const T*) {
    const auto& names = enumerator_names<T>;
    return {TypeDescriptor::Kind::enumerator, sizeof(T), {names.begin(), names.end()}};
}

inline TypeDescriptor describe(const std::vector<LaunchRecord>*) {
    TypeDescriptor type{TypeDescriptor::Kind::launches, sizeof(std::vector<LaunchRecord>)};
    type.inner = descriptor_of<LaunchColumns>;
    return type;
}
template <class T>
TypeDescriptor describe(const std::vector<T>*) {
    static_assert(!std::is_same_v<T, bool>);
    constexpr bool packed = Real<T> || std::is_same_v<T, uint8_t>;
    TypeDescriptor type{packed ? TypeDescriptor::Kind::numbers : TypeDescriptor::Kind::list,
                        sizeof(std::vector<T>)};
    type.inner = descriptor_of<T>;
    type.elements = [](const void* list) -> std::pair<const void*, size_t> {
        const auto& values = *static_cast<const std::vector<T>*>(list);
        return {values.data(), values.size()};
    };
    type.renew = [](void* list, size_t count) -> void* {
        auto& values = *static_cast<std::vector<T>*>(list);
        values = std::vector<T>(count);
        return values.data();
    };
    return type;
}
template <class T, class Less>
TypeDescriptor describe(const std::map<std::string, T, Less>*) {
    using Map = std::map<std::string, T, Less>;
    TypeDescriptor type{TypeDescriptor::Kind::map, sizeof(Map)};
    type.inner = descriptor_of<T>;
    type.allocated = 4 * sizeof(void*) + sizeof(typename Map::value_type);
    type.entries = [](const void* map) {
        std::vector<std::pair<std::string_view, const void*>> all;
        for (const auto& [name, value] : *static_cast<const Map*>(map)) all.emplace_back(name, &value);
        return all;
    };
    type.entry = [](void* map, std::string name) -> void* {
        return &(*static_cast<Map*>(map))[std::move(name)];
    };
    return type;
}

template <class T>
TypeDescriptor describe(const std::optional<T>*) {
    using Optional = std::optional<T>;
    TypeDescriptor type{TypeDescriptor::Kind::optional, sizeof(Optional)};
    type.inner = descriptor_of<T>;
    type.held = [](const void* value) -> const void* {
        const auto& optional = *static_cast<const Optional*>(value);
        return optional ? &*optional : nullptr;
    };
    type.reset = [](void* value) { static_cast<Optional*>(value)->reset(); };
    type.emplace = [](void* value) -> void* {
        auto& optional = *static_cast<Optional*>(value);
        optional =
            T();  // emplace() does not compile with clang 14 for a T that is nested in the class of its field
        return &*optional;
    };
    return type;
}
template <class T>
TypeDescriptor describe(const std::shared_ptr<const T>*) {
    using Shared = std::shared_ptr<const T>;
    TypeDescriptor type{TypeDescriptor::Kind::optional, sizeof(Shared)};
    type.inner = descriptor_of<T>;
    type.held = [](const void* value) -> const void* { return static_cast<const Shared*>(value)->get(); };
    type.reset = [](void* value) { static_cast<Shared*>(value)->reset(); };
    type.emplace = [](void* value) -> void* {
        auto made = std::make_shared<T>();
        T* const address = made.get();
        *static_cast<Shared*>(value) = std::move(made);
        return address;
    };
    type.allocated = sizeof(T);
    return type;
}
template <class... T>
TypeDescriptor describe(const std::variant<T...>*) {
    using Variant = std::variant<T...>;
    TypeDescriptor type{TypeDescriptor::Kind::variant, sizeof(Variant)};
    type.held = [](const void* value) {
        return std::visit([](const auto& held) -> const void* { return &held; },
                          *static_cast<const Variant*>(value));
    };
    type.alternative = [](const void* value) { return static_cast<const Variant*>(value)->index(); };
    type.alternatives = {TypeDescriptor::Alternative{
        name_of_alternative<T>(), descriptor_of<T>,
        [](void* value) -> void* { return &static_cast<Variant*>(value)->template emplace<T>(); }}...};
    return type;
}

// The names that listed_fields() returns.
void name_fields(TypeDescriptor& type, std::string_view listed);

template <Struct T>
TypeDescriptor describe(const T* none) {
    static const T fallback{};
    TypeDescriptor type{TypeDescriptor::Kind::structure, sizeof(T)};
    type.name = name_of_type(none);
    type.fallback = &fallback;
    with_fields(fallback, [&](const auto&... fields) {
        type.fields = {TypeDescriptor::Field{static_cast<size_t>(reinterpret_cast<const char*>(&fields) -
                                                                 reinterpret_cast<const char*>(&fallback)),
                                             descriptor_of<std::remove_cvref_t<decltype(fields)>>}...};
    });
    name_fields(type, listed_fields(none));
    return type;
}

template <class T>
const TypeDescriptor& descriptor_of() {
    static const TypeDescriptor type = describe(static_cast<const T*>(nullptr));
    return type;
}
// Compiled once, in descriptor.cpp: they are most of every message and file.
extern template const TypeDescriptor& descriptor_of<Result>();
extern template const TypeDescriptor& descriptor_of<Figure>();
extern template const TypeDescriptor& descriptor_of<Sweep>();
extern template const TypeDescriptor& descriptor_of<BenchReport>();

}  // namespace sawtooth
