#pragma once

#include <optional>
#include <string>

#include "app/engine/wire/worker_process.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The saved layout. A damaged one can crash Dear ImGui, keep it busy for ever, or fill the memory, so a
// process of this program tries it first: it draws some frames of the window without a display.
class SavedLayout {
  public:
    // Reads the layout and starts the trial, at the size and scale of the lab's settings.
    SavedLayout(LabState& lab, const std::string& directory);

    // Waits for the trial. The text for Dear ImGui; "" if none is saved, or if it failed: then the file is
    // renamed and the Log says so.
    std::string tried(LabState& lab);

  private:
    std::string directory_, text_;
    std::optional<WorkerProcess> trial_;
};

// Loads the user's own layout into Dear ImGui. Call before its first frame.
void use_layout(LabState& lab, const std::string& layout);

// The program of that process: `argument` is the text of the settings, standard input the layout. Returns the
// exit code.
constexpr const char* try_layout_command = "try-layout";
int try_layout(const std::string& argument);

}  // namespace sawtooth
