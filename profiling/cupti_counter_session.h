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

// Reads hardware counters of single launches through the Range Profiler of CUPTI. Every launch is a range of
// its own and runs once per pass of its counters, on the same memory, which CUPTI restores between passes.
class CounterSession {
  public:
    // Opens a session in the context of the device. Failure: CUPTI is missing or too old, or counters may not
    // be read (with the setting that allows them).
    static Outcome<std::unique_ptr<CounterSession>> open(cuda::Device& device);
    ~CounterSession();
    CounterSession(const CounterSession&) = delete;
    CounterSession& operator=(const CounterSession&) = delete;

    // Runs `start`, which must start one kernel on the device's stream. Returns its counters by key.
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

}  // namespace sawtooth
