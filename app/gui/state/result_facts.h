#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The properties of a result that may tell it from others, with their values: ("chunk ", "64"), and the
// device, ("", "H200"). Those of all results of a family are in the same order.
using Facts = std::vector<std::pair<std::string, std::string>>;
Facts facts_of(const Family& family, const Request& request, const Parameters& parameters,
               const std::string& device);
Facts facts_of(const Family& family, const Result& result);
// The first three names of the list, "chunk 64, seed 2, …".
std::string few_of(std::vector<std::string> names);

// The settings that gave a result of the family.
Snapshot settings_of_request(const Family& family, Request request);
// The settings that gave a result of the shown family. The present ones may be newer.
Snapshot settings_of_result(const LabState& lab, const Result& result);

}  // namespace sawtooth
