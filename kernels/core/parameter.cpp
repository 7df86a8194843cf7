#include "kernels/core/parameter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "kernels/core/nearest.h"
#include "kernels/core/typed_values.h"

namespace sawtooth {
namespace {

// Returns the fewest digits that read back as the same number.
std::string number_text(double number) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

// "4096", "2k", "4*1024"
std::optional<int64_t> parse_integer(std::string_view text) {
    int64_t exact = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), exact);
    if (problem == std::errc{} && end == text.data() + text.size()) return exact;
    const auto number = evaluate(text);
    if (!number || *number != std::floor(*number) || std::abs(*number) >= 0x1p53) return {};
    return static_cast<int64_t>(*number);
}

std::optional<double> parse_real(std::string_view text) {
    const auto number = evaluate(text);
    return number ? std::optional(*number) : std::nullopt;
}

std::optional<std::vector<int64_t>> parse_list(std::string_view text) {
    std::vector<int64_t> list;
    while (true) {
        const size_t comma = text.find(',');
        const auto number = parse_integer(text.substr(0, comma));
        if (!number) return {};
        list.push_back(*number);
        if (comma == std::string_view::npos) return list;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace

std::string to_text(const Value& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    std::string joined;
    for (int64_t item : std::get<std::vector<int64_t>>(value))
        joined += (joined.empty() ? "" : ",") + std::to_string(item);
    return joined;
}

std::string_view name_of(Group group) {
    switch (group) {
        case Group::shape:
            return "shape";
        case Group::tiling:
            return "tiling";
        case Group::algorithm:
            return "algorithm";
        case Group::numerics:
            return "numerics";
        case Group::run:
            return "run";
    }
    return "";
}

std::string_view name_of(Type type) {
    switch (type) {
        case Type::boolean:
            return "boolean";
        case Type::integer:
            return "integer";
        case Type::real:
            return "real";
        case Type::choice:
            return "choice";
        case Type::list:
            return "list";
    }
    return "";
}

std::string_view name_of(Renews renews) {
    switch (renews) {
        case Renews::inputs:
            return "inputs";
        case Renews::kernels:
            return "kernels";
        case Renews::figures:
            return "figures";
    }
    return "";
}

namespace {

Names choice_names(const Parameter& row) {
    Names names;
    for (const Value& choice : row.choices) names.push_back(to_text(choice));
    return names;
}

// Returns why a text, or a value of another type, is not a value of the parameter.
std::string wrong_kind(const Parameter& row, const std::string& text) {
    switch (row.type) {
        case Type::boolean:
            return "not " + row.accepted();
        case Type::integer:
            if (const auto number = evaluate(text); number && std::abs(*number) >= 0x1p53)
                return "out of range (" + row.accepted() + ")";
            return "not an integer, like 4096, 2k, 4*1024 or 2^12; accepted: " + row.accepted();
        case Type::real:
            return "not a number, like 0.5, 1e-4 or 1/16; accepted: " + row.accepted();
        case Type::list:
            return "not a list; accepted: " + row.accepted();
        case Type::choice:
            break;
    }
    return not_one_of(text, choice_names(row));
}

}  // namespace

std::string Parameter::accepted() const {
    const std::string either = word.empty() ? "" : word + " or ";
    switch (type) {
        case Type::boolean:
            return "true or false";
        case Type::integer:
        case Type::real:
            return either + number_text(minimum) + " to " + number_text(maximum);
        case Type::list:
            return either + "integers from " + number_text(minimum) + " to " + number_text(maximum) +
                   ", comma separated";
        case Type::choice:
            break;
    }
    return listed(choice_names(*this));
}

std::optional<Refusal> Parameter::check(const Value& value) const {
    if (!word.empty() && value == Value(word)) return {};
    const auto refuse = [&](const std::string& why) { return Refusal{name, to_text(value), why}; };
    const auto check_range = [&](double number) -> std::optional<Refusal> {
        if (number >= minimum && number <= maximum) return {};
        return refuse("out of range (" + accepted() + ")");
    };
    const auto* const integer = std::get_if<int64_t>(&value);
    const auto* const real = std::get_if<double>(&value);
    const auto* const list = std::get_if<std::vector<int64_t>>(&value);
    if (type == Type::boolean && std::holds_alternative<bool>(value)) return {};
    if (type == Type::choice && std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
    if ((type == Type::integer || type == Type::real) && integer)
        return check_range(static_cast<double>(*integer));
    if (type == Type::real && real) return check_range(*real);
    if (type == Type::list && list && !list->empty()) {
        for (const int64_t number : *list)
            if (const auto refusal = check_range(static_cast<double>(number))) return refusal;
        return {};
    }
    return refuse(wrong_kind(*this, to_text(value)));
}

Outcome<Value> Parameter::parse(std::string_view text) const {
    std::optional<Value> value;
    if (!word.empty() && text == word) {
        value = Value(word);
    } else if (type == Type::boolean) {
        if (text == "true" || text == "false") value = Value(text == "true");
    } else if (type == Type::integer) {
        if (const auto number = parse_integer(text)) value = Value(*number);
    } else if (type == Type::real) {
        if (const auto number = parse_real(text)) value = Value(*number);
    } else if (type == Type::list) {
        if (auto list = parse_list(text)) value = Value(std::move(*list));
    } else {
        const auto number = parse_integer(text);
        for (const Value& choice : choices)
            if (to_text(choice) == text || (number && choice == Value(*number))) value = choice;
    }
    if (!value) return Error::usage(Refusal{name, std::string(text), wrong_kind(*this, std::string(text))});
    if (const auto refusal = check(*value)) return Error::usage(*refusal);
    return *value;
}

std::string Parameter::why_unused(const Parameters& parameters, Backend backend) const {
    for (const Condition& condition : applies)
        if (!condition.holds(parameters, backend)) return condition.words;
    return "";
}

double Parameter::last(const Parameters& parameters) const {
    if (!end) return maximum;
    return std::clamp(static_cast<double>(end->value(parameters)), minimum, maximum);
}

Parameter integer_parameter(std::string name, std::string meaning, Group group, std::string unit,
                            int64_t initial, int64_t minimum, int64_t maximum, Step step, Renews renews) {
    Parameter row;
    row.name = std::move(name);
    row.meaning = std::move(meaning);
    row.group = group;
    row.unit = std::move(unit);
    row.type = Type::integer;
    row.initial = initial;
    row.minimum = static_cast<double>(minimum);
    row.maximum = static_cast<double>(maximum);
    row.step = step;
    row.renews = renews;
    return row;
}

Parameter real_parameter(std::string name, std::string meaning, Group group, double initial, double minimum,
                         double maximum, Renews renews) {
    Parameter row;
    row.name = std::move(name);
    row.meaning = std::move(meaning);
    row.group = group;
    row.type = Type::real;
    row.initial = initial;
    row.minimum = minimum;
    row.maximum = maximum;
    row.renews = renews;
    return row;
}

Parameter choice_parameter(std::string name, std::string meaning, Group group, Value initial,
                           std::vector<Value> choices, Renews renews) {
    Parameter row;
    row.name = std::move(name);
    row.meaning = std::move(meaning);
    row.group = group;
    row.type = Type::choice;
    row.initial = std::move(initial);
    row.choices = std::move(choices);
    row.renews = renews;
    return row;
}

Parameter flag_parameter(std::string name, std::string meaning, Group group, bool initial, Renews renews) {
    Parameter row;
    row.name = std::move(name);
    row.meaning = std::move(meaning);
    row.group = group;
    row.type = Type::boolean;
    row.initial = initial;
    row.renews = renews;
    return row;
}

const Value& Parameters::at(std::string_view name) const {
    const auto found = values.find(name);
    if (found == values.end()) throw std::logic_error("no parameter " + std::string(name));
    return found->second;
}

int64_t Parameters::integer(std::string_view name) const { return std::get<int64_t>(at(name)); }

double Parameters::real(std::string_view name) const {
    const Value& value = at(name);
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    return std::get<double>(value);
}

bool Parameters::flag(std::string_view name) const { return std::get<bool>(at(name)); }

const std::string& Parameters::text(std::string_view name) const { return std::get<std::string>(at(name)); }

bool Parameters::is(std::string_view name, std::string_view word) const {
    const auto* text = std::get_if<std::string>(&at(name));
    return text && *text == word;
}

}  // namespace sawtooth
