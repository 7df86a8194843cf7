#include "app/gui/state/recent_files.h"

#include <algorithm>
#include <filesystem>

namespace sawtooth {

void add_recent_file(WindowSettings& settings, const std::string& path) {
    const auto is_control = [](unsigned char c) { return c < ' '; };
    std::error_code problem;
    const std::string absolute = std::filesystem::absolute(path, problem).lexically_normal().string();
    if (problem || std::any_of(absolute.begin(), absolute.end(), is_control)) return;
    std::erase(settings.recent, absolute);
    settings.recent.insert(settings.recent.begin(), absolute);
    if (settings.recent.size() > most_recent_files) settings.recent.resize(most_recent_files);
}

}  // namespace sawtooth
