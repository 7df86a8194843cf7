#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// Parameters and arrays that several families have.

// A parameter for a size of the inputs, at least 1.
Parameter size_parameter(std::string name, std::string meaning, std::string unit, int64_t initial,
                         int64_t most);

// "sum", "sum or linear", "titans, delta or hebbian"
std::string alternatives(const std::vector<Value>& values);
// The choices for the rows of a table: their names.
template <class Row>
std::vector<Value> names_of(const std::vector<Row>& table) {
    std::vector<Value> names;
    for (const Row& row : table) names.emplace_back(row.name);
    return names;
}

// Makes a variant for every row of a table with names and ideas. All other members are copied from `all`.
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

// The parameter `backward`: auto, true or false; a boolean once settled.
Parameter backward_parameter();
// Settles `backward`: auto becomes true if the gradient of the output is given.
void settle_backward(Parameters& parameters, const Arrays& given, std::string_view gradient);
// Whether the backward pass runs; serves as `used` of gradients. False while `backward` is not settled.
bool runs_backward(const Parameters& parameters);

// The minimum of work for the outputs of the variant; without gradients, that of the forward pass alone.
Work work_of(const Family& family, const Variant& variant, const Parameters& parameters,
             const Arrays& inputs);
// The same with at most the operations of the plan: a method may need fewer than the exact rule.
Work work_of(const Family& family, const Variant& variant, const Parameters& parameters, const Arrays& inputs,
             const Plan& plan);
// The bytes of those of the arrays that are there.
double bytes_of_given(const Arrays& arrays, std::initializer_list<std::string_view> names);

// Makes a row of Family::arrays, f32 unless specified otherwise.
ArraySpec array_row(Role role, std::string name, std::string meaning, std::vector<std::string> dimensions,
                    bool (*used)(const Parameters&) = nullptr,
                    Shape (*shape)(const Parameters&, const Arrays&) = nullptr);
// Makes the row of the gradient of an input, an output in f32 whose name is "d" and that of the input.
ArraySpec gradient_of(const ArraySpec& input, bool (*used)(const Parameters&));

// The parameter `dtype`, to which inputs are rounded and in which outputs are stored.
Parameter dtype_parameter(std::string initial, std::vector<Value> choices);

// The index shown in plots of the dimension that the parameter `dimension` sizes, up to `most`; `unit` names
// what it counts.
Parameter drawn_parameter(std::string name, const std::string& unit, std::string dimension, int64_t most);

// The following four return the row with a condition: it is used only if the parameter `name` has one of the
// values, only if it has none of them, only on the backend cuda, or only if the backward pass runs.
Parameter only_for(std::string name, std::vector<Value> values, Parameter row);
Parameter not_for(std::string name, std::vector<Value> values, Parameter row);
Parameter only_on_cuda(Parameter row);
Parameter only_backward(Parameter row);
// Returns the row with a limit: values above that of the parameter `name` (minus `less`) act like that value.
Parameter ends_at(std::string name, Parameter row);
Parameter ends_at(std::string name, int64_t less, Parameter row);
Parameter ends_at(End end, Parameter row);

// The following three return the row with its source, with a title, or with "auto" as a further value, which
// is then the default.
Parameter cited(std::string source, Parameter row);
Parameter titled(std::string title, Parameter row);
Parameter automatic(Parameter row);
// Sets a parameter that is "auto"; keeps any other value.
void settle_automatic(Parameters& parameters, std::string_view name, Value value);

}  // namespace sawtooth
