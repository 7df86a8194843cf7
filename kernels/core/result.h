#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/core/launch.h"
#include "kernels/core/request.h"

namespace sawtooth {

struct Metric {
    std::string id, label, unit;
    std::optional<double> value;  // absent: not known
};

// How far one output is from the reference. Values that are not finite are counted apart.
struct OutputError {
    std::string output;
    std::optional<double> max_abs;
    std::optional<double> rel_l2;  // absent where the reference is all zeros
    int64_t nonfinite = 0;
    std::optional<int64_t> first_nonfinite;
    std::vector<float> by_position;  // max over the other axes along the sequence; empty where there is none
};

struct TimeStatistics {
    double median = 0, q1 = 0, q3 = 0;  // microseconds, first launch's start to last launch's end
    std::vector<double> samples;
};

// One worker (a thread of the pool) at work, in microseconds from the repeat's first launch.
struct BusySpan {
    int worker = 0;
    double start_us = 0, end_us = 0;
};

struct Occupancy {
    std::optional<double> theoretical, achieved;  // 0 to 1
    std::string limiter;
    int blocks = 0;  // thread blocks that fit on a multiprocessor; 0: not known
};

// Of a run of more launches the first so many are kept: one a token would fill the memory.
constexpr size_t most_kept_launches = size_t{1} << 14;

struct LaunchRecord {
    std::shared_ptr<const LaunchInfo> info;
    double start_us = 0, duration_us = 0;
    std::vector<BusySpan> busy;
    Tally tally;
    Occupancy occupancy;
    std::map<std::string, double> counters;
};

// What the compiler and the occupancy rules say of a launch of the CUDA form, for a chip that need not be
// there.
struct CompiledLaunch {
    std::string launch, architecture;
    Resources resources;
    Occupancy occupancy;  // theoretical
};

struct Track {
    std::string name, unit;
    double start_us = 0, step_us = 0;
    std::vector<double> values;
};

struct VariantResult {
    std::string name;
    int index = 0;        // its place among the family's variants: what gives it its colour
    std::string refused;  // why it could not run; "" where it did
    bool exact = true;    // equals the reference at these parameters, but for rounding
    Arrays outputs;
    std::vector<OutputError> errors;  // one an output, in the order of the outputs
    int64_t memory_bytes = 0;
    std::optional<TimeStatistics> time;
    std::vector<LaunchRecord> launches;  // of the median repeat, at most most_kept_launches: the first ones
    int64_t launch_count = 0;            // all of a repeat
    std::vector<CompiledLaunch> compiled;
    std::vector<Track> tracks;
    std::vector<Metric> metrics;

    bool ran() const { return refused.empty(); }
};

// Measured once a machine and number of threads, and kept.
struct Ceilings {
    std::string processor, date;        // of the CPU or the GPU; date: YYYY-MM-DD
    int threads = 0;                    // of the CPU
    double copy_bytes_per_second = 0;   // read + write
    double triad_bytes_per_second = 0;  // two read, one written
    double operations_per_second = 0;   // f32 multiply and add, each counted
    double launch_us = 0;               // an empty launch, waited for

    // Of a GPU alone: products on the tensor cores, and an empty launch in a chain of many.
    struct Gpu {
        double bf16_operations_per_second = 0;
        double launch_stream_us = 0, launch_graph_us = 0;
        std::optional<double> launch_programmatic_us;  // where a launch may begin before the last one ends
    };
    std::optional<Gpu> gpu = {};
};

// A copy on the same device, timed as variants are.
struct Copy {
    double bytes = 0;  // read and written together: as many as the request must move
    double us = 0;

    double gigabytes_per_second() const { return bytes / us / 1e3; }
};

// Of a GPU's multiprocessors, around the timed repeats.
struct Clocks {
    double before_mhz = 0, after_mhz = 0, highest_mhz = 0;
    std::string throttled;  // why it ran slower than it can, "" where it did not
};

// One part of the way from a Request to its outputs.
struct Hop {
    std::string name;
    double ms = 0;
};

struct Result {
    Request request;
    Parameters parameters;           // all of them, as they were in force
    Backend backend = Backend::cpu;  // where the launches ran
    std::string device;
    int processors = 0;  // threads of the pool, multiprocessors of a GPU
    Arrays inputs, reference;
    Work work;
    std::vector<VariantResult> variants;  // in the family's order
    std::optional<Ceilings> ceilings;
    std::optional<Copy> copy;
    std::optional<Clocks> clocks;
    std::vector<std::string> notes;
    std::vector<Hop> hops;  // from the Request to the outputs and errors of all variants, in order
    bool complete = false;  // false: a partial result on the way
};

const VariantResult* find(const Result& result, std::string_view variant);

}  // namespace sawtooth
