#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/state/lab_state.h"
#include "app/gui/state/settings.h"

namespace sawtooth {

// The state of the window, saved for the next start.
struct KeptLab {
    Request request;                                 // the shown family and the run options
    std::map<std::string, FamilySettings> families;  // the shown one too; without those at their defaults

    bool operator==(const KeptLab&) const = default;
};

KeptLab kept_of(const LabState& lab);
// Lines of "name = value".
std::string kept_lab_text(const KeptLab& kept);
// Lines that cannot be parsed, or whose value is not accepted, are skipped; without a family that is known,
// that of the request is "".
TakenLines read_kept_lab(std::string_view text, KeptLab& kept);

// Restores the saved state, of a known family, and runs it.
void restore(LabState& lab, const KeptLab& kept);
// Restores only the settings of the families that are not shown.
void restore_others(LabState& lab, const KeptLab& kept);

// Whether the command line does not set anything that KeptLab restores.
bool leaves_open(const Request& request);

}  // namespace sawtooth
