#include "app/gui/shell/window.h"
#include "app/engine/run/run_rows.h"

#include <imgui_internal.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/gui/damaged_layout.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/contains.h"
#include "tests/kit/environment.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// Puts the settings, log and reports of a window into a temporary folder.
class InFolder {
  public:
    explicit InFolder(const TemporaryFolder& folder)
        : config_("XDG_CONFIG_HOME", folder.path().c_str()),
          state_("XDG_STATE_HOME", folder.path().c_str()) {}

  private:
    Variable config_, state_;
};

WindowOptions quick_options() {
    WindowOptions options;
    options.cache_directory = shared_cache();
    options.request.repeats = 1;
    return options;
}

// Opens the window; an X server restarts when its last client disconnects, and refuses clients for a moment.
std::optional<Error> open_again(const WindowOptions& options,
                                const std::function<bool(const LabState&)>& done) {
    std::optional<Error> error = Error::failure("not tried yet");
    for (int tries = 0; tries < 50 && error && error->kind == Error::Kind::failure; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        error = run_window_until(options, done);
    }
    return error;
}

TEST_CASE("the window opens on a display, runs, and saves settings and layout", "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    std::filesystem::create_directory(folder.file("sawtooth"));
    put(folder.file("sawtooth/settings"), "broken");
    WindowOptions options = quick_options();
    options.theme = "light";
    bool told = false, complete = false;
    int frames = 0;
    const auto done = [&](const LabState& lab) {
        for (const LogLine& line : lab.log)
            told = told || line.text.find("settings.bad") != std::string::npos;
        complete = lab.result && lab.result->complete;
        return complete && ++frames > 2;  // idle, so nothing is drawn any more
    };
    CHECK_FALSE(run_window_until(options, done));
    CHECK(told);
    CHECK(complete);
    // Nothing was chosen, so nothing is saved.
    CHECK(content_of(folder.file("sawtooth/settings")) == "");
    CHECK(std::filesystem::exists(folder.file("sawtooth/layout.ini")));
    const std::string log = content_of(folder.file("sawtooth/log.txt"));
    CHECK(contains(log, "  started Sawtooth "));
    CHECK(contains(log, "settings.bad"));
    CHECK(contains(log, "fastest exact"));

    // The second start finds a complete layout, and a size of a monitor that is gone.
    put(folder.file("sawtooth/settings"), "layout = own\nwidth = 16000\nheight = 9000\n");
    frames = 0;
    told = false;
    ImVec2 size;
    CHECK_FALSE(open_again(quick_options(), [&](const LabState& lab) {
        size = ImGui::GetIO().DisplaySize;
        return done(lab);
    }));
    CHECK_FALSE(told);
    CHECK(size.x < 16000);
    CHECK(size.y < 9000);
    CHECK_FALSE(std::filesystem::exists(folder.file("sawtooth/layout.ini.bad")));
}

TEST_CASE("a modifier that is released in the frame of a key, a click or a turn of the wheel counts",
          "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    struct Seen {
        bool clicked = false, turned = false;
    } seen;
    bool is_open = false;
    int frame = 0;
    // What a frame begins with.
    ImGuiContextHook look;
    look.Type = ImGuiContextHookType_NewFramePost;
    look.UserData = &seen;
    look.Callback = [](ImGuiContext*, ImGuiContextHook* hook) {
        const ImGuiIO& io = ImGui::GetIO();
        if (io.KeyMods != (ImGuiMod_Ctrl | ImGuiMod_Shift)) return;
        auto& noted = *static_cast<Seen*>(hook->UserData);
        noted.clicked = noted.clicked || io.MouseClicked[ImGuiMouseButton_Middle];
        noted.turned = noted.turned || io.MouseWheel != 0;
    };
    const auto done = [&](const LabState& lab) {
        ImGuiIO& io = ImGui::GetIO();
        const auto press_modifiers = [&](bool down) {
            for (const ImGuiKey key : {ImGuiMod_Ctrl, ImGuiKey_LeftCtrl, ImGuiMod_Shift, ImGuiKey_LeftShift})
                io.AddKeyEvent(key, down);
        };
        is_open = is_open || lab.palette;
        if (++frame == 1) ImGui::AddContextHook(ImGui::GetCurrentContext(), &look);
        if (frame % 5 == 3) press_modifiers(true);
        if (frame % 5 != 4) return frame > 20;
        if (frame == 4) io.AddMouseButtonEvent(ImGuiMouseButton_Middle, true);
        if (frame == 9) io.AddMouseWheelEvent(0, 1);
        if (frame == 14) io.AddKeyEvent(ImGuiKey_P, true);
        press_modifiers(false);
        io.AddMouseButtonEvent(ImGuiMouseButton_Middle, false);
        io.AddKeyEvent(ImGuiKey_P, false);
        return false;
    };
    CHECK_FALSE(open_again(quick_options(), done));
    CHECK(seen.clicked);
    CHECK(seen.turned);
    CHECK(is_open);
}

