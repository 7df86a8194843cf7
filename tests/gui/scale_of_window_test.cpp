// The scale and the theme of the window, from the monitor, the desktop and the user's choice.

#include <cstdlib>

#include "app/gui/shell/appearance.h"
#include "app/gui/state/headless.h"
#include "app/gui/state/settings.h"
#include "app/gui/state/system_theme.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/environment.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

TEST_CASE("what the system enlarges is not enlarged again", "[gui]") {
    LabState lab;
    CHECK(drawn_scale(lab) == 1);
    lab.monitor = {2, 1};  // X11 at 200 %
    CHECK(scale_of(lab) == 2);
    CHECK(drawn_scale(lab) == 2);
    lab.monitor = {2, 2};  // Wayland at 200 %
    CHECK(scale_of(lab) == 2);
    CHECK(drawn_scale(lab) == 1);
    lab.monitor = {1.5, 1.5};
    CHECK(drawn_scale(lab) == 1);
    choose_scale(lab, 1);
    lab.monitor = {2, 2};
    CHECK(scale_of(lab) == 1);
    CHECK(drawn_scale(lab) == 0.5);
    choose_scale(lab, 0);
    CHECK(drawn_scale(lab) == 1);
    lab.monitor = {3, 3};
    CHECK(scale_of(lab) == 3);
    CHECK(largest_scale(lab) == 3);
    choose_scale(lab, 5);
    CHECK(scale_of(lab) == 3);
}

TEST_CASE("the scale of the monitor is saved as such, and follows the next monitor", "[gui]") {
    LabState lab;
    lab.monitor = {2, 1};
    LabState next;
    CHECK(read_settings(settings_text(lab.settings), next.settings).skipped.empty());
    CHECK(scale_of(next) == 1);
    choose_scale(lab, 1.5);
    choose_scale(lab, 0);
    CHECK(lab.settings == WindowSettings());
}

TEST_CASE("scale and theme of the command line are not saved, and end with a choice", "[gui]") {
    LabState lab;
    WindowOptions options;
    options.theme = "light";
    options.scale = 1.75;
    apply_options(lab, options);
    CHECK(scale_of(lab) == 1.75);
    CHECK(theme_choice(lab) == ThemeChoice::light);
    CHECK(lab.settings == WindowSettings());
    choose_scale(lab, scale_of(lab) + scale_step);
    choose_theme(lab, ThemeChoice::dark);
    CHECK(scale_of(lab) == 2);
    CHECK(theme_choice(lab) == ThemeChoice::dark);
    CHECK(lab.settings.scale == 2);
    CHECK(lab.settings.theme == ThemeChoice::dark);
}

TEST_CASE("the answers of busctl and gdbus are understood, other words are none", "[gui]") {
    CHECK(parse_colour_scheme("v v u 1\n") == 1);
    CHECK(parse_colour_scheme("(<<uint32 2>>,)\n") == 2);
    CHECK(parse_colour_scheme("v v u 0\n") == 0);
    for (const char* other : {"", "v v u", "v v u 7", "Error: 12", "v v u 12", "1"})
        CHECK_FALSE(parse_colour_scheme(other));
}

TEST_CASE("the portal's colour scheme decides, a desktop without a wish is light", "[gui]") {
    const TemporaryFolder folder;
    const Variable config("XDG_CONFIG_HOME", folder.path().c_str()), gtk("GTK_THEME", nullptr);
    CHECK(system_prefers_dark(1));
    CHECK_FALSE(system_prefers_dark(2));
    CHECK_FALSE(system_prefers_dark(0));
    CHECK(system_prefers_dark({}));
    std::filesystem::create_directory(folder.file("gtk-4.0"));
    put(folder.file("gtk-4.0/settings.ini"), "[Settings]\ngtk-application-prefer-dark-theme=1\n");
    CHECK(system_prefers_dark(0));
    CHECK_FALSE(system_prefers_dark(2));
}

TEST_CASE("the portal is asked with the program at hand, and one that hangs is ended", "[gui]") {
    const TemporaryFolder folder;
    const auto install = [&](const std::string& name, const std::string& script) {
        put(folder.file(name), "#!/bin/sh\n" + script);
        std::filesystem::permissions(folder.file(name), std::filesystem::perms::owner_all);
    };
    const Variable path("PATH", (folder.path() + ":/usr/bin:/bin").c_str()),
        bus("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    install("busctl", "echo 'v v u 1'\n");
    CHECK(ask_portal() == 1);
    install("busctl", "exit 1\n");
    install("gdbus", "echo '(<<uint32 2>>,)'\n");
    CHECK(ask_portal() == 2);
    install("busctl", "exec sleep 1000\n");
    CHECK_FALSE(ask_portal());
    const Variable no_bus("DBUS_SESSION_BUS_ADDRESS", nullptr), no_folder("XDG_RUNTIME_DIR", nullptr);
    install("busctl", "echo 'v v u 1'\n");
    CHECK_FALSE(ask_portal());
}

}  // namespace
}  // namespace sawtooth
