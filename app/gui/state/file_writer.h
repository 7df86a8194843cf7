#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth {

struct LabState;

// Writes files in the background, one after another, so that a slow disk does not delay a frame. The
// destructor completes the waiting writes.
class FileWriter {
  public:
    using Write = std::function<std::optional<Error>()>;
    using Done = std::function<void(LabState&, const std::optional<Error>&)>;

    // `wake` is called on the background thread after every write.
    explicit FileWriter(std::function<void()> wake = {}) : wake_(std::move(wake)) {}

    // Adds a write: `write` writes the file at `path`. A waiting write of the same path is replaced.
    void add(const std::string& path, Write write, Done done);
    // Calls `done` for every finished write.
    void take_written(LabState& lab);
    // The same, after all waiting writes.
    void finish(LabState& lab);

  private:
    struct Job {
        std::string path;
        Write write;
        Done done;
    };
    struct Written {
        Done done;
        std::optional<Error> problem;
    };
    void write_until(const std::stop_token& stop);

    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Job> waiting_;
    std::vector<Written> written_;
    std::jthread thread_;  // started by the first write; ends before the members above
};

}  // namespace sawtooth
