#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace sawtooth {

// The version of a file: if its size or time has changed since it was read, it must be read again.
struct FileStamp {
    std::string path;
    int64_t size = -1, seconds = 0, nanoseconds = 0;  // size -1: no such file
    bool operator==(const FileStamp&) const = default;
};

inline FileStamp stamp_of(const std::string& path) {
    struct stat status = {};
    if (path.empty() || ::stat(path.c_str(), &status) != 0) return {path};
    return {path, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

}  // namespace sawtooth
