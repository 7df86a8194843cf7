#include "app/gui/shell/graphics.h"

#include <imgui.h>
#include <imgui_impl_opengl3.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

// glad reads the names of extensions even if there was no memory for them: here that is an error as
// elsewhere.
#define malloc(bytes) ::operator new(bytes)
#define free(memory) ::operator delete(memory)
#define GLAD_GL_IMPLEMENTATION
#include <glad/gl.h>
#undef malloc
#undef free

namespace sawtooth {

std::optional<Error> Graphics::memory_problem() {
    constexpr rlim_t least = rlim_t{2} << 30;  // with less than half of this llvmpipe fails in many ways
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= least) return {};
    return Error::failure("OpenGL needs 2 GiB of address space, but the limit is " +
                          std::to_string(limit.rlim_cur >> 20) + " MiB: raise it with ulimit -v");
}

std::optional<Error> Graphics::load(Loader loader) {
    const int version = gladLoadGL(loader);
    if (GLAD_VERSION_MAJOR(version) * 10 + GLAD_VERSION_MINOR(version) < 33)
        return Error::failure("the display does not support OpenGL 3.3");
    return {};
}

Graphics::Graphics() { ImGui_ImplOpenGL3_Init("#version 330 core"); }

Graphics::~Graphics() { ImGui_ImplOpenGL3_Shutdown(); }

void Graphics::begin_frame() { ImGui_ImplOpenGL3_NewFrame(); }

void Graphics::draw(int width, int height, uint32_t ground) {
    const auto share = [ground](int shift) { return static_cast<float>(ground >> shift & 255) / 255; };
    glViewport(0, 0, width, height);
    glClearColor(share(16), share(8), share(0), 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace sawtooth
