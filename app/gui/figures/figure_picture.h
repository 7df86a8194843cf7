#pragma once

#include <memory>

#include "app/gui/state/lab_state.h"

struct ImDrawList;

namespace sawtooth {

// Makes the figure that is saved as PNG. It is laid out within a frame of Dear ImGui and drawn after it, when
// the font textures are complete.
class FigurePicture {
  public:
    explicit FigurePicture(const LabState& lab);
    ~FigurePicture();
    FigurePicture(const FigurePicture&) = delete;
    FigurePicture& operator=(const FigurePicture&) = delete;

    // Draws the figure if requested and writes it in the background; LabState::saving gets the outcome.
    void save(LabState& lab);

  private:
    std::unique_ptr<ImDrawList> list_;  // null if there is nothing to save
};

}  // namespace sawtooth
