#pragma once

#include <cstdint>
#include <optional>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Draws Dear ImGui with OpenGL 3.3 into the bound framebuffer, for windows and pictures. Needs a current
// context that outlives it.
class Graphics {
  public:
    using Loader = void (*(*)(const char*))();

    // Why no driver should be opened: with little memory allowed (ulimit -v), drivers crash or hang.
    static std::optional<Error> memory_problem();
    // Loads the functions of OpenGL; `loader` returns one by its name.
    static std::optional<Error> load(Loader loader);

    Graphics();
    ~Graphics();
    Graphics(const Graphics&) = delete;
    Graphics& operator=(const Graphics&) = delete;

    void begin_frame();
    // Draws the frame that ImGui::Render ended.
    void draw(int width, int height, uint32_t ground);
};

}  // namespace sawtooth
