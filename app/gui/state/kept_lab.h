#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/state/lab_state.h"
#include "app/gui/state/settings.h"

namespace sawtooth {

// The state of the window that is saved for the next start.
struct KeptLab {
    Request request;  // the shown family and the run options
    // Includes the shown family; without families at their defaults.
    std::map<std::string, FamilySettings> families;

    bool operator==(const KeptLab&) const = default;
};

KeptLab kept_of(const LabState& lab);
// The state as lines of the form "name = value".
std::string kept_lab_text(const KeptLab& kept);
// Reads such lines. Lines that cannot be parsed, or whose value is not accepted, are skipped. If no line
// names a known family, that of the request is "".
TakenLines read_kept_lab(std::string_view text, KeptLab& kept);

// Restores the saved state, whose family must be known, and runs it.
void restore(LabState& lab, const KeptLab& kept);
// Restores only the settings of the families that are not shown.
void restore_others(LabState& lab, const KeptLab& kept);

// Returns whether the command line sets nothing that KeptLab restores.
bool leaves_open(const Request& request);

}  // namespace sawtooth
