#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "kernels/cuda/device.h"

namespace sawtooth {

// Reads the SM clock of a GPU through NVML, the library behind nvidia-smi.
class GpuClocks {
  public:
    // Failure: NVML is missing or does not know the GPU.
    static Outcome<GpuClocks> of(const cuda::Device& device);

    // Call right before and right after a timed run. A failed reading gives no clocks.
    void read_before() { before_ = read(); }
    std::optional<Clocks> read_after();

  private:
    struct Reading {
        double mhz = 0, highest_mhz = 0;
        uint64_t throttled = 0;  // NVML reasons, one bit each
    };
    std::optional<Reading> read() const;

    void* device_ = nullptr;
    std::optional<Reading> before_;
};

// The reasons for a lower clock, from NVML: "power cap, temperature"; "" if there are none. Idle is no such
// reason.
std::string throttle_words(uint64_t reasons);

}  // namespace sawtooth
