#include "app/gui/shell/window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_internal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <utility>

#include "app/engine/files/files.h"
#include "app/gui/figures/figure_picture.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/dock_layout.h"
#include "app/gui/shell/frame.h"
#include "app/gui/shell/graphics.h"
#include "app/gui/shell/icon.h"
#include "app/gui/shell/late_events.h"
#include "app/gui/shell/layout_trial.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/crash_report.h"
#include "app/gui/state/headless.h"
#include "app/gui/state/kept_lab.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/log_file.h"
#include "app/gui/state/pacing.h"
#include "app/gui/state/session_autosave.h"
#include "app/gui/state/session_file.h"
#include "app/gui/state/settings.h"
#include "app/gui/state/system_theme.h"

extern "C" GLFWmonitor* wayland_monitor_of(GLFWwindow* window);  // defined in cmake/glfw_monitor.c

namespace sawtooth {
namespace {

constexpr int least_width = 640, least_height = 400;
constexpr double save_rest = 1;  // seconds from a change of the layout to saving it

struct Glfw {
    bool works = glfwInit() == GLFW_TRUE;
    Glfw() = default;
    ~Glfw() { glfwTerminate(); }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
};

struct CloseWindow {
    void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using WindowHandle = std::unique_ptr<GLFWwindow, CloseWindow>;

// The size to open with: no larger than the largest monitor, because not every window manager shrinks a
// window.
std::pair<int, int> size_on_monitors(const WindowSettings& settings) {
    int count = 0, widest = 0, highest = 0;
    GLFWmonitor** const monitors = glfwGetMonitors(&count);
    for (int i = 0; i < count; ++i) {
        int width = 0, height = 0;
        glfwGetMonitorWorkarea(monitors[i], nullptr, nullptr, &width, &height);
        widest = std::max(widest, width), highest = std::max(highest, height);
    }
    return {widest > 0 ? std::min(settings.width, widest) : settings.width,
            highest > 0 ? std::min(settings.height, highest) : settings.height};
}

WindowHandle open_window(const WindowSettings& settings) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "sawtooth");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "sawtooth");  // without it GLFW ignores the class
    glfwWindowHintString(GLFW_WAYLAND_APP_ID, "sawtooth");
    const auto [width, height] = size_on_monitors(settings);
    WindowHandle window(glfwCreateWindow(width, height, "Sawtooth", nullptr, nullptr));
    if (!window) return window;
    glfwSetWindowSizeLimits(window.get(), least_width, least_height, GLFW_DONT_CARE, GLFW_DONT_CARE);
    std::vector<uint8_t> large = icon_pixels(64), small = icon_pixels(32);
    const GLFWimage icons[] = {{64, 64, large.data()}, {32, 32, small.data()}};
    glfwSetWindowIcon(window.get(), 2, icons);  // on X11; Wayland takes the icon of the .desktop file
    glfwMakeContextCurrent(window.get());
    glfwSwapInterval(1);
    return window;
}

// Passes events of the window to Dear ImGui. Must not outlive the Context.
struct Input {
    explicit Input(GLFWwindow* window) { ImGui_ImplGlfw_InitForOpenGL(window, true); }
    ~Input() { ImGui_ImplGlfw_Shutdown(); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;
};

// The events of GLFW callbacks, kept for the loop.
struct Happened {
    LabState* lab = nullptr;
    bool redraw = true;
};

Happened& happened_of(GLFWwindow* window) {
    return *static_cast<Happened*>(glfwGetWindowUserPointer(window));
}

void set_up_callbacks(GLFWwindow* window, Happened& happened) {
    glfwSetWindowUserPointer(window, &happened);
    glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { happened_of(w).redraw = true; });
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { happened_of(w).redraw = true; });
    glfwSetWindowContentScaleCallback(window,
                                      [](GLFWwindow* w, float, float) { happened_of(w).redraw = true; });
    glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
        if (count > 0) open_any_file(*happened_of(w).lab, paths[0]);
    });
}

// F11 makes the window fill the monitor that contains its middle. On Wayland no window knows its position,
// but the compositor says on which monitor it is.
class FullScreen {
  public:
    void follow(GLFWwindow* window, bool wanted) {
        if (wanted == on_) return;
        on_ = wanted;
        if (!wanted) {
            glfwSetWindowMonitor(window, nullptr, x_, y_, width_, height_, GLFW_DONT_CARE);
            return;
        }
        const bool wayland = glfwGetPlatform() == GLFW_PLATFORM_WAYLAND;
        if (!wayland) glfwGetWindowPos(window, &x_, &y_);
        glfwGetWindowSize(window, &width_, &height_);
        GLFWmonitor* monitor =
            wayland ? wayland_monitor_of(window) : monitor_under(x_ + width_ / 2, y_ + height_ / 2);
        if (!monitor) monitor = glfwGetPrimaryMonitor();
        if (!monitor) return;
        const GLFWvidmode* mode = glfwGetVideoMode(monitor);
        glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }
    bool on() const { return on_; }

