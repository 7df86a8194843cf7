#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// A text is a choice, or a word that stands for a number ("auto", "none").
using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;
std::string to_text(const Value& value);

enum class Group { shape, tiling, algorithm, numerics, run };
enum class Type { boolean, integer, real, choice, list };
enum class Step { linear, powers_of_two };
enum class Renews {
    inputs,   // new inputs, and so a new reference
    kernels,  // the kernels run anew on kept inputs; the reference is kept
    figures,  // nothing runs, figures are made anew
};
std::string_view name_of(Group group);
std::string_view name_of(Type type);
std::string_view name_of(Renews renews);

struct Parameters;

// What must hold for a parameter to matter.
struct Condition {
    std::function<bool(const Parameters&, Backend)> holds;
    std::string words;           // a few, without a full stop: "only for rule lattice", "only on CUDA"
    std::string parameter = {};  // whose value decides, where it is one: "rule"
};

// The largest value that makes a difference, where other parameters decide it: a larger one acts as this one.
struct End {
    std::function<int64_t(const Parameters&)> value;
    std::string words;  // "length", "batch - 1"
};

// One row of a family's schema: sliders, --set, list, sweeps, validation and tests are made of it.
struct Parameter {
    std::string name;
    std::string meaning;  // one sentence
    Group group = Group::shape;
    std::string unit;  // "" where it is a bare number
    Type type = Type::integer;
    Value initial;  // the default
    double minimum = 0, maximum = 0;
    std::vector<Value> choices;
    std::string word;  // taken instead of a number: "auto" or "none"; "" where there is none
    Step step = Step::linear;
    std::string source;  // paper and section, "" where it is the lab's own
    Renews renews = Renews::inputs;
    std::vector<Condition> applies;  // it matters where all of them hold
    std::optional<End> end;          // of an integer

    std::string accepted() const;  // "1 to 65536", "sum, product, max", "auto or 1 to 64"
    std::optional<Refusal> check(const Value& value) const;
    Outcome<Value> parse(std::string_view text) const;

    // The words of the first condition that does not hold; "" where the parameter matters.
    std::string why_unused(const Parameters& parameters, Backend backend) const;
    // The end where there is one, at least `minimum`; else `maximum`.
    double last(const Parameters& parameters) const;
};

// Makers of the usual rows; what they leave at its default is set on the row that they return.
Parameter integer_parameter(std::string name, std::string meaning, Group group, std::string unit,
                            int64_t initial, int64_t minimum, int64_t maximum, Step step, Renews renews);
Parameter real_parameter(std::string name, std::string meaning, Group group, double initial, double minimum,
                         double maximum, Renews renews);
Parameter choice_parameter(std::string name, std::string meaning, Group group, Value initial,
                           std::vector<Value> choices, Renews renews);
Parameter flag_parameter(std::string name, std::string meaning, Group group, bool initial, Renews renews);

// Values by parameter name. The accessors want a name that is there, holding that type.
struct Parameters {
    std::map<std::string, Value, std::less<>> values;

    bool has(std::string_view name) const { return values.find(name) != values.end(); }
    const Value& at(std::string_view name) const;
    int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;  // an integer counts as a real
    bool flag(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    bool is(std::string_view name, std::string_view word) const;  // holds this text
    void set(std::string name, Value value) { values[std::move(name)] = std::move(value); }

    bool operator==(const Parameters&) const = default;
};

}  // namespace sawtooth
