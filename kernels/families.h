#pragma once

#include <string_view>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// In the order in which they are shown; the window opens with the first that has kernels.
const std::vector<const Family*>& all_families();
const Family* find_family(std::string_view name);  // null where there is none of that name
// Adds one at the end, for a program that has its own. Before the first engine starts, and the family must
// live on.
void add_family(const Family& family);

}  // namespace sawtooth
