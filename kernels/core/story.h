#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/parameter.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The first screen of a family and its explanation.

// Figures side by side, by id, of the family or of its sweeps. Rows are in order of importance; each gets its
// share of the height, and the last ones are dropped if there is too little.
struct StoryRow {
    std::vector<std::string> figures;
    double weight = 1;
};

// Something to try: a click sets the parameters, starting from the defaults.
struct Try {
    std::string words;  // "d = 4: frozen errors diverge"
    std::string look;   // one sentence: what to look at, and what it means
    std::vector<std::pair<std::string, Value>> values;
    bool (*holds)(const Result&) = nullptr;  // whether the claim is true for this result
};

struct About {
    std::string text;     // the family in three sentences
    std::string formula;  // one or a few lines
    std::vector<Try> tries;
};

}  // namespace sawtooth
