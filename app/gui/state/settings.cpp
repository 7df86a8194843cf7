#include "app/gui/state/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/engine/files/files.h"
#include "app/gui/state/kept_lab.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/recent_files.h"

namespace sawtooth {
namespace {

namespace fs = std::filesystem;
constexpr int64_t longest_file = 1 << 20;
constexpr const char *own_layout = "own", *default_layout = "default";
constexpr const char *explore_arrangement = "explore", *compare_arrangement = "compare";
constexpr const char *shown = "shown", *hidden = "hidden";
// The first and the last line of a layout, which reveal truncated and foreign files.
constexpr std::string_view layout_head = "; sawtooth layout 1\n", layout_end = "; end\n";

std::string settings_path(const std::string& directory) {
    return (fs::path(directory) / "settings").string();
}
std::string lab_path(const std::string& directory) { return (fs::path(directory) / "lab").string(); }
std::string layout_path(const std::string& directory) {
    return (fs::path(directory) / "layout.ini").string();
}

void set_aside(LabState& lab, const std::string& path, const std::string& why) {
    std::error_code problem;
    fs::rename(path, path + ".bad", problem);
    note(lab, LogLine::Kind::problem,
         problem ? fmt::format("{} {} and could not be renamed: {}", path, why, problem.message())
                 : fmt::format("{} {}; it was renamed to {}.bad", path, why, path));
}

// The content of a saved file; absent if nothing is saved, or if the file was invalid and has been renamed.
std::optional<std::string> kept(LabState& lab, const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return {};
    auto text = read_file(path, longest_file);
    if (text) return *text;
    set_aside(lab, path, "cannot be read");
    return {};
}

std::optional<double> parse_number(std::string_view text, double low, double high) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size() || !(number >= low && number <= high))
        return {};
    return number;
}

const char* name_of(ThemeChoice theme) {
    return theme == ThemeChoice::dark ? "dark" : theme == ThemeChoice::light ? "light" : "system";
}

const char* name_of(BackendChoice backend) {
    return backend == BackendChoice::cuda ? "cuda" : backend == BackendChoice::cpu ? "cpu" : "auto";
}

bool set(WindowSettings& settings, std::string_view name, std::string_view value) {
    if (name == "backend") {
        for (const BackendChoice backend :
             {BackendChoice::cpu, BackendChoice::cuda, BackendChoice::automatic})
            if (value == name_of(backend)) {
                settings.backend = backend;
                return true;
            }
        return false;
    }
    if (name == "theme") {
        for (const ThemeChoice theme : {ThemeChoice::system, ThemeChoice::dark, ThemeChoice::light})
            if (value == name_of(theme)) {
                settings.theme = theme;
                return true;
            }
        return false;
    }
    if (name == "recording") {
        settings.recording = value;
        return value.size() < 64;
    }
    if (name == "layout") {
        settings.own_layout = value == own_layout;
        return settings.own_layout || value == default_layout;
    }
    if (name == "arrangement") {
        const bool compares = value == compare_arrangement;
        settings.arrangement = compares ? Arrangement::compare : Arrangement::explore;
        return compares || value == explore_arrangement;
    }
    if (name == "history") {
        settings.shows_history = value != hidden;
        return value == hidden || value == shown;
    }
    if (name == "recent") {
        const bool fits = settings.recent.size() < most_recent_files;
        if (fits) settings.recent.emplace_back(value);
        return fits;
    }
    const auto number = name == "scale"    ? parse_number(value, 0, 4)
                        : name == "device" ? parse_number(value, 0, 1023)
                                           : parse_number(value, 1, 16384);
    if (!number) return false;
    if (name == "scale") settings.scale = *number;
    if (name == "width") settings.width = static_cast<int>(*number);
    if (name == "height") settings.height = static_cast<int>(*number);
    if (name == "device") settings.device = static_cast<int>(*number);
    return name == "scale" || name == "width" || name == "height" || name == "device";
}

bool is_layout(std::string_view text) {
    const auto plain = [](unsigned char c) { return c >= ' ' || c == '\n'; };
    return text.starts_with(layout_head) && text.ends_with(layout_end) &&
           std::all_of(text.begin(), text.end(), plain);
}

