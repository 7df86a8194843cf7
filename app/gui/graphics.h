#pragma once

#include <cstdint>
#include <optional>

#include "kernels/core/refusal.h"

namespace sawtooth {

// What a window and a picture share: Dear ImGui drawn by OpenGL 3.3 into the framebuffer that is bound. Needs
// a current context, and lives no longer than it.
class Graphics {
  public:
    using Loader = void (*(*)(const char*))();

    // `loader` finds a function of OpenGL by its name.
    static std::optional<Error> load(Loader loader);

    Graphics();
    ~Graphics();
    Graphics(const Graphics&) = delete;
    Graphics& operator=(const Graphics&) = delete;

    void begin_frame();
    void end_frame(int width, int height, uint32_t ground);
};

}  // namespace sawtooth
