#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The lines of the Log in a file that grows over sessions, so that they can be read after the window was
// closed. At a megabyte it is renamed to log.old.txt and replaces an older one.
class LogFile {
  public:
    explicit LogFile(std::string path) : path_(std::move(path)) {}

    const std::string& path() const { return path_; }
    // Writes the line in the background.
    void add(LabState& lab, const LogLine& line);

  private:
    std::optional<Error> write();

    std::string path_;
    std::mutex mutex_;
    std::string waiting_;
};

// Keeps the Log in a file from now on, including the lines it has so far.
void keep_log(LabState& lab, const std::string& directory);

// Appends to the file; first renames it to `full` if it has at least `limit` bytes.
std::optional<Error> append_to_log(const std::string& path, const std::string& full, const std::string& text,
                                   int64_t limit);

}  // namespace sawtooth