// Few lines are quoted, because a damaged file may have many, of any length and with any characters.
void note_skipped(LabState& lab, const std::string& path, const std::vector<std::string>& lines) {
    constexpr size_t most_lines = 5, most_characters = 80;
    for (size_t i = 0; i < std::min(lines.size(), most_lines); ++i) {
        std::string line = lines[i].substr(0, most_characters);
        std::replace_if(
            line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
        note(lab, LogLine::Kind::note, fmt::format("{}: skipped \"{}\"", path, line));
    }
    if (lines.size() > most_lines)
        note(lab, LogLine::Kind::note,
             fmt::format("{}: skipped {}", path,
                         count_words(static_cast<int64_t>(lines.size() - most_lines), "more line")));
}

void note_problem_of_settings(LabState& lab, const std::optional<Error>& problem) {
    if (problem) note_once(lab, problem->text);
}

void save(LabState& lab, const std::string& path, std::string text) {
    lab.files->add(
        path, [path, text = std::move(text)] { return write_file(path, text); }, note_problem_of_settings);
}

}  // namespace

std::string settings_text(const WindowSettings& settings) {
    std::string text = fmt::format(
        "theme = {}\nscale = {}\nwidth = {}\nheight = {}\nbackend = {}\ndevice = {}\nrecording = {}\nlayout "
        "= "
        "{}\narrangement = {}\n"
        "history = {}\n",
        name_of(settings.theme), settings.scale, settings.width, settings.height, name_of(settings.backend),
        settings.device, settings.recording, settings.own_layout ? own_layout : default_layout,
        settings.arrangement == Arrangement::compare ? compare_arrangement : explore_arrangement,
        settings.shows_history ? shown : hidden);
    for (const std::string& path : settings.recent) text += fmt::format("recent = {}\n", path);
    return text;
}

TakenLines take_lines(std::string_view text,
                      const std::function<bool(std::string_view name, std::string_view value)>& take) {
    TakenLines lines;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end, text.size() - 1) + 1);
        const size_t equals = line.find(" = ");
        const bool whole = end != text.npos && equals != line.npos;
        if (whole && take(line.substr(0, equals), line.substr(equals + 3)))
            ++lines.taken;
        else
            lines.skipped.emplace_back(line);
    }
    return lines;
}

TakenLines read_settings(std::string_view text, WindowSettings& settings) {
    return take_lines(
        text, [&](std::string_view name, std::string_view value) { return set(settings, name, value); });
}

void load_settings(LabState& lab, const std::string& directory) {
    const std::string path = settings_path(directory);
    const auto text = kept(lab, path);
    if (!text) return;
    const TakenLines lines = read_settings(*text, lab.settings);
    if (lines.taken == 0) return set_aside(lab, path, "is invalid");
    note_skipped(lab, path, lines.skipped);
}

void load_lab(LabState& lab, const std::string& directory, bool all) {
    const std::string path = lab_path(directory);
    const auto text = kept(lab, path);
    if (!text) return;
    KeptLab kept;
    const TakenLines lines = read_kept_lab(*text, kept);
    if (lines.taken == 0) return set_aside(lab, path, "is invalid");
    note_skipped(lab, path, lines.skipped);
    if (all && !kept.request.family.empty())
        restore(lab, kept);
    else
        restore_others(lab, kept);
}

std::string load_layout(LabState& lab, const std::string& directory) {
    const std::string path = layout_path(directory);
    const auto text = kept(lab, path);
    if (!text) return "";
    if (is_layout(*text)) return *text;
    set_aside(lab, path, "is invalid");
    return "";
}

void set_layout_aside(LabState& lab, const std::string& directory, const std::string& why) {
    set_aside(lab, layout_path(directory), why);
}

void save_settings(LabState& lab, const std::string& directory) {
    save(lab, settings_path(directory), settings_text(lab.settings));
}

void save_lab(LabState& lab, const std::string& directory) {
    save(lab, lab_path(directory), kept_lab_text(kept_of(lab)));
}

void save_layout(LabState& lab, const std::string& directory, std::string_view layout) {
    save(lab, layout_path(directory), fmt::format("{}{}{}", layout_head, layout, layout_end));
}

}  // namespace sawtooth
