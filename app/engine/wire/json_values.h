#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/parameter.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The values that all JSON documents of the program are made of.

// Keys keep the order in which they are written here.
using Json = nlohmann::ordered_json;

// A number, or its name as a string: JSON has no infinities.
inline Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

template <class T>
Json optional_number(const std::optional<T>& value) {
    if (!value) return nullptr;
    if constexpr (std::is_floating_point_v<T>)
        return number(*value);
    else
        return *value;
}

template <class Numbers>
Json numbers(const Numbers& values) {
    Json list = Json::array();
    for (const auto value : values) list.push_back(number(static_cast<double>(value)));
    return list;
}

template <class Row, class ToJson>
Json list_of(const std::vector<Row>& rows, ToJson&& to_json) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(to_json(row));
    return list;
}

inline Json value_of(const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return number(*real);
    return std::visit([](const auto& held) { return Json(held); }, value);
}

inline Json object_of(const Parameters& parameters) {
    Json object = Json::object();
    for (const auto& [name, value] : parameters.values) object[name] = value_of(value);
    return object;
}

// The document as text. Strings may come from files and the system, so invalid UTF-8 must not end the
// program.
inline std::string text_of(const Json& json) {
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json ceilings_of(const Ceilings& ceilings);  // in ceilings_json.cpp

}  // namespace sawtooth
