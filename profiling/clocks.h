#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "kernels/cuda/device.h"

namespace sawtooth {

// The SM clock of a GPU through NVML, the library of nvidia-smi.
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

// "power cap, temperature": NVML reasons for a lower clock, "" if there are none. Idle is not a reason.
std::string throttle_words(uint64_t reasons);

}  // namespace sawtooth