TEST_CASE("a tab takes a click in the frame in which the mouse arrives", "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    int frame = 0;
    bool was_shown = true, is_shown = false;
    const auto done = [&](const LabState&) {
        ImGuiIO& io = ImGui::GetIO();
        const ImGuiWindow* const more = ImGui::FindWindowByName("More");
        if (++frame == 4) io.AddMousePosEvent(10, 10);
        if (!more) return frame > 20;
        if (frame == 8) {
            was_shown = more->DockTabIsVisible;
            const ImVec2 tab = more->DC.DockTabItemRect.GetCenter();
            io.AddMousePosEvent(tab.x, tab.y);
            io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
            io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
        }
        is_shown = more->DockTabIsVisible;
        return frame > 20;
    };
    CHECK_FALSE(open_again(quick_options(), done));
    CHECK_FALSE(was_shown);
    CHECK(is_shown);
}

TEST_CASE("a stop closes the window as its button does, and is told as one", "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const Variable config("XDG_CONFIG_HOME", folder.path().c_str());
    std::stop_source ctrl_c;
    WindowOptions options = quick_options();
    options.stop = ctrl_c.get_token();
    const auto error = open_again(options, [&](const LabState&) { return !ctrl_c.request_stop(); });
    REQUIRE(error);
    CHECK(error->kind == Error::Kind::cancelled);
    CHECK(std::filesystem::exists(folder.file("sawtooth/layout.ini")));
}

TEST_CASE("a damaged layout is renamed, and the window opens with its own", "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    std::filesystem::create_directory(folder.file("sawtooth"));
    put(folder.file("sawtooth/settings"), "layout = own\n");
    put(folder.file("sawtooth/layout.ini"), damaged_layout);
    bool told = false;
    const auto done = [&](const LabState& lab) {
        for (const LogLine& line : lab.log)
            told = told || line.text.find("layout.ini.bad") != std::string::npos;
        return true;
    };
    CHECK_FALSE(open_again(quick_options(), done));
    CHECK(told);
    CHECK(std::filesystem::exists(folder.file("sawtooth/layout.ini.bad")));
    CHECK(std::filesystem::exists(folder.file("sawtooth/layout.ini")));
}

TEST_CASE("a window that is closed while the disk is slow still writes everything", "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    const WindowOptions options = quick_options();
    const auto done = [](const LabState& lab) {
        const auto wait = [] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            return std::optional<Error>();
        };
        lab.files->add("slow", wait, [](LabState&, const std::optional<Error>&) {});
        return true;
    };
    CHECK_FALSE(open_again(options, done));
    for (const char* name : {"layout.ini", "log.txt"})
        CHECK(std::filesystem::exists(folder.file("sawtooth/") + name));
}

TEST_CASE("the window restores the last backend, or says why it cannot", "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    std::filesystem::create_directory(folder.file("sawtooth"));
    put(folder.file("sawtooth/settings"), "backend = cuda\ndevice = 0\n");
    bool chosen = false, told = false;
    const auto done = [&](const LabState& lab) {
        chosen = lab.request.backend == BackendChoice::cuda;
        for (const LogLine& line : lab.log)
            told = told || line.text.find("the backend of the last session") != std::string::npos;
        return lab.devices && (chosen || told);
    };
    CHECK_FALSE(open_again(quick_options(), done));
    CHECK(chosen != told);
    CHECK(content_of(folder.file("sawtooth/settings")).find("backend = cuda\n") != std::string::npos);
}

