#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/engine/session/session.h"

namespace sawtooth {

// The session file of a sweep that is being measured: it has the cells so far, so that an interrupted sweep
// can be continued. It always appears whole.
class SweepFile {
  public:
    // A file that has no cell yet; an existing one stays until the first cell is written.
    SweepFile(std::string path, const Sweep& sweep);
    // The same with the cells of the existing file, if there is one. Errors: those of read_session; usage: it
    // has another sweep.
    static Outcome<SweepFile> resumed(const std::string& path, const Sweep& sweep);

    const Session& session() const { return session_; }

    // Adds a cell, and writes the file if that was not done within the last two seconds: a failure to write
    // is returned by `write`, at the end.
    void add(size_t index, const SweepCell& cell);
    // Writes what was added. Returns what went wrong.
    std::optional<Error> write();

  private:
    std::string path_;
    Session session_;
    std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

// Puts the cells of the first sweep of the session into a sweep that has none (`unmeasured`). Errors: those
// of open_sweep.
std::optional<Error> fill(SweepResult& result, const Session& session);

// The sweep of a file for `join`. Errors: those of read_session; usage: it does not have exactly one sweep.
struct ShardFile {
    std::string path;
    Session session;
};
Outcome<ShardFile> read_shard(const std::string& path, std::stop_token stop = {});

// One session with the cells of all files. Of a cell that several have, the first one with a result stays.
// Usage error: one is of another sweep.
Outcome<Session> joined(const std::vector<ShardFile>& shards);

}  // namespace sawtooth
