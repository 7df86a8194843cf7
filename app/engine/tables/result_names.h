#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Names results by what tells them apart.

// The properties of a result that may tell it from others, with their values: ("chunk ", "64"), and the
// device, ("", "H200"). Those of all results of a family are in the same order.
using Facts = std::vector<std::pair<std::string, std::string>>;
Facts facts_of(const Family& family, const Request& request, const Parameters& parameters,
               const std::string& device);
Facts facts_of(const Family& family, const Result& result);
// The first three names of the list, "chunk 64, seed 2, …".
std::string few_of(std::vector<std::string> names);
// The facts in which it differs from any of the others, "chunk 64, H200"; "the same settings" if there are
// none.
std::string name_among(const Facts& facts, const std::vector<Facts>& others);

}  // namespace sawtooth
