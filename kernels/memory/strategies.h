#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::memory {

// A strategy is a variant: one way to walk the sequence, for the rules that allow it.
struct Strategy {
    std::string name;
    std::string idea;                  // one sentence
    std::vector<std::string> rules;    // those that it goes with
    std::vector<std::string> outputs;  // those of any of its rules; the rule says which are used
    std::optional<std::string> (*check)(const Parameters&, const Chip&);
};

const std::vector<Strategy>& strategies();

// The rules in the order in which they are shown.
const std::vector<std::string>& rules();
bool has_rule(const Parameters& parameters, std::initializer_list<std::string_view> rules);

}  // namespace sawtooth::memory
