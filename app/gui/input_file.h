#pragma once

#include <optional>
#include <string>

#include "app/gui/lab_state.h"

namespace sawtooth {

// Reads the file that the lab's Request names, at the start. Errors: as read_npz; sizes that disagree.
std::optional<Error> use_input_file(LabState& lab);
// Reads the file beside the window; its arrays become inputs when it is there. One at a time: another one
// meanwhile is a line in the log.
void open_file(LabState& lab, const std::string& path);
void close_file(LabState& lab);
// Takes what was read since, or says why it cannot be.
void take_opened(LabState& lab);

}  // namespace sawtooth
