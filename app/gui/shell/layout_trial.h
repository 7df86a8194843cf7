#pragma once

#include <optional>
#include <string>

#include "app/engine/sources/worker_process.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The saved layout. A damaged one can crash Dear ImGui, keep it busy forever, or fill the memory. Therefore
// another process of this program tries it first and draws some frames of the window without a display.
class SavedLayout {
  public:
    // Reads the layout and starts the trial, with the size and scale from the settings of the lab.
    SavedLayout(LabState& lab, const std::string& directory);

    // Waits for the trial. Returns the text for Dear ImGui; "" if no layout is saved. If the trial failed it
    // also returns "", renames the file and says so in the Log.
    std::string tried(LabState& lab);

  private:
    std::string directory_, text_;
    std::optional<WorkerProcess> trial_;
};

// Loads the layout of the user into Dear ImGui. Call before its first frame.
void use_layout(LabState& lab, const std::string& layout);

// The program of that process. `argument` is the text of the settings, and standard input is the layout.
// Returns the exit code.
constexpr const char* try_layout_command = "try-layout";
int try_layout(const std::string& argument);

}  // namespace sawtooth
