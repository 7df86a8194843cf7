#include "app/engine/files/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "app/engine/files/descriptor.h"
#include "app/engine/files/host_name.h"

namespace sawtooth {
namespace {

namespace fs = std::filesystem;

// Removes the file if it still exists.
class Removal {
  public:
    explicit Removal(std::string path) : path_(std::move(path)) {}
    ~Removal() { ::unlink(path_.c_str()); }
    Removal(const Removal&) = delete;
    Removal& operator=(const Removal&) = delete;

  private:
    std::string path_;
};

Error failure(const std::string& path, int number) {
    return Error::failure(fmt::format("{}: cannot be written: {}", path, std::strerror(number)));
}

std::string folder_of(const std::string& path) {
    const std::string folder = fs::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

// The name of a temporary file beside the target: ".NAME.HOST.PID-COUNT.tmp". It names the machine, because
// others may write into the same folder.
std::string temporary_beside(const std::string& path) {
    static std::atomic<int> count = 0;
    const std::string name = fs::path(path).filename().string().substr(0, 120);  // names end at 255 bytes
    return (fs::path(folder_of(path)) /
            fmt::format(".{}.{}.{}-{}.tmp", name, host_name(), ::getpid(), count++))
        .string();
}

// Returns whether this is such a temporary file, or one that a library made beside it, and its process is
// gone.
bool is_left_over(const std::string& name) {
    const size_t end = name.rfind(".tmp"), dash = name.rfind('-', end);
    if (!name.starts_with('.') || end == std::string::npos || dash == std::string::npos) return false;
    const size_t dot = name.rfind('.', dash);
    pid_t process = 0;
    const char* const digits = name.data() + dot + 1;
    const auto parsed = std::from_chars(digits, name.data() + dash, process);
    const std::string host = "." + host_name();
    return dot != std::string::npos && parsed.ptr == name.data() + dash && parsed.ec == std::errc{} &&
           process > 0 && std::string_view(name).substr(0, dot).ends_with(host) && ::kill(process, 0) != 0 &&
           errno == ESRCH;
}

// Removes the temporary files that killed processes left behind.
void remove_left_over(const std::string& folder) {
    std::error_code ignored;
    for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
        std::error_code unknown;
        if (is_left_over(at->path().filename().string()) && at->is_regular_file(unknown))
            ::unlink(at->path().c_str());
    }
}

// The target of a link, even if it does not exist: writing there keeps the link.
std::string resolved(const std::string& path) {
    fs::path file = path;
    std::error_code problem;
    for (int links = 0; links < 40 && fs::is_symlink(file, problem); ++links)
        file =
            file.parent_path() / fs::read_symlink(file, problem);  // an absolute target replaces the folder
    return file.string();
}

// The stream that "-" or a file is. Standard output or error may go to a file, which /dev/stdout then is:
// replacing that file would lose what was printed.
std::optional<int> stream_of(const std::string& path) {
    if (path == "-") return STDOUT_FILENO;
    struct stat file {};
    struct stat stream {};
    if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return {};
    for (const int number : {STDOUT_FILENO, STDERR_FILENO})
        if (::fstat(number, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino)
            return number;
    return {};
}

enum class Target { absent, regular, special, folder };

Target look_at(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return Target::absent;
    if (S_ISREG(status.st_mode)) return Target::regular;
    return S_ISDIR(status.st_mode) ? Target::folder : Target::special;
}

// Writes directly to a device or a pipe, which cannot be replaced by a rename.
std::optional<Error> write_through(const std::string& path, std::string_view content) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file) return failure(path, errno);
    if (const int problem = write_all(file.number(), content)) return failure(path, problem);
    if (!file.close()) return failure(path, errno);
    return {};
}

int flush(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file || ::fsync(file.number()) != 0 || !file.close()) return errno;
    return 0;
}

// The permissions of the file that is replaced; absent if there is none.
std::optional<mode_t> mode_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return status.st_mode & 07777;
}

std::optional<std::string> write_new(const std::string& path, std::string_view content, mode_t mode) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!file) return std::strerror(errno);
    if (const int problem = write_all(file.number(), content)) return std::strerror(problem);
    if (!file.close()) return std::strerror(errno);
    return {};
}

// $HOME, or the home folder that the system knows; never a folder that others may write.
std::string home() {
    const char* const named = std::getenv("HOME");
    if (named && *named == '/') return named;
    const passwd* const user = ::getpwuid(::getuid());
    return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir : "/nonexistent";
}

std::string directory_for(const char* variable, const char* below_home) {
    const char* named = std::getenv(variable);
    fs::path base = named && *named == '/' ? fs::path(named) : fs::path(home()) / below_home;
    const fs::path directory = base / "sawtooth";
    std::error_code ignored;  // a later write reports the problem
    fs::create_directories(directory, ignored);
    return directory.string();
}

}  // namespace

