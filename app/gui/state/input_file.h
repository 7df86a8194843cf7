#pragma once

#include <optional>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Reads the file named in the lab's Request, at the start. Errors: as in read_npz; contradictory sizes.
std::optional<Error> use_input_file(LabState& lab);
// Reads the file in the background; its arrays become inputs when it is read. One at a time: a second one is
// only noted in the Log.
void open_file(LabState& lab, const std::string& path);
void close_file(LabState& lab);
// For a family that is left while its file is read: the file is opened when the family is shown again.
void give_up_opening(LabState& lab);
// Takes the file once it is read, or notes why it cannot be used.
void take_opened(LabState& lab);

}  // namespace sawtooth
