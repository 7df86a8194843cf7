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

// Writes files in the background, one after another, so that a slow disk delays no frame. The destructor
// finishes what waits.
class FileWriter {
  public:
    using Write = std::function<std::optional<Error>()>;
    using Done = std::function<void(LabState&, const std::optional<Error>&)>;

    // `wake` is called in the background after every write.
    explicit FileWriter(std::function<void()> wake = {}) : wake_(std::move(wake)) {}

    // `write` writes the file at `path`, and replaces a waiting write of the same path.
    void add(const std::string& path, Write write, Done done);
    // Calls `done` for every finished write.
    void take_written(LabState& lab);

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
    std::jthread thread_;  // from the first write on; ends before the members above
};

}  // namespace sawtooth
