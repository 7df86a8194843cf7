#pragma once

#include <functional>

namespace sawtooth {

// Calls new_frame() while those events are hidden from Dear ImGui that must wait for another frame: a
// modifier that is released after another key was pressed or the wheel turned, and all later ones. Within one
// frame the key would count as pressed without the modifier, and a shortcut that is typed fast would be lost
// if frames take long. After a click Dear ImGui waits by itself.
void without_late_keys(const std::function<void()>& new_frame);

}  // namespace sawtooth
