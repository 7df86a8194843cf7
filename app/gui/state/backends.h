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
    std::string name;            // "H200"
    std::string meaning;         // one sentence
    std::string reason;          // why it cannot be chosen; "" if it can
    std::string recording = {};  // Request::recording; "": it is no recording

    bool is_same(const BackendOption& other) const {
        return backend == other.backend && device == other.device && recording == other.recording;
    }
};
std::vector<BackendOption> backend_options(const LabState& lab);
// The option that the Request names.
BackendOption present_backend(const LabState& lab);

// Sets what the user chose: it is used for runs and saved for the next start.
void choose_backend(LabState& lab, BackendChoice backend, int device, const std::string& recording = "");
// Opens the recording that the settled settings name, and finds what must change for its nearest result.
std::optional<Error> settle_recording(LabState& lab);
// Sets the parameters of the recorded result that is nearest to the present settings.
void choose_nearest_recorded(LabState& lab);
// Chooses the recording of the last start, if it is still there.
void choose_kept_recording(LabState& lab);
// Takes the devices once they are found, and then the saved backend if it is still available.
void take_devices(LabState& lab);

// The backend that a run will use, and its chip; no chip if it is unknown here.
Backend backend_in_force(const LabState& lab);
std::optional<Chip> chip_in_force(const LabState& lab);

// Returns whether any variant of the family has a CUDA implementation.
bool has_cuda_form(const Family& family);
// Why kernels cannot be compiled for a chip that is not present; "" if they can.
std::string reason_not_compiled(const LabState& lab);

// Which device ran ("ran on …"), and the requested device if it is another one.
struct DeviceWords {
    std::string text;
    bool surprising = false;
};
DeviceWords device_words(const LabState& lab);

}  // namespace sawtooth
