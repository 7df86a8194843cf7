#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "app/gui/lab_state.h"

namespace sawtooth {

// The state of the window, saved for the next start.
struct KeptLab {
    Request request;            // family, preset, parameters, variants, input file and run options
    std::set<int> hidden = {};  // variants that figures do not show

    bool operator==(const KeptLab&) const = default;
};

KeptLab kept_of(const LabState& lab);
// Lines of "name = value".
std::string kept_lab_text(const KeptLab& kept);
// Absent if a line cannot be parsed or a value is no longer accepted.
std::optional<KeptLab> parse_kept_lab(std::string_view text);

// Restores the saved state and runs it.
void restore(LabState& lab, const KeptLab& kept);

// Whether the command line does not set anything that KeptLab restores.
bool leaves_open(const Request& request);

}  // namespace sawtooth
