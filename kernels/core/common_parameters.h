#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// Rows shared by several families.

// A size of the inputs, at least 1.
Parameter size_parameter(std::string name, std::string meaning, std::string unit, int64_t initial,
                         int64_t most);

// "sum", "sum or linear", "titans, delta or hebbian"
std::string alternatives(const std::vector<Value>& values);
// The names in a table of the family, as choices.
template <class Row>
std::vector<Value> names_of(const std::vector<Row>& table) {
    std::vector<Value> names;
    for (const Row& row : table) names.emplace_back(row.name);
    return names;
}

// One variant for every row of a table with names and ideas; the rest is copied from `all`.
template <class Row>
std::vector<Variant> variants_of(const std::vector<Row>& table, const Variant& all) {
    std::vector<Variant> variants(table.size(), all);
    for (size_t row = 0; row < table.size(); ++row) {
        variants[row].name = table[row].name;
        variants[row].idea = table[row].idea;
        variants[row].row = row;
    }
    return variants;
}

// auto, true or false; a boolean once settled.
Parameter backward_parameter();
// Settles `backward`: auto becomes true if the gradient of the output is given.
void settle_backward(Parameters& parameters, const Arrays& given, std::string_view gradient);
// Whether the backward pass runs, for `used` of a gradient; false while `backward` is not settled.
bool runs_backward(const Parameters& parameters);

// The minimum of work for the outputs of the variant: the forward pass alone if it has no gradient.
Work work_of(const Family& family, const Variant& variant, const Parameters& parameters);
// The same, without operations that its plan does not do: a method may need fewer than the exact rule.
Work work_of(const Family& family, const Variant& variant, const Parameters& parameters, const Plan& plan);

// A row of Family::arrays, f32 unless specified otherwise.
ArraySpec array_row(Role role, std::string name, std::string meaning, std::vector<std::string> dimensions,
                    bool (*used)(const Parameters&) = nullptr,
                    Shape (*shape)(const Parameters&, const Arrays&) = nullptr);
// The output for the gradient of an input: "d" and its name, in f32.
ArraySpec gradient_of(const ArraySpec& input, bool (*used)(const Parameters&));

// The parameter `dtype`: inputs are rounded to it, outputs stored in it.
Parameter dtype_parameter(std::string initial, std::vector<Value> choices);

// The index of the dimension `of` shown in plots, up to `most`; `unit` names what it counts.
Parameter drawn_parameter(std::string name, const std::string& unit, std::string of, int64_t most);

// The row with a condition: used only if the parameter `name` has one of the values; only if it has none of
// them; only on the backend cuda; only if the backward pass runs.
Parameter only_for(std::string name, std::vector<Value> values, Parameter row);
Parameter not_for(std::string name, std::vector<Value> values, Parameter row);
Parameter only_on_cuda(Parameter row);
Parameter only_backward(Parameter row);
// The row with a limit: values above that of the parameter `name` act like that value.
Parameter ends_at(std::string name, Parameter row);
Parameter ends_at(std::string name, int64_t less, Parameter row);
Parameter ends_at(End end, Parameter row);

// The row with its source; with a title; the row that also accepts "auto", its default.
Parameter cited(std::string source, Parameter row);
Parameter titled(std::string title, Parameter row);
Parameter automatic(Parameter row);
// Sets an automatic parameter; keeps one that was set.
void settle_automatic(Parameters& parameters, std::string_view name, Value value);

}  // namespace sawtooth
