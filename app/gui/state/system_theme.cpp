#include "app/gui/state/system_theme.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/engine/files/files.h"
#include "app/engine/sources/worker_process.h"

namespace sawtooth {
namespace {

constexpr int64_t longest_theme_file = 1 << 20;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// The value of `key=` in a file of such lines.
std::optional<std::string> entry(const std::filesystem::path& path, const std::string& key) {
    const auto content = read_file(path.string(), longest_theme_file);
    if (!content) return {};
    const std::string text = "\n" + *content;
    const size_t found = text.find("\n" + key + "=");
    if (found == std::string::npos) return {};
    const size_t begin = found + key.size() + 2;
    return lower(text.substr(begin, text.find('\n', begin) - begin));
}

bool names_dark(const std::string& theme) { return theme.find("dark") != std::string::npos; }

// Without a session bus, the programs below would start one of their own.
bool has_session_bus() {
    if (std::getenv("DBUS_SESSION_BUS_ADDRESS")) return true;
    const char* const folder = std::getenv("XDG_RUNTIME_DIR");
    std::error_code ignored;
    return folder && std::filesystem::exists(std::filesystem::path(folder) / "bus", ignored);
}

// The output of a program until it ends; it is killed after a second.
std::string answer_of(std::vector<std::string> words) {
    using Clock = std::chrono::steady_clock;
    constexpr auto longest = std::chrono::seconds(1);
    auto program = WorkerProcess::start(std::move(words));
    if (!program) return "";
    std::string answer;
    const auto until = Clock::now() + longest;
    while (answer.size() < 4096) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
        pollfd end{program->output(), POLLIN, 0};
        if (left.count() <= 0 || ::poll(&end, 1, static_cast<int>(left.count())) <= 0) break;
        char part[512];
        const ssize_t count = ::read(program->output(), part, sizeof part);
        if (count <= 0) break;
        answer.append(part, static_cast<size_t>(count));
    }
    return answer;
}

}  // namespace

std::optional<int> parse_colour_scheme(std::string_view answer) {
    // busctl prints "v v u 1", and gdbus "(<<uint32 1>>,)".
    const size_t digit = answer.find_last_of("0123456789");
    const bool is_whole = digit != answer.npos && digit > 0 && answer[digit - 1] == ' ';
    if (!is_whole || answer[digit] > '2') return {};
    return answer[digit] - '0';
}

std::optional<int> ask_portal() {
    if (!has_session_bus()) return {};
    // One comes with systemd and the other with GLib; neither is on every machine.
    constexpr const char* command =
        "busctl --user call org.freedesktop.portal.Desktop /org/freedesktop/portal/desktop "
        "org.freedesktop.portal.Settings Read ss org.freedesktop.appearance color-scheme || "
        "gdbus call --session --dest org.freedesktop.portal.Desktop "
        "--object-path /org/freedesktop/portal/desktop --method org.freedesktop.portal.Settings.Read "
        "org.freedesktop.appearance color-scheme";
    return parse_colour_scheme(answer_of({"/bin/sh", "-c", command}));
}

bool system_prefers_dark(std::optional<int> colour_scheme) {
    if (const char* theme = std::getenv("GTK_THEME")) return names_dark(lower(theme));
    constexpr int dark = 1, light = 2;
    if (colour_scheme == dark || colour_scheme == light) return colour_scheme == dark;
    // The settings of GTK come first, then those of KDE.
    const std::filesystem::path folder = std::filesystem::path(config_directory()).parent_path();
    for (const char* settings : {"gtk-4.0/settings.ini", "gtk-3.0/settings.ini"}) {
        if (const auto wish = entry(folder / settings, "gtk-application-prefer-dark-theme"))
            return *wish == "1" || *wish == "true";
        if (const auto theme = entry(folder / settings, "gtk-theme-name")) return names_dark(*theme);
    }
    if (const auto scheme = entry(folder / "kdeglobals", "ColorScheme")) return names_dark(*scheme);
    return !colour_scheme;  // a desktop without a preference is light
}

}  // namespace sawtooth
