#pragma once

#include <functional>

namespace sawtooth {

// Calls new_frame() while those events are hidden from Dear ImGui that must wait for another frame, and all
// later ones:
//   a modifier that is released after another key was pressed or the wheel turned: within one frame the key
//   would count as pressed without the modifier (after a click Dear ImGui waits by itself);
//   a button of the mouse that is pressed after the mouse moved: a tab takes a click only if the mouse was
//   over it in the frame before.
// Otherwise fast hands and programs would lose shortcuts and clicks where frames take long.
void without_late_events(const std::function<void()>& new_frame);

}  // namespace sawtooth
