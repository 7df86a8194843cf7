#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawtooth {

using Names = std::vector<std::string>;

// The names of rows, in their order.
template <class Rows>
Names names_of_rows(const Rows& rows) {
    Names names;
    for (const auto& row : rows) names.push_back(row.name);
    return names;
}
// "a, b, c"
std::string listed(const Names& names);

// Returns the name that was most likely meant; "" if none is near.
std::string nearest(std::string_view typed, const Names& names);
// " Did you mean memory?"; "" if no name is near.
std::string suggestion(std::string_view typed, const Names& names);

// "memry is not a family. Did you mean memory? Families: memory, scan"
std::string no_such_name(std::string_view typed, std::string_view what, std::string_view title,
                         const Names& names);
// "not one of cold, hot. Did you mean hot?"
std::string not_one_of(std::string_view typed, const Names& names);

}  // namespace sawtooth
