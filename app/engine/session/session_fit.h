#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/session/session_fields.h"

namespace sawtooth {

// What became of the index of a session file when it was fitted to the families of this build.
struct FittedIndex {
    std::vector<std::optional<uint64_t>> places;  // by result of the file: its new index; absent: left out
    std::vector<std::string> notes;               // what was changed or left out, a line each
    bool is_partial = false;  // whether a result, a sweep or a report of bench was left out
};

// Fits the index to this build: what it does not have is left out, missing parameters get their defaults. The
// error is what no build writes: indices of no result, numbers that are none.
Outcome<FittedIndex> fit(SessionIndex& index);

// Fits the variants of a result: unknown ones are left out, and the others get the order and the colours of
// the family.
void fit_variants(Result& result, const Family& family);

}  // namespace sawtooth
