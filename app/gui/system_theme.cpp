#include "app/gui/system_theme.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "app/engine/files.h"

namespace sawtooth {
namespace {

constexpr int64_t longest_file = 1 << 20;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// The value of `key=` in a file of such lines.
std::optional<std::string> entry(const std::filesystem::path& path, const std::string& key) {
    const auto content = read_file(path.string(), longest_file);
    if (!content) return {};
    const std::string text = "\n" + *content;
    const size_t found = text.find("\n" + key + "=");
    if (found == std::string::npos) return {};
    const size_t begin = found + key.size() + 2;
    return lower(text.substr(begin, text.find('\n', begin) - begin));
}

bool names_dark(const std::string& theme) { return theme.find("dark") != std::string::npos; }

}  // namespace

bool system_prefers_dark() {
    // The override of GTK, then the settings of GTK, then those of KDE.
    if (const char* theme = std::getenv("GTK_THEME")) return names_dark(lower(theme));
    const std::filesystem::path folder = std::filesystem::path(config_directory()).parent_path();
    for (const char* settings : {"gtk-4.0/settings.ini", "gtk-3.0/settings.ini"}) {
        if (const auto wish = entry(folder / settings, "gtk-application-prefer-dark-theme"))
            return *wish == "1" || *wish == "true";
        if (const auto theme = entry(folder / settings, "gtk-theme-name")) return names_dark(*theme);
    }
    if (const auto scheme = entry(folder / "kdeglobals", "ColorScheme")) return names_dark(*scheme);
    return true;
}

}  // namespace sawtooth
