#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/parameter.h"
#include "kernels/core/result.h"

namespace sawtooth {

// What a newcomer sees first of a family, and reads of it.

// Figures side by side, by their ids, the family's own or those of its sweeps. Rows stand in order of weight;
// each gets its share of the height, and the last ones give way where there is too little.
struct StoryRow {
    std::vector<std::string> figures;
    double weight = 1;
};

// Something to try: a click sets the parameters, starting from the defaults.
struct Try {
    std::string words;  // "d = 4: frozen errors diverge"
    std::string look;   // one sentence: what to look at, and what it means
    std::vector<std::pair<std::string, Value>> values;
    bool (*holds)(const Result&) = nullptr;  // is what the words claim true of this result?
};

struct About {
    std::string text;     // the family in three plain sentences
    std::string formula;  // a line or a few
    std::vector<Try> tries;
};

}  // namespace sawtooth
