#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/gui/lab_state.h"

namespace sawtooth {

// Where variants could run, as the chooser lists it.
struct BackendOption {
    BackendChoice backend = BackendChoice::cpu;
    int device = 0;
    std::string name;     // "H200"
    std::string meaning;  // one sentence
    std::string reason;   // why it cannot be chosen; "" where it can
};
std::vector<BackendOption> backend_options(const LabState& lab);
// The one that the Request names.
BackendOption present_backend(const LabState& lab);

// By a person: runs there, and is kept for the next start.
void choose_backend(LabState& lab, BackendChoice backend, int device);
// Takes the devices once they are found, and then the backend that was kept, where it is still there.
void take_devices(LabState& lab);

// Which kernels would run, as far as it is known before, and what they must fit; no chip: not known here.
Backend backend_in_force(const LabState& lab);
std::optional<Chip> chip_in_force(const LabState& lab);

// Whether any variant of the family has a CUDA form.
bool has_cuda_form(const Family& family);
// Why no kernel can be compiled for a chip that is not there; "" where it can.
std::string reason_not_compiled(const LabState& lab);

// "ran on …", and what was asked for where that was something else.
struct DeviceWords {
    std::string text;
    bool surprising = false;
};
DeviceWords device_words(const LabState& lab);

}  // namespace sawtooth