bool is_standard_output(const std::string& path) { return stream_of(path) == STDOUT_FILENO; }

int write_all(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        content.remove_prefix(static_cast<size_t>(written));
    }
    return 0;
}

std::optional<Error> check_writable(const std::string& path) {
    if (stream_of(path)) return {};
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 && errno != ENOENT)
        return failure(path, errno);  // a loop of links
    const std::string file = resolved(path);
    const Target target = look_at(file);
    if (target == Target::folder) return failure(path, EISDIR);
    if (target != Target::absent && ::access(file.c_str(), W_OK) != 0) return failure(path, errno);
    if (target == Target::special) return {};
    const std::string folder = folder_of(file);
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        return Error::failure(fmt::format("{}: cannot be written: no folder {}", path, folder));
    if (::access(folder.c_str(), W_OK | X_OK) != 0) return failure(path, errno);
    return {};
}

std::optional<Error> check_replaceable(const std::string& path) {
    if (path == "-" || look_at(path) == Target::special)
        return Error::failure(fmt::format("{}: cannot be written: not a regular file", path));
    if (stream_of(path))
        return Error::failure(fmt::format("{}: cannot be written: what is printed goes there", path));
    return check_writable(path);
}

std::optional<Error> write_file_with(
    const std::string& path, const std::function<std::optional<std::string>(const std::string&)>& writer) {
    if (auto problem = check_replaceable(path)) return problem;
    const std::string file = resolved(path);
    remove_left_over(folder_of(file));
    const std::string temporary = temporary_beside(file);
    const Removal removal(temporary);
    if (const auto problem = writer(temporary))
        return Error::failure(fmt::format("{}: cannot be written: {}", path, *problem));
    if (const auto mode = mode_of(file)) ::chmod(temporary.c_str(), *mode);
    if (const int problem = flush(temporary)) return failure(path, problem);
    if (::rename(temporary.c_str(), file.c_str()) != 0) return failure(path, errno);
    return {};
}

std::optional<Error> write_file(const std::string& path, std::string_view content) {
    if (const auto stream = stream_of(path)) {
        const int problem = write_all(*stream, content);
        // EPIPE is no error: the reader closed the pipe because it needs no more, as in `sawtooth list |
        // head`.
        if (problem && problem != EPIPE) return failure(path == "-" ? "standard output" : path, problem);
        return {};
    }
    if (look_at(path) == Target::special) return write_through(path, content);
    const mode_t mode = mode_of(resolved(path)).value_or(0666);
    return write_file_with(path,
                           [&](const std::string& temporary) { return write_new(temporary, content, mode); });
}

Outcome<std::string> read_file(const std::string& path, int64_t limit) {
    const auto failed = [&](int number) {
        return Error::failure(fmt::format("{}: cannot be read: {}", path, std::strerror(number)));
    };
    // Opening a pipe would wait without O_NONBLOCK.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return failed(errno);
    struct stat status {};
    if (::fstat(file.number(), &status) == 0 && !S_ISREG(status.st_mode))
        return Error::failure(path + ": cannot be read: not a regular file");
    std::string content;
    char part[1 << 14];
    while (true) {
        const ssize_t count = ::read(file.number(), part, sizeof part);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failed(errno);
        if (count == 0) return content;
        if (static_cast<int64_t>(content.size()) + count > limit)
            return Error::failure(fmt::format("{}: longer than {} bytes", path, limit));
        content.append(part, static_cast<size_t>(count));
    }
}

std::string cache_directory() { return directory_for("XDG_CACHE_HOME", ".cache"); }
std::string config_directory() { return directory_for("XDG_CONFIG_HOME", ".config"); }
std::string state_directory() { return directory_for("XDG_STATE_HOME", ".local/state"); }

std::optional<int64_t> leading_number_in(const std::string& path) {
    std::ifstream file(path);
    int64_t number = 0;
    if (file >> number) return number;
    return {};
}

std::optional<std::string> find_asset(const std::string& name) {
    std::error_code problem;
    const fs::path program = fs::read_symlink("/proc/self/exe", problem).parent_path();
    std::vector<fs::path> places;
    if (!problem) places = {program / "assets", program / "../share/sawtooth/assets"};
#ifdef SAWTOOTH_SOURCE_DIR
    places.emplace_back(fs::path(SAWTOOTH_SOURCE_DIR) / "assets");
#endif
    for (const fs::path& place : places)
        if (fs::exists(place / name, problem)) return (place / name).lexically_normal().string();
    return {};
}

Outcome<bool> make_folder(const std::string& path) {
    struct stat status {};
    if (::mkdir(path.c_str(), 0777) == 0) return true;
    const int problem = errno;
    if (problem == EEXIST && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return false;
    return Error::failure(path + ": cannot create the folder: " + std::strerror(problem));
}

}  // namespace sawtooth
