#pragma once

#include <cstdint>
#include <optional>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Shared by windows and pictures: draws Dear ImGui with OpenGL 3.3 into the bound framebuffer. Needs a
// current context, which must outlive it.
class Graphics {
  public:
    using Loader = void (*(*)(const char*))();

    // Why no driver should be opened: under a small limit of memory (ulimit -v) they crash or hang.
    static std::optional<Error> memory_problem();
    // `loader` returns an OpenGL function by name.
    static std::optional<Error> load(Loader loader);

    Graphics();
    ~Graphics();
    Graphics(const Graphics&) = delete;
    Graphics& operator=(const Graphics&) = delete;

    void begin_frame();
    void end_frame(int width, int height, uint32_t ground);
};

}  // namespace sawtooth
