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

#ifdef __GLIBCXX__
// libstdc++ takes a variant of these types for one that always has a value. If copying a text or a list fails
// for lack of memory, the copy has none, and its destructor jumps anywhere. This makes it look.
template <>
struct std::__detail::__variant::_Never_valueless_alt<std::vector<int64_t>> : std::false_type {};
#endif

namespace sawtooth {

// A text is a choice, or a word in place of a number ("auto", "none").
using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;
std::string to_text(const Value& value);

enum class Group { shape, tiling, algorithm, numerics, run };
enum class Type { boolean, integer, real, choice, list };
// How a slider steps. towards_one is for real numbers and logarithmic in 1 - value.
enum class Step { linear, powers_of_two, towards_one };
enum class Renews {
    inputs,   // new inputs, and so a new reference
    kernels,  // kernels run again on the same inputs; the reference is kept
    figures,  // nothing runs; figures are recomputed
};
std::string_view name_of(Group group);
std::string_view name_of(Type type);
std::string_view name_of(Renews renews);

struct Parameters;

// A condition for a parameter to be used.
struct Condition {
    std::function<bool(const Parameters&, Backend)> holds;
    std::string words;           // a short phrase: "only for rule lattice", "only on CUDA"
    std::string parameter = {};  // the parameter that decides ("rule"); "" if something else does
};

// The largest value of a parameter that has an effect, which other parameters determine; larger values act
// like this one.
struct End {
    std::function<int64_t(const Parameters&)> value;
    std::string words;  // "length", "batch - 1"
};

// One row of a family's schema, used by sliders, --set, list, sweeps, validation and tests.
struct Parameter {
    std::string name;
    std::string meaning;  // one sentence
    Group group = Group::shape;
    std::string unit;  // "" for a bare number
    Type type = Type::integer;
    Value initial;  // the default
    double minimum = 0, maximum = 0;
    std::vector<Value> choices;
    std::string word;  // accepted instead of a number: "auto" or "none"; "" if there is none
    Step step = Step::linear;
    std::string source;  // paper and section; "" if it has no source
    Renews renews = Renews::inputs;
    std::vector<Condition> applies;  // the parameter is used only if all hold
    std::optional<End> end;          // integers only
    // The name in the words of the field ("heads" for H), accepted wherever the name is; "" if the name is
    // such a word.
    std::string title = {};

    std::string accepted() const;  // "1 to 65536", "sum, product, max", "auto or 1 to 64"
    std::optional<Refusal> check(const Value& value) const;
    Outcome<Value> parse(std::string_view text) const;

    // Returns the words of the first condition that does not hold; "" if the parameter is used.
    std::string why_unused(const Parameters& parameters, Backend backend) const;
    // Returns the largest value with an effect: `end` if there is one, but at least `minimum`; otherwise
    // `maximum`.
    double last(const Parameters& parameters) const;
};

// The following functions create the usual rows; other members can be set on the returned row.
Parameter integer_parameter(std::string name, std::string meaning, Group group, std::string unit,
                            int64_t initial, int64_t minimum, int64_t maximum, Step step, Renews renews);
Parameter real_parameter(std::string name, std::string meaning, Group group, double initial, double minimum,
                         double maximum, Renews renews);
Parameter choice_parameter(std::string name, std::string meaning, Group group, Value initial,
                           std::vector<Value> choices, Renews renews);
Parameter flag_parameter(std::string name, std::string meaning, Group group, bool initial, Renews renews);

// Values by parameter name. The accessors require that the name exists and has that type.
struct Parameters {
    std::map<std::string, Value, std::less<>> values;

    bool has(std::string_view name) const { return values.find(name) != values.end(); }
    const Value& at(std::string_view name) const;
    int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;  // integers are converted
    bool flag(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    bool is(std::string_view name, std::string_view word) const;  // whether the value is this text
    void set(std::string name, Value value) { values[std::move(name)] = std::move(value); }

    bool operator==(const Parameters&) const = default;
};

}  // namespace sawtooth
