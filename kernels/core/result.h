#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/core/launch.h"
#include "kernels/core/request.h"

namespace sawtooth {

struct Metric {
    std::string id, label, unit;
    std::optional<double> value;  // absent: unknown
};

inline constexpr const char* share_of_copy = "of same-size copy";  // the label of the metric "of_copy"

// The errors of one output against the reference. Non-finite values are counted separately.
struct OutputError {
    std::string output;
    std::optional<double> max_abs;
    std::optional<double> rel_l2;  // absent if the reference is all zeros
    int64_t nonfinite = 0;
    std::optional<int64_t> first_nonfinite;
    // The largest error at each position of the sequence axis, NaN if there is no reference there; empty if
    // there is no such axis.
    std::vector<float> by_position;
};

// Whether a kernel computes what its variant defines.
enum class Verdict {
    pending,  // not judged yet
    right,    // every element is as close to the definition as rounding allows
    wrong,
    cannot_judge,  // rounding alone may change the output by as much as its size
};

std::string_view name_of(Verdict verdict);  // "right", "cannot_judge"

// An element of an output; if it is complex, the part with the larger error.
struct JudgedElement {
    Shape index;
    double got = 0, want = 0;
    double bound = 0;   // the largest error that rounding explains
    std::string where;  // "row 1 of tile 2 of BLOCK_M"
};

// What JudgedElement::where says of an output that two runs computed differently: `want` is of the first.
inline constexpr const char* changed_between_repeats = "changed between the first run and the last repeat";

struct OutputVerdict {
    std::string output;
    Verdict verdict = Verdict::pending;
    int64_t judged = 0;                       // elements compared
    int64_t elements = 0;                     // how many of these are wrong
    std::optional<double> rel_l2 = {};        // the distance to the definition; absent if that is all zeros
    std::optional<JudgedElement> worst = {};  // the one with the largest error relative to its bound
};

struct TimeStatistics {
    double median = 0, q1 = 0, q3 = 0;  // microseconds, start of the first launch to end of the last
    std::vector<double> samples = {};
    // The indices of samples in which a thread of the run waited for a core or the clock of the GPU changed.
    std::vector<int64_t> disturbed = {};
};

// A time in which one worker (a thread of the pool) is busy, in microseconds from the first launch of the
// repeat.
struct BusySpan {
    int worker = 0;
    double start_us = 0, end_us = 0;
};

struct Occupancy {
    std::optional<double> theoretical, achieved;  // 0 to 1
    std::string limiter;
    int blocks = 0;  // thread blocks that fit on a multiprocessor; 0: not known
};

// The most launches recorded per run; one per token would fill the memory.
constexpr size_t most_kept_launches = size_t{1} << 14;

struct LaunchRecord {
    std::shared_ptr<const LaunchInfo> info;
    double start_us = 0, duration_us = 0;
    std::vector<BusySpan> busy;
    Tally tally;
    Occupancy occupancy;
    std::map<std::string, double> counters;
};

// The resources and the occupancy of a CUDA launch compiled for a chip that need not be present.
struct CompiledLaunch {
    std::string launch, architecture;
    Resources resources;
    Occupancy occupancy;  // theoretical
    int64_t threads = 0;  // of a thread block; 0: not known
};

struct Track {
    std::string name, unit;
    double start_us = 0, step_us = 0;
    std::vector<double> values;
};

struct VariantResult {
    std::string name;
    int index = 0;        // its index among the variants of the family, which decides its colour
    std::string refused;  // why it could not run; "" if it did
    bool exact = true;    // whether it equals the reference up to rounding
    Arrays outputs;
    std::vector<OutputError> errors;      // one per output, in order
    std::vector<OutputVerdict> verdicts;  // likewise
    int64_t memory_bytes = 0;
    Work work;  // the minimum for its outputs; some variants have only a forward pass
    std::optional<TimeStatistics> time;
    std::vector<LaunchRecord> launches;  // of the median repeat, the first most_kept_launches
    int64_t launch_count = 0;            // total per repeat
    std::vector<CompiledLaunch> compiled;
    std::vector<Track> tracks;
    std::vector<Metric> metrics;

    bool ran() const { return refused.empty(); }
    Verdict verdict() const;
};

// Of a GPU only: products on the tensor cores, and the time of an empty launch in a long chain.
struct GpuCeilings {
    double bf16_operations_per_second = 0;
    double launch_stream_us = 0, launch_graph_us = 0;
    std::optional<double> launch_programmatic_us;  // if the chip has such launches
    double l2_read_bytes_per_second = 0;           // of an array that fits into L2; 0: not measured
};

// The highest rates measured on a machine with that many threads. They are kept in the cache and measured
// again when a variant exceeds one.
struct Ceilings {
    std::string processor, date;        // of the CPU or the GPU; date of the last measurement: YYYY-MM-DD
    std::string driver;                 // of the GPU, or the kernel of the system
    double clock_mhz = 0;               // of the cores or SMs while it was measured; 0: not known
    int threads = 0;                    // of the CPU
    double copy_bytes_per_second = 0;   // read + write
    double triad_bytes_per_second = 0;  // two read, one written
    double operations_per_second = 0;   // f32 multiplies and adds, counted separately
    double launch_us = 0;               // an empty launch, waited for
    std::optional<GpuCeilings> gpu = {};
};

// A copy on the same device, measured in turns with the variants.
struct Copy {
    double bytes = 0;  // read and written in total: the minimum of the request
    TimeStatistics time;

    double gigabytes_per_second() const { return bytes / time.median / 1e3; }
};

// SM clocks of a GPU before and after the timed repeats.
struct Clocks {
    double before_mhz = 0, after_mhz = 0, highest_mhz = 0;
    std::string throttled;  // why the clock was reduced; "" if it was not
};

// One step from a Request to its outputs.
struct Hop {
    std::string name;
    double ms = 0;
};

struct Result {
    Request request;
    Parameters parameters;           // all parameters in effect
    std::string main_output;         // the one whose error stands for a variant
    Backend backend = Backend::cpu;  // where the launches ran
    std::string device;
    std::string host;    // the name of the machine where it ran; "" if unknown
    int processors = 0;  // threads of the pool, SMs of a GPU
    Arrays inputs, reference;
    Work work;
    std::vector<VariantResult> variants;  // in the order of the family
    std::optional<Ceilings> ceilings;
    std::optional<Copy> copy;
    std::optional<Clocks> clocks;
    // Whether the repeats of all variants took turns, so that sample i of each was measured in the same
    // round.
    bool in_turns = false;
    std::vector<std::string> notes;
    std::vector<Hop> hops;  // from the Request to the outputs and errors of all variants, in order
    bool timed = false;     // false: times are still missing
    bool complete = false;  // false: times or verdicts are still missing
};

const VariantResult* find(const Result& result, std::string_view variant);

}  // namespace sawtooth