  private:
    static GLFWmonitor* monitor_under(int x, int y) {
        int count = 0;
        GLFWmonitor** monitors = glfwGetMonitors(&count);
        for (int i = 0; i < count; ++i) {
            int left = 0, top = 0;
            glfwGetMonitorPos(monitors[i], &left, &top);
            const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
            if (x >= left && x < left + mode->width && y >= top && y < top + mode->height) return monitors[i];
        }
        return glfwGetPrimaryMonitor();
    }

    bool on_ = false;
    int x_ = 0, y_ = 0, width_ = 0, height_ = 0;
};

// Saves settings and layout after changes, but not for every pixel of a drag.
class Keeper {
  public:
    Keeper(std::string directory, const LabState& lab)
        : directory_(std::move(directory)), saved_(lab.settings), saved_lab_(kept_of(lab)) {}

    void follow(LabState& lab, double now) {
        if (ImGui::GetIO().WantSaveIniSettings) {
            ImGui::GetIO().WantSaveIniSettings = false;
            layout_changed_ = true;
        }
        if (now - last_ >= save_rest) save(lab, now);
    }

    // The time at which `follow` has something to save; nullopt: not before another change.
    std::optional<double> due(const LabState& lab) const {
        if (!layout_changed_ && lab.settings == saved_ && kept_of(lab) == saved_lab_) return {};
        return last_ + save_rest;
    }

    // Saves everything at the end, because Dear ImGui may not have requested it yet.
    void save_all(LabState& lab) {
        layout_changed_ = true;
        save(lab, last_);
    }

  private:
    void save(LabState& lab, double now) {
        last_ = now;
        if (lab.settings != saved_) save_settings(lab, directory_);
        saved_ = lab.settings;
        if (KeptLab left = kept_of(lab); left != saved_lab_) {
            save_lab(lab, directory_);
            saved_lab_ = std::move(left);
        }
        if (layout_changed_) save_layout(lab, directory_, ImGui::SaveIniSettingsToMemory());
        layout_changed_ = false;
    }

    std::string directory_;
    WindowSettings saved_;
    KeptLab saved_lab_;
    bool layout_changed_ = false;
    double last_ = 0;
};

bool input_waits() { return ImGui::GetCurrentContext()->InputEventsQueue.Size > 0; }

// Looks up the monitor, which may have changed since the last frame.
void take_monitor(LabState& lab, GLFWwindow* window, int pixels) {
    float scale = 1;
    int width = 0;
    glfwGetWindowContentScale(window, &scale, nullptr);
    glfwGetWindowSize(window, &width, nullptr);
    if (!(scale > 0) || width <= 0) return;
    lab.monitor = {static_cast<double>(scale), static_cast<double>(pixels) / width};
}

// Follows the theme of the desktop: at the start, and whenever the window gets the focus, because the user
// may have changed the settings of the desktop.
class ThemeFollower {
  public:
    void follow(LabState& lab, GLFWwindow* window, const std::function<void()>& wake) {
        const bool focused = glfwGetWindowAttrib(window, GLFW_FOCUSED);
        const bool asks = !has_asked_ || (focused && !was_focused_);
        was_focused_ = focused;
        if (!asks || lab.asking_theme) return;
        has_asked_ = true;
        auto asking = in_background<std::optional<int>>([](std::stop_token) { return ask_portal(); }, wake);
        if (asking) lab.asking_theme = std::move(*asking);  // otherwise keeps the theme
    }

  private:
    bool has_asked_ = false, was_focused_ = false;
};

void draw_and_show(LabState& lab, GLFWwindow* window, Graphics& graphics) {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window, &width, &height);
    if (width == 0 || height == 0) return;  // the window is minimised
    take_monitor(lab, window, width);
    apply_appearance(lab);
    load_layout_if_due(lab);
    graphics.begin_frame();
    ImGui_ImplGlfw_NewFrame();
    without_late_events(ImGui::NewFrame);
    draw_frame(lab);
    FigurePicture picture(lab);
    ImGui::Render();
    graphics.draw(width, height, theme_of(lab).ground);
    picture.save(lab);
    glfwSwapBuffers(window);
}

