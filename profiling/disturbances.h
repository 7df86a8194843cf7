#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiling/clocks.h"
#include "profiling/measure.h"

namespace sawtooth {

// Detects disturbances of a repeat. On the CPU these are threads of the pool that were ready to run but
// waited for a core, which another program or another thread of the pool had, and time that the host of a
// virtual machine took. On a GPU they are changes of its clock. If the system does not report them, nothing
// is detected.
class Disturbances {
  public:
    explicit Disturbances(const Executor& on);
    ~Disturbances();
    Disturbances(const Disturbances&) = delete;
    Disturbances& operator=(const Disturbances&) = delete;

    // Call right before and right after a repeat; `us` is the duration of the repeat.
    void start();
    bool were_seen(double us);

  private:
    struct Thread {
        int file = -1;          // the system's file on the thread's scheduling
        int64_t waited_ns = 0;  // the value before the repeat
    };
    std::vector<Thread> threads_;  // the threads of the pool
    int statistics_ = -1;          // the system's file on processors, if the host takes time
    int64_t stolen_ = 0;           // ticks before the repeat
    std::optional<GpuClocks> clocks_;
};

}  // namespace sawtooth
