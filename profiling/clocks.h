#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "kernels/cuda/device.h"

namespace sawtooth {

// The clock of a GPU's multiprocessors through NVML, the library of nvidia-smi.
class GpuClocks {
  public:
    // Failure: there is no NVML, or it does not know the GPU.
    static Outcome<GpuClocks> of(const cuda::Device& device);

    // Right before and right after what is timed. What cannot be read leaves nothing.
    void read_before() { before_ = read(); }
    std::optional<Clocks> read_after();

  private:
    struct Reading {
        double mhz = 0, highest_mhz = 0;
        uint64_t throttled = 0;  // NVML's reasons, a bit each
    };
    std::optional<Reading> read() const;

    void* device_ = nullptr;
    std::optional<Reading> before_;
};

// "power cap, heat": NVML's reasons for a lower clock, "" where there is none. An idle GPU's is none.
std::string throttle_words(uint64_t reasons);

}  // namespace sawtooth
