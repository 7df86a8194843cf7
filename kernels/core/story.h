#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/parameter.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The first screen of a family and the explanation beside it.

// Figures side by side, given by the ids of figures of the family or of its sweeps. Rows are in order of
// importance. Each gets its share of the height; if there is too little height, the last rows are left out.
struct StoryRow {
    std::vector<std::string> figures;
    double weight = 1;
};

// Something to try. A click sets these parameters and resets the others to their defaults.
struct Try {
    std::string words;  // "d = 4: frozen errors diverge"
    std::string look;   // one sentence: what to look at, and what it means
    std::vector<std::pair<std::string, Value>> values;
    bool (*holds)(const Result&) = nullptr;  // whether the claim is true for this result
};

struct About {
    std::string text;     // the family in a few sentences
    std::string formula;  // one or a few lines
    std::vector<Try> tries;
};

}  // namespace sawtooth
