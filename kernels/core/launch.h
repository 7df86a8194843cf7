#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/core/buffer.h"

struct CUstream_st;

namespace sawtooth {

namespace cpu {
class Pool;
}

// The minimum of bytes and operations, on which GB/s, TFLOP/s, rooflines and predictions are based.
struct Work {
    double bytes = 0;
    double operations = 0;
};

struct Extent {
    int64_t x = 1, y = 1, z = 1;

    bool operator==(const Extent&) const = default;
};

// What the compiler reports for GPU kernels; unknown for CPU launches.
struct Resources {
    int registers = 0;
    int64_t shared_bytes = 0;
    int64_t spill_bytes = 0;
    int barriers = 0;  // of a block, named ones included; 0: not known
};

struct LaunchInfo {
    std::string name;
    std::string meaning;  // one sentence
    Extent grid = {};     // thread blocks; items of the pool on the CPU
    std::string grid_formula = {};
    Extent block = {};                // threads; 1 on the CPU
    Buffers reads = {}, writes = {};  // without absent arrays
    std::optional<Resources> resources = {};
    int64_t scratch_bytes = 0;  // of each worker, on the CPU
    Work work = {};             // bytes of 0 stand for those of the arrays, each read or written once
};

// Where a launch runs: the pool, or a stream of the CUDA driver.
struct Queue {
    cpu::Pool* pool = nullptr;
    CUstream_st* stream = nullptr;
    bool programmatic = false;  // on a stream: whether it may start before the previous launch ends
    std::string error = {};     // the first failure, with the name of the call; "" without a failure
};

// One dispatch to the pool, or one kernel on a stream. Launches of one kind share their info, because there
// may be thousands (one per token).
struct Launch {
    std::shared_ptr<const LaunchInfo> info;
    std::function<void(Queue&)> start;
};

// Counts of what a kernel does, so that tests can verify the algorithm of a variant.
struct Tally {
    int64_t combines = 0;  // applications of the family's operator
    int64_t read = 0;      // elements of the launch's arrays
    int64_t written = 0;

    Tally& operator+=(const Tally& other) {
        combines += other.combines;
        read += other.read;
        written += other.written;
        return *this;
    }
};

}  // namespace sawtooth