void run_loop(LabState& lab, GLFWwindow* window, Graphics& graphics, Keeper& keeper,
              SessionAutosave& autosave, std::atomic<bool>& woken, const std::stop_token& stop,
              const std::function<bool(const LabState&)>& done) {
    Happened happened{&lab};
    set_up_callbacks(window, happened);
    FullScreen full_screen;
    ThemeFollower theme;
    Pacing pacing;
    bool closing = false;
    while (!closing) {
        const bool blinks = ImGui::GetIO().WantTextInput;
        const double next = pacing.next(lab, blinks);
        const double wait =
            std::min({next, keeper.due(lab).value_or(next), autosave.due(lab).value_or(next)}) -
            glfwGetTime();
        if (wait > 0)
            glfwWaitEventsTimeout(wait);
        else
            glfwPollEvents();
        closing = glfwWindowShouldClose(window) || stop.stop_requested();
        const double now = glfwGetTime();
        if (input_waits() || std::exchange(happened.redraw, false)) pacing.happened(now);
        if (woken.exchange(false)) pacing.woken();
        theme.follow(lab, window, lab.engine.wake);
        update(lab, now);
        keeper.follow(lab, now);
        autosave.follow(lab, now);
        if (closing || pacing.next(lab, blinks) > now) continue;
        draw_and_show(lab, window, graphics);
        full_screen.follow(window, lab.full_screen);
        if (!full_screen.on()) glfwGetWindowSize(window, &lab.settings.width, &lab.settings.height);
        pacing.drawn(lab, now);
        closing = done(lab);
    }
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

// Returns false if the environment names no display. Call before GLFW, whose libraries would print errors of
// their own.
bool choose_platform() {
    const bool wayland = is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET");
    if (!wayland) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
    return wayland || is_set("DISPLAY");
}

}  // namespace

std::optional<Error> run_window(const WindowOptions& options) {
    return run_window_until(options, [](const LabState&) { return false; });
}

std::optional<Error> run_window_until(const WindowOptions& options,
                                      const std::function<bool(const LabState&)>& done) {
    const std::string instead =
        "`sawtooth shot FILE.png` saves a picture of the window, `sawtooth report DIR` "
        "writes a page";
    if (!choose_platform()) return Error::failure("no display: " + instead);
    if (auto problem = Graphics::memory_problem()) return problem;
    glfwSetErrorCallback([](int, const char*) {});  // the errors below say what to do
    const Glfw glfw;
    if (!glfw.works) return Error::failure("cannot open the display: " + instead);
    std::atomic<bool> woken = false;
    const auto wake = [&woken] {
        woken = true;
        glfwPostEmptyEvent();
    };
    const std::stop_callback interrupt(options.stop, wake);
    Engine engine(options.cache_directory, wake);
    WindowOptions started = options;
    // A remote worker should use its own GPU.
    if (!options.request.on.empty()) started.request.backend = BackendChoice::automatic;
    auto lab = open_lab(started, calls_of(engine, wake));
    if (!lab) return lab.error();
    const std::string directory = config_directory(), state = state_directory();
    offer_crash_report(*lab, state);
    offer_session(*lab, state);
    SessionAutosave autosave(*lab, state);
    load_settings(*lab, directory);
    // A session brings its own settings. Those of a session that crashed would perhaps end this one, too.
    const bool is_open = options.session.empty() && leaves_open(options.request);
    if (is_open && lab->crash) lab->crash->words += " This one starts with default settings.";
    load_lab(*lab, directory, is_open && !lab->crash);
    Keeper keeper(directory, *lab);
    apply_options(*lab, options);
    if (options.request.device > 0) {
        lab->settings.backend = BackendChoice::cuda;
        lab->settings.device = options.request.device;
        lab->settings.recording.clear();
    }
    lab->recordings = recording_names();
    lab->wants_kept_backend = options.request.on.empty() && options.request.recording.empty() &&
                              options.session.empty() && !lab->crash;
    choose_kept_recording(*lab);
    keep_log(*lab, state);
    const CrashWatch crashes(state, lab->log_file->path());
    std::optional<SavedLayout> layout;
    if (lab->settings.own_layout) layout.emplace(*lab, directory);

    const WindowHandle window = open_window(lab->settings);
    if (!window) return Error::failure("the display does not support OpenGL 3.3: " + instead);
    if (const auto problem = Graphics::load(glfwGetProcAddress)) return problem;
    const Context context(*lab);
    const Input input(window.get());
    Graphics graphics;
    if (const std::string tried = layout ? layout->tried(*lab) : ""; !tried.empty()) {
        // A panel that the layout does not know would float above the others.
        if (const std::string panel = unknown_panel(tried); panel.empty())
            use_layout(*lab, tried);
        else
            note(*lab, LogLine::Kind::note, "the layout is the default one: the panel " + panel + " is new");
    }
    run_loop(*lab, window.get(), graphics, keeper, autosave, woken, options.stop, done);
    keeper.save_all(*lab);
    autosave.end(*lab);
    return options.stop.stop_requested() ? std::optional(Error::cancelled()) : std::nullopt;
}

}  // namespace sawtooth
