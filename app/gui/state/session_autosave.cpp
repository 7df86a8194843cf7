#include "app/gui/state/session_autosave.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <utility>

#include "app/engine/files/host_name.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/local_time.h"
#include "app/gui/state/session_file.h"

namespace sawtooth {
namespace {

namespace fs = std::filesystem;

constexpr double save_rest = 2;  // seconds
constexpr std::string_view tail = ".sawtooth";

// Names have the machine, because several machines may share the directory.
std::string head_of_names() { return "session-" + host_name() + "-"; }

// The process of this machine that writes the file, from its name; absent for other files.
std::optional<int> process_of(const std::string& name) {
    const std::string head = head_of_names();
    if (!name.starts_with(head) || !name.ends_with(tail)) return {};
    int process = 0;
    const char* const end = name.data() + name.size() - tail.size();
    const auto [rest, problem] = std::from_chars(name.data() + head.size(), end, process);
    return problem == std::errc{} && rest == end ? std::optional(process) : std::nullopt;
}

// Whether the process runs this program. Numbers of processes are used again, for example after a restart.
bool runs(int process) {
    std::error_code problem;
    const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", process), problem);
    return !problem && program == fs::read_symlink("/proc/self/exe", problem);
}

// The autosaved files of ended processes, the newest last.
std::vector<std::pair<fs::file_time_type, fs::path>> left_behind(const std::string& directory) {
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    std::error_code problem;
    for (fs::directory_iterator at(directory, problem), end; !problem && at != end; at.increment(problem)) {
        const auto process = process_of(at->path().filename().string());
        if (!process || runs(*process)) continue;
        std::error_code gone;
        const auto time = at->last_write_time(gone);
        if (!gone) found.emplace_back(time, at->path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::time_t seconds_of(fs::file_time_type time) {
    using System = std::chrono::system_clock;
    const auto age = fs::file_time_type::clock::now() - time;
    return System::to_time_t(System::now() - std::chrono::duration_cast<System::duration>(age));
}

void remove_file(LabState& lab, const std::string& path) {
    lab.files->add(
        path,
        [path]() -> std::optional<Error> {
            std::error_code ignored;
            fs::remove(path, ignored);
            return {};
        },
        [](LabState&, const std::optional<Error>&) {});
}

// A full disk is told once.
void note_problem(LabState& lab, const std::optional<Error>& problem) {
    if (problem) note_once(lab, "the session cannot be autosaved: " + problem->text);
}

}  // namespace

SessionAutosave::SessionAutosave(LabState& lab, const std::string& directory)
    : saved_(lab.session.revision), last_(-save_rest) {
    lab.session.autosave_path =
        (fs::path(directory) / fmt::format("{}{}{}", head_of_names(), ::getpid(), tail)).string();
}

bool SessionAutosave::is_due(const LabState& lab) const {
    return lab.session.revision != saved_ && has_session(lab);
}

void SessionAutosave::follow(LabState& lab, double now) {
    if (!is_due(lab) || now - last_ < save_rest) return;
    last_ = now;
    saved_ = lab.session.revision;
    lab.files->add(lab.session.autosave_path, session_write(lab, lab.session.autosave_path), note_problem);
}

std::optional<double> SessionAutosave::due(const LabState& lab) const {
    return is_due(lab) ? std::optional(last_ + save_rest) : std::nullopt;
}

void SessionAutosave::end(LabState& lab) {
    if (!has_unsaved_marks(lab)) return remove_file(lab, lab.session.autosave_path);
    follow(lab, last_ + save_rest);
}

void offer_session(LabState& lab, const std::string& directory) {
    const auto files = left_behind(directory);
    if (files.empty()) return;
    std::error_code ignored;
    for (size_t i = 0; i + most_left_behind < files.size(); ++i) fs::remove(files[i].second, ignored);
    lab.session.offer = SessionState::Offer{
        files.back().second.string(),
        fmt::format("The session of {} was not saved.", local_time(seconds_of(files.back().first)))};
    note(lab, LogLine::Kind::note, lab.session.offer->words + " Its results can be restored.");
}

void restore_session(LabState& lab) {
    if (!lab.session.offer) return;
    const std::string path = std::exchange(lab.session.offer, {})->path;
    open_session(lab, path, true);
}

void discard_offered_session(LabState& lab) {
    if (!lab.session.offer) return;
    remove_file(lab, std::exchange(lab.session.offer, {})->path);
}

void take_autosaved_file(LabState& lab, const std::string& path, bool is_valid) {
    std::error_code problem;
    if (!is_valid)
        fs::rename(path, path + ".bad", problem);
    else if (!lab.session.autosave_path.empty())
        fs::rename(path, lab.session.autosave_path, problem);
    if (problem)
        note(lab, LogLine::Kind::problem, fmt::format("cannot rename {}: {}", path, problem.message()));
}

}  // namespace sawtooth
