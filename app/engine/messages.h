#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/engine/runner.h"
#include "kernels/core/figure.h"
#include "kernels/core/request.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// What a worker and its client say to each other. Both begin with Hello, at once. Then the client gives jobs,
// which the worker does one after the other; every answer carries the number of its job. A job ends with
// Shown of a complete result, CellDone, FiguresMade, ArrayPart or Failed.

constexpr int protocol_version = 4;

using JobNumber = uint64_t;
using Bytes = std::vector<uint8_t>;

// The first message each way.
struct Hello {
    std::string program;  // its version
    int protocol = protocol_version;
    std::string device;  // what the worker computes with, "" from the client
};

// A part of the client's input file, before the job that reads it.
struct FilePart {
    bool first = false;  // of a file, which takes the place of the one before
    Bytes bytes;
};
constexpr size_t file_part_bytes = size_t{1} << 20;

struct RunJob {
    JobNumber job = 0;
    Request request;
    bool sent_input = false;   // its input file came in parts
    std::optional<View> view;  // absent: no figures are wanted
};
struct CellJob {
    JobNumber job = 0;
    Sweep sweep;
    bool sent_input = false;
    uint64_t cell = 0;
};
// Figures of the result that job `of` showed last, anew.
struct LookJob {
    JobNumber job = 0, of = 0;
    View view;
    Parameters figure_parameters;
};
// A part of one array of the result of job `of`, counted as `arrays_of` does.
struct FetchJob {
    JobNumber job = 0, of = 0;
    uint64_t array = 0, offset = 0;
};
constexpr uint64_t array_part_bytes = uint64_t{16} << 20;
struct CancelJob {
    JobNumber job = 0;
};

struct Alive {};  // five times a second while there is something to do
struct Said {
    JobNumber job = 0;
    Progress progress;
};
struct Shown {
    JobNumber job = 0;
    std::shared_ptr<const Result> result;  // its arrays have no data: they stay with the worker
    std::shared_ptr<const std::vector<Figure>> figures;
};
struct CellDone {
    JobNumber job = 0;
    SweepCell cell;
};
struct FiguresMade {
    JobNumber job = 0;
    std::shared_ptr<const std::vector<Figure>> figures;
};
struct ArrayPart {
    JobNumber job = 0;
    Bytes bytes;  // from the offset asked for; at most array_part_bytes
};
struct Failed {
    JobNumber job = 0;
    Error error;
    bool ending = false;  // the worker can do nothing more and ends
};

using ToWorker = std::variant<Hello, FilePart, RunJob, CellJob, LookJob, FetchJob, CancelJob>;
using FromWorker = std::variant<Hello, Alive, Said, Shown, CellDone, FiguresMade, ArrayPart, Failed>;

// MessagePack, without the length that goes before it.
std::string encode(const ToWorker& message);
std::string encode(const FromWorker& message);

// Failure: the bytes are not to be parsed, are no message, or show a figure whose lists do not go together;
// says which of them and why.
Outcome<ToWorker> decode_to_worker(std::string_view bytes);
Outcome<FromWorker> decode_from_worker(std::string_view bytes);

// Why one end cannot work with another that greets so, and what to do; nullopt where it can.
std::optional<std::string> version_refusal(const Hello& other);

// All arrays of a result in one order: inputs, outputs variant by variant, reference.
std::vector<Array*> arrays_of(Result& result);
std::vector<const Array*> arrays_of(const Result& result);

}  // namespace sawtooth
