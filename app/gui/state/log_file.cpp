#include "app/gui/state/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "app/engine/files/descriptor.h"
#include "app/engine/files/files.h"
#include "app/engine/identity.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

constexpr int64_t longest_log = 1 << 20;

std::string present_time() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char time[32];
    std::strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S", &local);
    return time;
}

// Opens the file, but no pipe, which could wait forever.
Descriptor open_log(const std::string& path) {
    return Descriptor(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
}

int64_t length_of(const Descriptor& file) {
    struct stat found = {};
    return ::fstat(file.number(), &found) == 0 && S_ISREG(found.st_mode) ? found.st_size : 0;
}

}  // namespace

std::optional<Error> append_to_log(const std::string& path, const std::string& full, const std::string& text,
                                   int64_t limit) {
    const auto failure = [&] {
        return Error::failure(fmt::format("cannot write the log file {}: {}. The Log is not saved", path,
                                          std::strerror(errno)));
    };
    Descriptor file = open_log(path);
    if (!file) return failure();
    if (length_of(file) >= limit) {
        if (std::rename(path.c_str(), full.c_str()) != 0) return failure();
        file = open_log(path);
        if (!file) return failure();
    }
    errno = write_all(file.number(), text);
    return errno == 0 ? std::nullopt : std::optional(failure());
}

void LogFile::add(LabState& lab, const LogLine& line) {
    std::string text = line.text;
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 5) text.insert(at + 1, "    ");
    {
        const std::lock_guard lock(mutex_);
        waiting_ += fmt::format("{}  {}{}\n", present_time(),
                                line.kind == LogLine::Kind::problem ? "problem: " : "", text);
    }
    const auto done = [](LabState& later, const std::optional<Error>& problem) {
        if (!problem || !later.log_file) return;
        later.log_file.reset();  // notes the problem only once
        note(later, LogLine::Kind::problem, problem->text);
    };
    lab.files->add(
        path_, [file = lab.log_file] { return file->write(); }, done);
}

std::optional<Error> LogFile::write() {
    std::string text;
    {
        const std::lock_guard lock(mutex_);
        text.swap(waiting_);
    }
    const std::filesystem::path full = std::filesystem::path(path_).parent_path() / "log.old.txt";
    return append_to_log(path_, full.string(), text, longest_log);
}

void keep_log(LabState& lab, const std::string& directory) {
    lab.log_file = std::make_shared<LogFile>((std::filesystem::path(directory) / "log.txt").string());
    lab.log_file->add(lab, {"", LogLine::Kind::note, std::string("started Sawtooth ") + build_identity()});
    const std::deque<LogLine> so_far = lab.log;
    for (const LogLine& line : so_far) lab.log_file->add(lab, line);
}

}  // namespace sawtooth
