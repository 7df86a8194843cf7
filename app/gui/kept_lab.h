#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/gui/lab_state.h"

namespace sawtooth {

// What a person left in the window, for the next start.
struct KeptLab {
    Request request;            // family, preset, parameters, variants, input file and run options
    std::set<int> hidden = {};  // variants that figures do not show

    bool operator==(const KeptLab&) const = default;
};

KeptLab kept_of(const LabState& lab);
// Lines of "name = value".
std::string kept_lab_text(const KeptLab& kept);
// Nothing where a line is not understood, or where a value is not accepted any more.
std::optional<KeptLab> parse_kept_lab(std::string_view text);

// Sets the lab to what was left, and runs it.
void restore(LabState& lab, const KeptLab& kept);

// Whether the command line leaves open what KeptLab says.
bool leaves_open(const Request& request);

}  // namespace sawtooth
