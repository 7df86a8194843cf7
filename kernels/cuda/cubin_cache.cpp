#include "kernels/cuda/cubin_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "kernels/cuda/fingerprint.h"

namespace sawtooth::cuda {
namespace {

namespace fs = std::filesystem;

// A file has the fingerprint of all that follows, then the key, the kernels, the warnings and the cubin.
// Numbers and names are words; texts are preceded by their size.
std::string fingerprint_of(const std::string& content) {
    Fingerprint fingerprint;
    fingerprint.add(content);
    return fingerprint.hex();
}

std::string content_of(const std::string& key, const Compiled& compiled) {
    std::ostringstream content;
    content << key << ' ' << compiled.kernels.size() << '\n';
    for (const auto& [name, resources] : compiled.kernels)
        content << name << ' ' << resources.registers << ' ' << resources.shared_bytes << ' '
                << resources.spill_bytes << ' ' << resources.barriers << '\n';
    content << compiled.log.size() << ' ' << compiled.cubin.size() << '\n' << compiled.log << compiled.cubin;
    return content.str();
}

// Reads a file whose fingerprint was right, so its sizes and counts can be trusted.
Compiled compiled_from(const std::string& content) {
    Compiled compiled;
    std::istringstream words(content);
    size_t kernels = 0, log_bytes = 0, cubin_bytes = 0;
    words >> compiled.key >> kernels;
    for (size_t i = 0; i < kernels; ++i) {
        std::string name;
        Resources resources;
        words >> name >> resources.registers >> resources.shared_bytes >> resources.spill_bytes >>
            resources.barriers;
        compiled.kernels[name] = resources;
    }
    words >> log_bytes >> cubin_bytes;
    const size_t texts = static_cast<size_t>(words.tellg()) + 1;
    compiled.log = content.substr(texts, log_bytes);
    compiled.cubin = content.substr(texts + log_bytes, cubin_bytes);
    return compiled;
}

bool write_all(int file, const std::string& text) {
    for (size_t at = 0; at < text.size();) {
        const ssize_t written = ::write(file, text.data() + at, text.size() - at);
        if (written <= 0) return false;
        at += static_cast<size_t>(written);
    }
    return true;
}

}  // namespace

CubinCache::CubinCache(std::string directory, int64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

std::optional<Compiled> CubinCache::find(const std::string& key) const {
    if (directory_.empty()) return {};
    const std::string path = directory_ + "/" + key;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    constexpr size_t digits = 32;
    if (!file || all.size() <= digits) return {};
    const std::string content = all.substr(digits + 1);
    if (fingerprint_of(content) != all.substr(0, digits)) return {};
    Compiled compiled = compiled_from(content);
    if (compiled.key != key) return {};
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // marks the file as just used
    return compiled;
}

void CubinCache::keep(const std::string& key, const Compiled& compiled) const {
    if (directory_.empty()) return;
    std::error_code ignored;
    fs::create_directories(directory_, ignored);
    std::string temporary = directory_ + "/new-XXXXXX";
    const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (file < 0) return;
    const std::string content = content_of(key, compiled);
    const bool written = write_all(file, fingerprint_of(content) + "\n" + content);
    if (::close(file) != 0 || !written || ::rename(temporary.c_str(), (directory_ + "/" + key).c_str()) != 0)
        ::unlink(temporary.c_str());
    else
        make_room();
}

CubinCache::Turn CubinCache::turn(const std::string& key, const std::stop_token& stop) const {
    if (directory_.empty()) return {"", -1};
    const std::string folder = directory_ + "-locks", path = folder + "/" + key;
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || stop.stop_requested()) {
            ::close(file);
            return {"", -1};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {path, file};
}

// Whoever waits for the removed file gets its turn next, and finds the kernel in the cache.
CubinCache::Turn::~Turn() {
    if (file_ < 0) return;
    ::unlink(path_.c_str());
    ::close(file_);
}

void CubinCache::make_room() const {
    struct File {
        fs::path path;
        int64_t bytes;
        fs::file_time_type used;
    };
    std::vector<File> files;
    int64_t total = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory_, ignored)) {
        // Another process may have removed it.
        std::error_code gone;
        const File file{entry.path(), static_cast<int64_t>(entry.file_size(gone)),
                        entry.last_write_time(gone)};
        if (gone) continue;
        total += file.bytes;
        files.push_back(file);
    }
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
    for (const File& file : files) {
        if (total <= limit_bytes_) return;
        fs::remove(file.path, ignored);
        total -= file.bytes;
    }
}

}  // namespace sawtooth::cuda
