#pragma once

#include <memory>

#include "app/gui/lab_state.h"

struct ImDrawList;

namespace sawtooth {

// The figure that a person saves as PNG. It is laid out within a frame of Dear ImGui and drawn after it, when
// the textures of the fonts are complete.
class FigurePicture {
  public:
    explicit FigurePicture(const LabState& lab);
    ~FigurePicture();
    FigurePicture(const FigurePicture&) = delete;
    FigurePicture& operator=(const FigurePicture&) = delete;

    // Draws and writes it, where one is asked for: LabState::saving says how that ended.
    void save(LabState& lab);

  private:
    std::unique_ptr<ImDrawList> list_;  // none where nothing is to be saved
};

}  // namespace sawtooth
