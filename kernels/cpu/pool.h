#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/core/result.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::cpu {

// How items are distributed over the workers. Both ways are static, so the items of a worker never depend on
// timing.
enum class Split {
    contiguous,  // each worker gets one run of neighbouring items
    cyclic,      // item i goes to worker i mod n; for items that wait for earlier ones
};

// The times of one dispatch, in microseconds since Pool::start_recording.
struct DispatchRecord {
    double start_us = 0, end_us = 0;
    int64_t items = 0;
    std::vector<BusySpan> busy;  // one per worker that had items
    Tally tally;
};

// An item and its dispatch.
struct Item {
    int64_t index = 0;
    int worker = 0;
    Tally& tally;  // of this worker
    const std::stop_token& stop;
    Scratch scratch;  // of this worker; an item takes memory from a copy of it
};

// Threads that run dispatches one after another. The dispatching thread is worker 0. A launch on the CPU is
// one dispatch, and every dispatch is recorded.
class Pool {
  public:
    explicit Pool(int threads);  // 0: one per core
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int threads() const;

    // Calls work(item) for 0 … items - 1. Returns when all are done, or soon after `stop` is requested:
    // workers check it before each item. Items must not throw. Every item has `scratch_bytes` of scratch.
    void dispatch(int64_t items, Split split, const std::function<void(const Item&)>& work,
                  int64_t scratch_bytes = 0);

    // Sets the stop token of all later dispatches.
    void set_stop(std::stop_token stop);
    bool stopped() const;

    void start_recording();                              // drops earlier records; time 0 is now
    const std::vector<DispatchRecord>& records() const;  // the first most_kept_launches
    double end_us() const;                               // end of the last dispatch since start_recording

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sawtooth::cpu
