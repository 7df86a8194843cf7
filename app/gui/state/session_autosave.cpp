#include "app/gui/state/session_autosave.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
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

constexpr const char *autosaved = "session-", *replaced = "replaced-";  // how names start

// The time when the process started, in clock ticks since the machine did; 0: it has ended.
uint64_t start_of(int process) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const size_t name_end = text.rfind(')');  // the name of the program may contain anything
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(text.substr(name_end + 1));
    std::string field;
    fields >> field;
    if (field == "Z") return 0;  // its parent has not noticed yet
    for (int i = 4; i < 22; ++i) fields >> field;
    uint64_t start = 0;
    fields >> start;
    return start;
}

// Whether the process of this machine that wrote the file still runs; absent if the name is not that of such
// a file, `head`HOST-PID-START, because machines may share the directory. Numbers of processes are used
// again, but not with the same start.
std::optional<bool> is_in_use(std::string_view name, const std::string& head) {
    const std::string before = head + host_name() + "-";
    if (!name.starts_with(before) || !name.ends_with(tail)) return {};
    name.remove_prefix(before.size());
    name.remove_suffix(tail.size());
    const char* const end = name.data() + name.size();
    int process = 0;
    const auto [middle, no_process] = std::from_chars(name.data(), end, process);
    if (no_process != std::errc{} || middle == end || *middle != '-') return {};
    uint64_t start = 0;
    const auto [rest, no_start] = std::from_chars(middle + 1, end, start);
    if (no_start != std::errc{} || (rest != end && *rest != '.')) return {};
    return start != 0 && start == start_of(process);
}

// The files of ended processes whose names start with `head`, the newest last.
std::vector<std::pair<fs::file_time_type, fs::path>> left_behind(const std::string& directory,
                                                                 const std::string& head) {
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    std::error_code problem;
    for (fs::directory_iterator at(directory, problem), end; !problem && at != end; at.increment(problem)) {
        if (is_in_use(at->path().filename().string(), head) != false) continue;
        std::error_code gone;
        const auto time = at->last_write_time(gone);
        if (!gone) found.emplace_back(time, at->path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Removes all but the newest, and returns these.
std::vector<std::pair<fs::file_time_type, fs::path>> newest_left_behind(const std::string& directory,
                                                                        const std::string& head) {
    auto files = left_behind(directory, head);
    std::error_code ignored;
    for (; files.size() > most_left_behind; files.erase(files.begin()))
        fs::remove(files.front().second, ignored);
    return files;
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
    lab.session.autosave_path = autosave_path(directory, ::getpid());
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
    lab.files->finish(lab);
    if (!has_unsaved_marks(lab)) return remove_file(lab, lab.session.autosave_path);
    follow(lab, last_ + save_rest);
}

std::string autosave_path(const std::string& directory, int process) {
    const std::string name =
        fmt::format("{}{}-{}-{}{}", autosaved, host_name(), process, start_of(process), tail);
    return (fs::path(directory) / name).string();
}

std::string path_of_replaced(const LabState& lab) {
    const fs::path own = lab.session.autosave_path;
    const std::string of_process = own.stem().string().substr(std::string_view(autosaved).size());
    const std::string name = fmt::format("{}{}.{}{}", replaced, of_process, lab.session.opened + 1, tail);
    return (own.parent_path() / name).string();
}

void offer_session(LabState& lab, const std::string& directory) {
    newest_left_behind(directory, replaced);
    const auto files = newest_left_behind(directory, autosaved);
    if (files.empty()) return;
    lab.session.offer = SessionState::Offer{
        files.back().second.string(),
        fmt::format("The session of {} was not saved.", local_time(seconds_of(files.back().first)))};
    note(lab, LogLine::Kind::note, lab.session.offer->words + " Its results can be restored.");
}

void restore_session(LabState& lab) {
    if (!lab.session.offer) return;
    open_session(lab, lab.session.offer->path, true);
    const auto& opening = lab.session.opening;
    if (opening && opening->is_restored) lab.session.offer.reset();  // not while another file is being read
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
