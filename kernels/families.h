#pragma once

#include <string_view>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// In display order; the window opens with the first family that has kernels.
const std::vector<const Family*>& all_families();
const Family* find_family(std::string_view name);  // null if there is no such family
// Appends a family of the program's own. Call before the first engine starts; the family must outlive all
// engines.
void add_family(const Family& family);

}  // namespace sawtooth
