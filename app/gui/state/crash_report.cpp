#include "app/gui/state/crash_report.h"

#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "app/engine/files/files.h"
#include "app/engine/identity.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

namespace fs = std::filesystem;

// The start of the name of a report: it is new until the program has offered it at a start.
constexpr std::string_view new_report = "crash-new-", offered_report = "crash-";
constexpr size_t reports_kept = 10;
constexpr int most_frames = 64;
constexpr int64_t longest_report = 1 << 20;

// The texts that the handler writes, prepared because it can neither allocate nor format.
char report_path[4096], about_program[8192];

void write_text(int file, const char* text) {
    size_t left = std::strlen(text);
    while (left > 0) {
        const ssize_t count = ::write(file, text, left);
        if (count <= 0) return;
        text += count, left -= static_cast<size_t>(count);
    }
}

void write_number(int file, long number) {
    char digits[24];
    const auto [end, problem] = std::to_chars(digits, digits + sizeof digits - 1, number);
    *end = 0;
    if (problem == std::errc{}) write_text(file, digits);
}

// Calls only what a signal handler may call, and backtrace, which was called before so that it loads nothing
// here.
void report_crash(int signal, siginfo_t* info, void*) {
    const int file = ::open(report_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0) {
        write_text(file, "signal ");
        write_number(file, signal);
        write_text(file, "\n");
        write_text(file, about_program);
        write_text(file, "seconds since 1970: ");
        write_number(file, static_cast<long>(::time(nullptr)));
        write_text(file,
                   "\n\nCalls, the innermost first. `addr2line -Cfe PROGRAM +0x…` gives their lines.\n");
        void* frames[most_frames];
        ::backtrace_symbols_fd(frames, ::backtrace(frames, most_frames), file);
        ::close(file);
    }
    // The default action is installed again. An instruction that faults repeats the fault, with its own place
    // in the core file.
    if (info->si_code <= 0) ::raise(signal);
}

std::optional<int> signal_of(std::string_view text) {
    constexpr std::string_view head = "signal ";
    int number = 0;
    if (!text.starts_with(head)) return {};
    text.remove_prefix(head.size());
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return {};
    return number;
}

// The reports in the folder, the newest last.
std::vector<fs::path> reports_in(const std::string& directory, std::string_view head) {
    std::vector<std::pair<fs::file_time_type, fs::path>> found;
    std::error_code problem;
    for (fs::directory_iterator at(directory, problem), end; !problem && at != end; at.increment(problem)) {
        std::error_code gone;
        const auto time = at->last_write_time(gone);
        if (!gone && at->path().filename().string().starts_with(head)) found.emplace_back(time, at->path());
    }
    std::sort(found.begin(), found.end());
    std::vector<fs::path> paths;
    for (auto& [time, path] : found) paths.push_back(std::move(path));
    return paths;
}

// Renames "crash-new-4711.txt" to "crash-2026-11-24-225920-4711.txt". Absent if another process took it
// first.
std::optional<fs::path> mark_offered(const fs::path& report) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char time[32];
    std::strftime(time, sizeof time, "%Y-%m-%d-%H%M%S-", &local);
    const std::string own = report.filename().string().substr(new_report.size());
    fs::path offered = report.parent_path() / (std::string(offered_report) + time + own);
    std::error_code problem;
    fs::rename(report, offered, problem);
    return problem ? std::nullopt : std::optional(offered);
}

}  // namespace

CrashWatch::CrashWatch(const std::string& directory, const std::string& log_path) : stack_(1 << 16) {
    const std::string path = (fs::path(directory) / fmt::format("{}{}.txt", new_report, ::getpid())).string();
    const std::string about = fmt::format("Sawtooth {}\nlog: {}\n", build_identity(), log_path);
    if (path.size() >= sizeof report_path || about.size() >= sizeof about_program) return;
    std::strcpy(report_path, path.c_str());
    std::strcpy(about_program, about.c_str());
    void* frame = nullptr;
    ::backtrace(&frame, 1);  // loads whatever it needs
    stack_t stack = {};
    stack.ss_sp = stack_.data();
    stack.ss_size = stack_.size();
    ::sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = report_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
        struct sigaction present = {};
        if (::sigaction(signal, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
        if (::sigaction(signal, &action, nullptr) == 0) signals_.push_back(signal);
    }
}

CrashWatch::~CrashWatch() {
    for (const int each : signals_) ::signal(each, SIG_DFL);
    stack_t stack = {};
    stack.ss_flags = SS_DISABLE;
    ::sigaltstack(&stack, nullptr);
}

void offer_crash_report(LabState& lab, const std::string& directory) {
    for (const fs::path& report : reports_in(directory, new_report)) {
        const auto text = read_file(report.string(), longest_report);
        const auto offered = mark_offered(report);
        const auto signal = text ? signal_of(*text) : std::nullopt;
        if (!offered || !signal) continue;
        lab.crash = CrashNotice{fmt::format("The last session ended unexpectedly (signal {}, {}).", *signal,
                                            ::strsignal(*signal)),
                                offered->string(), *text};
    }
    if (lab.crash)
        note(lab, LogLine::Kind::problem, fmt::format("{} Report: {}", lab.crash->words, lab.crash->path));
    const auto reports = reports_in(directory, offered_report);
    std::error_code ignored;
    for (size_t i = 0; i + reports_kept < reports.size(); ++i) fs::remove(reports[i], ignored);
}

}  // namespace sawtooth
