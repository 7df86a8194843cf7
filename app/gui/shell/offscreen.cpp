#include "app/gui/shell/offscreen.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "app/gui/figures/figure_picture.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/dock_layout.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

// libEGL, opened on first use and never closed, because drivers do not support closing.
void* egl_library() {
    static void* const library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    return library;
}

template <class Function>
Function egl_function(const char* name) {
    return reinterpret_cast<Function>(dlsym(egl_library(), name));
}

using GetProcAddress = decltype(&eglGetProcAddress);

GetProcAddress get_proc_address() {
    static const auto function = egl_function<GetProcAddress>("eglGetProcAddress");
    return function;
}

template <class Function>
Function egl_extension(const char* name) {
    return reinterpret_cast<Function>(get_proc_address()(name));
}

bool draws_on_processor(EGLDeviceEXT device) {
    const auto query = egl_extension<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
    const char* const extensions = query ? query(device, EGL_EXTENSIONS) : nullptr;
    return extensions && std::strstr(extensions, "EGL_MESA_device_software");
}

// Displays that need no display server: the devices of the machine, then the surfaceless display of Mesa.
std::vector<EGLDisplay> displays(Renderer renderer) {
    std::vector<EGLDisplay> found;
    const auto get_display = egl_extension<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
    const auto query_devices = egl_extension<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
    if (!get_display) return found;
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    if (query_devices && query_devices(16, devices, &count)) {
        const bool processor_first = renderer == Renderer::processor_first;
        std::stable_partition(devices, devices + count, [&](EGLDeviceEXT device) {
            return draws_on_processor(device) == processor_first;
        });
        for (EGLint i = 0; i < count; ++i)
            found.push_back(get_display(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr));
    }
    found.push_back(get_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr));
    std::erase(found, EGL_NO_DISPLAY);
    return found;
}

}  // namespace

// A display with a current OpenGL 3.3 context that has no surface.
struct Offscreen::Display {
    EGLDisplay display = EGL_NO_DISPLAY;
    EGLContext context = EGL_NO_CONTEXT;

    static std::unique_ptr<Display> on(EGLDisplay display) {
        if (!egl_function<decltype(&eglInitialize)>("eglInitialize")(display, nullptr, nullptr))
            return nullptr;
        auto made = std::make_unique<Display>();
        made->display = display;
        egl_function<decltype(&eglBindAPI)>("eglBindAPI")(EGL_OPENGL_API);
        constexpr EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
        EGLConfig config = nullptr;
        EGLint count = 0;
        const auto choose = egl_function<decltype(&eglChooseConfig)>("eglChooseConfig");
        if (!choose(display, wanted, &config, 1, &count) || count < 1) return nullptr;
        constexpr EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                                      3,
                                      EGL_CONTEXT_MINOR_VERSION,
                                      3,
                                      EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                      EGL_NONE};
        made->context = egl_function<decltype(&eglCreateContext)>("eglCreateContext")(
            display, config, EGL_NO_CONTEXT, version);
        if (made->context == EGL_NO_CONTEXT || !made->make_current(made->context)) return nullptr;
        return made;
    }

    bool make_current(EGLContext which) const {
        return egl_function<decltype(&eglMakeCurrent)>("eglMakeCurrent")(display, EGL_NO_SURFACE,
                                                                         EGL_NO_SURFACE, which);
    }

    ~Display() {
        if (context == EGL_NO_CONTEXT) return;
        make_current(EGL_NO_CONTEXT);
        egl_function<decltype(&eglDestroyContext)>("eglDestroyContext")(display, context);
        // The display stays initialised: others in the process may use it.
    }
};

Outcome<std::unique_ptr<Offscreen>> Offscreen::open(int width, int height, Renderer renderer) {
    if (auto problem = Graphics::memory_problem()) return std::move(*problem);
    if (!egl_library() || !get_proc_address())
        return Error::failure(
            "a picture needs EGL, but libEGL.so.1 was not found: install libegl1 and libgl1-mesa-dri");
    for (EGLDisplay display : displays(renderer)) {
        auto current = Display::on(display);
        if (!current || Graphics::load(get_proc_address())) continue;
        auto framebuffer = Framebuffer::make(width, height);
        if (!framebuffer) return framebuffer.error();
        return std::unique_ptr<Offscreen>(new Offscreen(std::move(current), std::move(*framebuffer)));
    }
    return Error::failure(
        "a picture needs OpenGL 3.3, but no driver supports it through EGL: install libgl1-mesa-dri");
}

Offscreen::Offscreen(std::unique_ptr<Display> display, Framebuffer framebuffer)
    : display_(std::move(display)), framebuffer_(std::move(framebuffer)) {}

Offscreen::~Offscreen() = default;

std::optional<Error> Offscreen::resize(int width, int height) {
    auto framebuffer = Framebuffer::make(width, height);
    if (!framebuffer) return framebuffer.error();
    framebuffer_ = std::move(*framebuffer);
    return {};
}

void Offscreen::finish() const { glFinish(); }

Outcome<std::unique_ptr<OffscreenWindow>> OffscreenWindow::open(LabState& lab, int width, int height,
                                                                Renderer renderer) {
    auto offscreen = Offscreen::open(width, height, renderer);
    if (!offscreen) return offscreen.error();
    return std::unique_ptr<OffscreenWindow>(new OffscreenWindow(lab, std::move(*offscreen)));
}

void OffscreenWindow::draw(LabState& lab, double seconds, const std::string& only_panel, bool panel_scrolls) {
    ImGuiIO& io = ImGui::GetIO();
    const Framebuffer& surface = offscreen_->framebuffer();
    io.DisplaySize = {static_cast<float>(surface.width()), static_cast<float>(surface.height())};
    io.DeltaTime = static_cast<float>(std::max(seconds, 1e-4));
    apply_appearance(lab);
    load_layout_if_due(lab);
    graphics_.begin_frame();
    ImGui::NewFrame();
    draw_frame(lab, only_panel, panel_scrolls);
    FigurePicture picture(lab);
    ground_ = theme_of(lab).ground;
    ImGui::Render();
    picture.save(lab);
}

void OffscreenWindow::draw_pixels() {
    const Framebuffer& surface = offscreen_->framebuffer();
    surface.bind();
    graphics_.draw(surface.width(), surface.height(), ground_);
}

void OffscreenWindow::finish() {
    draw_pixels();
    offscreen_->finish();
}

Outcome<Picture> OffscreenWindow::read() {
    draw_pixels();
    return offscreen_->framebuffer().read();
}

}  // namespace sawtooth
