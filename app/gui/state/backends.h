#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// An entry of the backend chooser.
struct BackendOption {
    BackendChoice backend = BackendChoice::cpu;
    int device = 0;
    std::string name;     // "H200"
    std::string meaning;  // one sentence
    std::string reason;   // why it cannot be chosen; "" if it can
};
std::vector<BackendOption> backend_options(const LabState& lab);
// The one named by the Request.
BackendOption present_backend(const LabState& lab);

// A choice of the user: runs there, and is saved for the next start.
void choose_backend(LabState& lab, BackendChoice backend, int device);
// Takes the devices once they are found, then the saved backend if it is still available.
void take_devices(LabState& lab);

// The expected backend of a run and its limits; no chip: unknown here.
Backend backend_in_force(const LabState& lab);
std::optional<Chip> chip_in_force(const LabState& lab);

// Whether any variant of the family has a CUDA implementation.
bool has_cuda_form(const Family& family);
// Why kernels cannot be compiled for a chip that is not present; "" if they can.
std::string reason_not_compiled(const LabState& lab);

// "ran on …", and the requested device if it differs.
struct DeviceWords {
    std::string text;
    bool surprising = false;
};
DeviceWords device_words(const LabState& lab);

}  // namespace sawtooth
