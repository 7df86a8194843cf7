#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/engine/check/report.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/runner.h"
#include "app/engine/store/result_store.h"
#include "app/engine/tables/bench.h"
#include "kernels/core/figure.h"
#include "kernels/core/request.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// The messages between a worker and its client. Both start with Hello. Then the client sends jobs, which the
// worker runs one after another; every answer has the number of its job. A job ends with a Shown that has a
// complete result, or with CellDone, Checked, BenchDone, FiguresMade, ArrayPart, DevicesFound or Failed.

// Raised only when messages of older builds would be misunderstood: fields that are added, or left out, need
// no new format (fields.h).
constexpr int wire_format = 10;

using JobNumber = uint64_t;
using Bytes = std::vector<uint8_t>;

// The first message in each direction.
struct Hello {
    std::string program;  // the build identity of the sender; those of the two ends may differ
    int format = 0;
    uint64_t schema = 0;  // a hash of all messages, their fields and types
    std::string device;   // the processor of the worker; "" from the client
    bool packs = false;   // asks the worker to pack its messages, for a slow connection
};

// A part of the client's input file, sent before the job that reads it.
struct FilePart {
    bool first = false;  // the first part of a file, which replaces the previous file
    Bytes bytes;
};
constexpr size_t file_part_bytes = size_t{1} << 20;

struct RunJob {
    JobNumber job = 0;
    ResultId id = 0;  // the name of the result for later jobs
    Request request;
    bool sent_input = false;   // its input file was sent before, in parts
    std::optional<View> view;  // absent: no figures requested
};
struct CellJob {
    JobNumber job = 0;
    Sweep sweep;
    bool sent_input = false;
    uint64_t cell = 0;
};
struct CheckJob {
    JobNumber job = 0;
    CheckRequest request;
};
// Runs the cases of bench of these families; all if there are none.
struct BenchJob {
    JobNumber job = 0;
    std::vector<std::string> families;
    Request base;
};
// Requests new figures of a result.
struct LookJob {
    JobNumber job = 0;
    ResultId id = 0;
    View view;
    Parameters figure_parameters;
};
// Requests a part of one array of a result; `array` counts as in `arrays_of`.
struct FetchJob {
    JobNumber job = 0;
    ResultId id = 0;
    uint64_t array = 0, offset = 0;
};
constexpr size_t array_part_bytes = size_t{16} << 20;
// Asks which devices the worker has. If a driver hangs, the worker hangs with it.
struct DevicesJob {
    JobNumber job = 0;
    bool tries_counters = false;
    bool measures_limits = false;
};
// Names the results that stay in the worker; the others may leave it. It has no answer.
struct KeepResults {
    std::vector<ResultId> ids;
};
struct CancelJob {
    JobNumber job = 0;
};

struct Alive {};  // sent five times a second while there is work
struct Said {
    JobNumber job = 0;
    Progress progress;
};
struct Shown {
    JobNumber job = 0;
    std::shared_ptr<const Result> result;  // without array data, which stays in the worker
    std::shared_ptr<const std::vector<Figure>> figures;
    double figures_ms = 0;  // what they took
};
struct CellDone {
    JobNumber job = 0;
    SweepCell cell;
};
struct Checked {
    JobNumber job = 0;
    CheckReport report;  // the report so far
};
struct BenchDone {
    JobNumber job = 0;
    BenchReport report;
};
struct FiguresMade {
    JobNumber job = 0;
    std::shared_ptr<const std::vector<Figure>> figures;
};
struct ArrayPart {
    JobNumber job = 0;
    Bytes bytes;  // starts at the requested offset; at most array_part_bytes
};
struct DevicesFound {
    JobNumber job = 0;
    Devices devices;
};
struct Failed {
    JobNumber job = 0;
    Error error;
    bool ending = false;  // the worker cannot continue and exits
};

using ToWorker = std::variant<Hello, FilePart, RunJob, CellJob, CheckJob, BenchJob, LookJob, FetchJob,
                              DevicesJob, KeepResults, CancelJob>;
using FromWorker = std::variant<Hello, Alive, Said, Shown, CellDone, Checked, BenchDone, FiguresMade,
                                ArrayPart, DevicesFound, Failed>;

Hello hello_from(const std::string& device);

// The message in MessagePack, without the length prefix.
std::string encode(const ToWorker& message);
std::string encode(const FromWorker& message);

// Parses a message. Failure, with the reason: the bytes cannot be parsed, are no message, or contain a figure
// whose lists do not fit together.
Outcome<ToWorker> decode_to_worker(std::string_view bytes);
Outcome<FromWorker> decode_from_worker(std::string_view bytes);

// "" if the other end has the same messages, otherwise the end of a sentence about one that could not be
// understood.
std::string other_build(const Hello& other);

// Why this end cannot work with the sender of that Hello, and what to do; nullopt if it can.
std::optional<std::string> version_refusal(const Hello& other);

}  // namespace sawtooth
