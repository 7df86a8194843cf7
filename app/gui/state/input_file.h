#pragma once

#include <optional>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Reads the file that the lab's Request names; called at the start. Errors: those of read_npz; contradictory
// sizes.
std::optional<Error> use_input_file(LabState& lab);
// Reads the file in the background; its arrays become the inputs once it is read. Only one file is read at a
// time; a second one is only noted in the Log.
void open_file(LabState& lab, const std::string& path);
void close_file(LabState& lab);
// Call when a family is left while its file is being read: the file is opened when the family is shown again.
void give_up_opening(LabState& lab);
// Takes the file once it is read, or notes why it cannot be used.
void take_opened(LabState& lab);

}  // namespace sawtooth
