#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/engine/sources/source.h"
#include "app/engine/tables/bench.h"
#include "kernels/core/request.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// What lists show of a result, without reading the whole of it.
struct ResultSummary {
    Request request;  // without `on`, `kernels` and `input`: they are of the machine that ran it
    Parameters parameters;
    std::string main_output, device;
    std::string machine;  // "H200, driver 570.1": where it was measured
    Backend backend = Backend::cpu;
    std::string date;  // when it was measured, UTC: "2026-11-26 14:03:27"
    struct Variant {
        std::string name;
        int index = 0;                            // decides its colour
        std::optional<double> median_us, rel_l2;  // of the main output
        Verdict verdict = Verdict::pending;
    };
    std::vector<Variant> variants;  // those that ran
};

struct PackedResult;

// A complete result and, if it was shown, its figures, in little memory: both are packed as in the file.
// Array data is left out. Immutable, cheap to copy.
class SessionResult {
  public:
    SessionResult() = default;
    // `date` "": now. It takes a few milliseconds.
    explicit SessionResult(const Result& result, Figures figures = {}, std::string date = "");
    explicit SessionResult(std::shared_ptr<const PackedResult> packed) : packed_(std::move(packed)) {}

    const ResultSummary& summary() const;
    struct Opened {
        std::shared_ptr<const Result> result;  // its arrays have no data
        Figures figures;                       // empty if none were kept
    };
    // Failure: the bytes are those of a damaged file.
    Outcome<Opened> open() const;
    // Null if nothing was put into it.
    const std::shared_ptr<const PackedResult>& packed() const { return packed_; }

  private:
    std::shared_ptr<const PackedResult> packed_;
};

// A sweep of a session: its cells are results of the session.
struct SessionSweep {
    Sweep sweep;
    struct Cell {
        uint64_t index = 0;  // in the order of Sweep
        std::vector<Value> values;
        std::string refused;             // why it did not run; "" if it did
        std::optional<uint64_t> result;  // index in Session::results
    };
    std::vector<Cell> cells;  // those that have run, in order; a shard of a sweep has only some
};

// A text mark on a figure of a result, or on a launch of a variant.
struct SessionNote {
    std::optional<uint64_t> result;  // index in Session::results; absent: on the figure of any result
    std::string family, figure;      // the id of the figure; "" for a launch
    double x = 0, y = 0;             // on its axes
    std::string variant;             // of a launch
    uint64_t launch = 0;             // its index
    std::string text;
};

struct SessionPin {
    uint64_t result = 0;  // index in Session::results
    bool is_baseline = false;
};

// What a .sawtooth file holds.
struct Session {
    // These three are set by write_session.
    std::string program;                 // the build that wrote it
    std::string date;                    // when it was written, UTC
    std::vector<std::string> machines;   // those of the results
    std::vector<SessionResult> results;  // in the order in which they were measured
    std::vector<uint64_t> history;       // indices of the last results that were shown, the newest last
    std::vector<SessionPin> pins;
    std::vector<SessionSweep> sweeps;
    std::vector<BenchReport> benches;
    std::vector<SessionNote> notes;
    std::string family;  // the one that was shown; "" from the command line
};

// Adds a sweep and the results of its cells.
void add_sweep(Session& session, const SweepResult& sweep);
// A sweep of the session with the results of its cells; the cells of one with gaps are as in `unmeasured`.
// Errors: those of SessionResult::open.
Outcome<SweepResult> open_sweep(const Session& session, const SessionSweep& sweep);

// Reads a whole .sawtooth file. Runs nothing, and no text of it becomes a path or a command. Errors: one line
// that names the file and what is wrong in it, a usage error; or `cancelled`. Parameters that this build does
// not know, and results of families that it does not have, are left out, each with a line in `notes`.
struct ReadSession {
    Session session;
    std::vector<std::string> notes;
    bool is_partial = false;  // whether it would lose results or sweeps if it were written again
};
Outcome<ReadSession> read_session(const std::string& path, std::stop_token stop = {});

// Writes it whole or not at all (a temporary file, then rename). Returns what went wrong.
std::optional<Error> write_session(const std::string& path, Session session);

}  // namespace sawtooth