TEST_CASE("a window that crashes", "[.child]") {
    ::signal(SIGSEGV, SIG_DFL);  // without the handler of the test program
    (void)run_window_until(quick_options(), [](const LabState& lab) {
        if (lab.result) ::raise(SIGSEGV);
        return false;
    });
}

TEST_CASE("a window that was killed by a signal leaves a report, which the next start offers once",
          "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    WindowOptions options;
    options.cache_directory = shared_cache();
    for (const Parameter& row : run_rows())  // which leaves all settings open
        set_run_value(options.request, row.name, row.initial);
    ChildProcess("", "a window that crashes").output();
    put(folder.file("sawtooth/lab"), "family = lut\n");
    std::string words, path, family;
    const auto done = [&](const LabState& lab) {
        family = lab.family->name;
        words = lab.crash ? lab.crash->words : "";
        path = lab.crash ? lab.crash->path : "";
        return true;
    };
    CHECK_FALSE(open_again(options, done));
    CHECK(contains(words, "ended unexpectedly (signal 11, "));
    CHECK(contains(words, "This one starts with default settings."));
    CHECK(family == offered_families().front()->name);
    const std::string report = content_of(path);
    CHECK(contains(report, folder.file("sawtooth/log.txt")));
    CHECK(contains(report, "(+0x"));  // the list of calls
    CHECK(contains(content_of(folder.file("sawtooth/log.txt")), "Report: " + path));
    CHECK_FALSE(open_again(options, done));
    CHECK(words.empty());
}

TEST_CASE("a window that is killed", "[.child]") {
    (void)run_window_until(quick_options(), [](const LabState& lab) {
        if (std::filesystem::exists(lab.session.autosave_path)) ::raise(SIGKILL);
        return false;
    });
}

TEST_CASE("a window that was killed leaves its session, which the next start offers and a window opens",
          "[window]") {
    if (!std::getenv("DISPLAY")) return say_skipped("no display; xvfb-run gives one");
    const TemporaryFolder folder;
    const InFolder config(folder);
    ChildProcess("", "a window that is killed").output();
    std::string left;
    CHECK_FALSE(open_again(quick_options(), [&](const LabState& lab) {
        left = lab.session.offer ? lab.session.offer->path : "none";
        return lab.result && lab.result->complete;  // it has a session of its own
    }));
    REQUIRE(std::filesystem::exists(left));
    const auto names = [&] {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder.file("sawtooth")))
            if (entry.path().extension() == ".sawtooth") found.push_back(entry.path());
        return found;
    };
    CHECK(names() == std::vector<std::string>{left});  // closing removes that of the second window

    std::filesystem::rename(left, folder.file("mine.sawtooth"));
    WindowOptions options = quick_options();
    options.session = folder.file("mine.sawtooth");
    bool ran = false, offered = false;
    size_t results = 0;
    CHECK_FALSE(open_again(options, [&](const LabState& lab) {
        ran = ran || lab.pending.ticket;
        offered = lab.session.offer.has_value();
        results = lab.past_results.size();
        return lab.result != nullptr;
    }));
    CHECK_FALSE(ran);
    CHECK_FALSE(offered);
    CHECK(results == 1);
    CHECK(contains(content_of(folder.file("sawtooth/settings")), "recent = " + options.session + "\n"));
}

TEST_CASE("without a display the window fails and names alternatives", "[window]") {
    const TemporaryFolder folder;
    const Variable x11("DISPLAY", nullptr), wayland("WAYLAND_DISPLAY", nullptr);
    const auto error = run_window(quick_options());
    REQUIRE(error);
    CHECK(error->exit_code() == 1);
    CHECK(error->text.find("sawtooth shot") != std::string::npos);
    CHECK(error->text.find('\n') == std::string::npos);
}

}  // namespace
}  // namespace sawtooth
