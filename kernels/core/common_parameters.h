#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// Rows that several families have.

// A size of the inputs, from 1 on.
Parameter size_parameter(std::string name, std::string meaning, std::string unit, int64_t initial,
                         int64_t most);

// "sum", "sum or linear", "titans, delta or hebbian"
std::string alternatives(const std::vector<Value>& values);
// The names of a family's table, as choices.
template <class Row>
std::vector<Value> names_of(const std::vector<Row>& table) {
    std::vector<Value> names;
    for (const Row& row : table) names.emplace_back(row.name);
    return names;
}

// A variant for every row of a table that has names and ideas, like `all` in everything else.
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

// auto, true or false; settled it is a boolean.
Parameter backward_parameter();
// Settles `backward`: an automatic one is true where the output's gradient is given.
void settle_backward(Parameters& parameters, const Arrays& given, std::string_view gradient);
// Does the backward pass run? For `used` of a gradient; false while `backward` is not settled.
bool runs_backward(const Parameters& parameters);

// A row of Family::arrays, f32 where nothing else is said.
ArraySpec array_row(Role role, std::string name, std::string meaning, std::vector<std::string> dimensions,
                    bool (*used)(const Parameters&) = nullptr,
                    Shape (*shape)(const Parameters&, const Arrays&) = nullptr);
// The output that holds the gradient of an input: "d" and its name, in f32.
ArraySpec gradient_of(const ArraySpec& input, bool (*used)(const Parameters&));

// What inputs are rounded to and outputs stored in.
Parameter dtype_parameter(std::string initial, std::vector<Value> choices);

// Which index of the dimension `of` the plots show, up to `most`; `unit` says what an index is.
Parameter drawn_parameter(std::string name, const std::string& unit, std::string of, int64_t most);

// The row, which matters only where parameter `name` has one of the values; where it has none of them; with
// the backend cuda; where the backward pass runs.
Parameter only_for(std::string name, std::vector<Value> values, Parameter row);
Parameter not_for(std::string name, std::vector<Value> values, Parameter row);
Parameter only_on_cuda(Parameter row);
Parameter only_backward(Parameter row);
// The row, whose values above the parameter `name` less `less` act as that.
Parameter ends_at(std::string name, Parameter row);
Parameter ends_at(std::string name, int64_t less, Parameter row);
Parameter ends_at(End end, Parameter row);

// The row with its source; the row that also takes "auto", which is its default.
Parameter cited(std::string source, Parameter row);
Parameter automatic(Parameter row);
// The value an automatic parameter takes; one that was set stays.
void settle_automatic(Parameters& parameters, std::string_view name, Value value);

}  // namespace sawtooth
