#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/request.h"
#include "kernels/cpu/pool.h"
#include "kernels/cuda/device.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// Where a Request runs: the CPU's pool, or a GPU.
struct Machine {
    Chip chip;
    std::string words;          // "NVIDIA H100 80GB HBM3, sm_90a": what a result says it ran on
    cpu::Pool* pool = nullptr;  // one of the two
    GpuTimer* timer = nullptr;
    std::vector<std::string> notes;  // why it is this one, where that was not asked for

    Backend backend() const { return timer ? Backend::cuda : Backend::cpu; }
    cuda::Device* device() const { return timer ? &timer->device() : nullptr; }
    Executor executor() const { return {pool, timer}; }
    void set_stop(std::stop_token stop) const;
};

// The GPUs that this process uses, opened when they are first needed: at most one at a time, and one chip
// that is only compiled for.
class Gpus {
  public:
    explicit Gpus(std::string cache_directory) : cache_directory_(std::move(cache_directory)) {}
    ~Gpus();  // leaves what never ends to the end of this process
    Gpus(const Gpus&) = delete;
    Gpus& operator=(const Gpus&) = delete;

    // Failure: there is no driver or GPU, or NVRTC is missing (what to do about it). Usage: no such number.
    Outcome<GpuTimer*> open(int index, const std::string& kernels_directory);
    // For the theory of a chip alone. Failure: NVRTC is missing. Usage: no such architecture.
    Outcome<cuda::Device*> theory(const std::string& architecture, const std::string& kernels_directory);

  private:
    struct Opened {
        int index = 0;
        std::string kernels_directory;
        std::unique_ptr<cuda::Device> device;
        std::unique_ptr<GpuTimer> timer;  // goes before the device
    };
    struct Theory {
        std::string architecture, kernels_directory;
        std::unique_ptr<cuda::Device> device;
    };
    std::string cache_directory_;
    std::unique_ptr<Opened> opened_;
    std::unique_ptr<Theory> theory_;
};

// Why no kernel can run on a GPU here, and what to do; nullopt where one can.
std::optional<Error> gpu_problem();
// Why no variant of the family can; nullopt where one can.
std::optional<Error> cuda_form_problem(const Family& family);

}  // namespace sawtooth
