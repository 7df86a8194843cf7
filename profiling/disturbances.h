#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiling/clocks.h"
#include "profiling/measure.h"

namespace sawtooth {

// Notices what disturbs a repeat. On the CPU: threads of the pool that waited for a core because another
// program had it, and time that the host of a virtual machine took. On a GPU: a clock that changed or was
// throttled. Where the system does not tell, nothing is noticed.
class Disturbances {
  public:
    explicit Disturbances(const Executor& on);
    ~Disturbances();
    Disturbances(const Disturbances&) = delete;
    Disturbances& operator=(const Disturbances&) = delete;

    // Call right before and right after a repeat; `us` is the time of the repeat.
    void start();
    bool were_seen(double us);

  private:
    struct Thread {
        int file = -1;          // of the system, about its schedule
        int64_t waited_ns = 0;  // before the repeat
    };
    std::vector<Thread> threads_;  // of the pool
    int statistics_ = -1;          // the file of the system about its processors, if the host takes time
    int64_t stolen_ = 0;           // ticks, before the repeat
    std::optional<GpuClocks> clocks_;
};

}  // namespace sawtooth
