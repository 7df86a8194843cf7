#pragma once

#include "app/engine/files/archive.h"
#include "app/engine/session/session.h"
#include "app/engine/wire/fields.h"

namespace sawtooth {

// What a session file holds besides the results, and their summaries: the member session.msgpack.
struct SessionIndex {
    std::string program, date;
    std::vector<std::string> machines;
    std::vector<ResultSummary> results;
    std::vector<uint64_t> history;
    std::vector<SessionPin> pins;
    std::vector<SessionSweep> sweeps;
    std::vector<BenchReport> benches;
    std::vector<SessionNote> notes;
    std::string family;
};

// A result in the file: a member of its own. Request and parameters are in the summary.
struct StoredResult {
    std::shared_ptr<const Result> result;
    Figures figures;
};

// A StoredResult as the file has it, with its summary.
struct PackedResult {
    ResultSummary summary;
    Deflated content;
};

SAWTOOTH_FIELDS(ResultSummary::Variant, name, index, median_us, rel_l2, verdict)
SAWTOOTH_FIELDS(ResultSummary, request, parameters, main_output, device, machine, backend, date, variants)
SAWTOOTH_FIELDS(SessionSweep::Cell, index, values, refused, result)
SAWTOOTH_FIELDS(SessionSweep, sweep, cells)
SAWTOOTH_FIELDS(SessionNote, result, family, figure, x, y, variant, launch, text)
SAWTOOTH_FIELDS(SessionPin, result, is_baseline)
SAWTOOTH_FIELDS(SessionIndex, program, date, machines, results, history, pins, sweeps, benches, notes, family)
SAWTOOTH_FIELDS(StoredResult, result, figures)

// The Request without what belongs to the machine that ran it: the command of a worker, and paths.
Request portable(Request request);

// UTC: "2026-11-26 14:03:27".
std::string utc_now();

}  // namespace sawtooth
