#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/engine/files/file_stamp.h"
#include "app/engine/session/session.h"

namespace sawtooth {

// The session file of a sweep that is being measured. It has the cells so far, so that an interrupted sweep
// can be continued; whatever else the session has stays. The file always appears whole, and an existing one
// stays as it is until the first cell is written.
class SweepFile {
  public:
    // A new sweep in the session, which is created if it does not exist. Errors: those of read_session;
    // usage: this build does not know all of it.
    static Outcome<SweepFile> added(const std::string& path, const Sweep& sweep);
    // The same, but continues the last sweep of the session that is equal. Usage error: it has only others.
    static Outcome<SweepFile> resumed(const std::string& path, const Sweep& sweep);

    // Puts the cells that the file has into a sweep that has none (`unmeasured`). Errors: those of
    // open_sweep.
    std::optional<Error> fill(SweepResult& result) const;

    // Adds a cell, and writes the file unless that was done within the last two seconds. A failure to write
    // is returned by `write`, at the end.
    void add(size_t index, const SweepCell& cell);
    // Writes what was added, beside what others have added to the file meanwhile. Returns what went wrong.
    std::optional<Error> write();

  private:
    struct Added {
        SessionSweep::Cell cell;
        std::optional<SessionResult> result;
    };

    SweepFile(std::string path, Session session, size_t sweep, bool is_in_file)
        : path_(std::move(path)),
          session_(std::move(session)),
          sweep_(sweep),
          is_in_file_(is_in_file),
          stamp_(stamp_of(path_)) {}
    std::optional<Error> take_session_of_others();

    std::string path_;
    Session session_;
    size_t sweep_;     // its index in the session
    bool is_in_file_;  // whether the file has the sweep
    FileStamp stamp_;  // of the file that has what the session has
    std::vector<Added> added_;
    std::optional<std::chrono::steady_clock::time_point> written_;
};

// A session for `joined`. Errors: those of read_session; usage: it has no sweep, or parts that this build
// does not know.
struct ShardFile {
    std::string path;
    Session session;
};
Outcome<ShardFile> read_shard(const std::string& path, std::stop_token stop = {});

// One session with one sweep, the last of the first file, and the cells of all files. Of a cell that several
// have, the first file with a result counts, and of its equal sweeps the newest. Usage error: a file has only
// other sweeps.
Outcome<Session> joined(const std::vector<ShardFile>& shards);

// The first sweep of a session with all its cells, those that were not measured included (`unmeasured`).
// Errors: those of open_sweep.
Outcome<SweepResult> whole_sweep(const Session& session);

}  // namespace sawtooth
