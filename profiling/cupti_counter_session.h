#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kernels/core/refusal.h"
#include "kernels/cuda/device.h"
#include "profiling/cupti_host.h"

namespace sawtooth {

// Hardware counters of single launches, through CUPTI's Range Profiler: every launch is a range of its own
// and is run as often as its counters need passes, on the same memory, which CUPTI restores in between.
class CounterSession {
  public:
    // On the device's context. Failure: no CUPTI, a CUPTI that is too old, or counters that may not be read
    // and which setting allows them.
    static Outcome<std::unique_ptr<CounterSession>> open(cuda::Device& device);
    ~CounterSession();
    CounterSession(const CounterSession&) = delete;
    CounterSession& operator=(const CounterSession&) = delete;

    // Runs `start`, which must start one kernel on the device's stream; its counters by their keys.
    Outcome<std::map<std::string, double>> count(const std::function<std::optional<Error>()>& start);
    size_t passes() const { return passes_; }

  private:
    explicit CounterSession(CuptiHost host) : host_(std::move(host)) {}
    std::optional<Error> enable(CUcontext context);
    std::optional<Error> configure();

    CuptiHost host_;
    Image configuration_, counts_;
    size_t passes_ = 0;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
};

// What `count` calls the one that achieved occupancy is made of: warps resident, of those that could be.
constexpr const char* warps_active_percent = "warps active (%)";

}  // namespace sawtooth
