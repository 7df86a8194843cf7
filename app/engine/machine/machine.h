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

// Where a Request runs: on the CPU pool, or on a GPU.
struct Machine {
    Chip chip;
    std::string words;          // "NVIDIA H100 80GB HBM3, sm_90a": the device name in results
    cpu::Pool* pool = nullptr;  // exactly one of the two is set
    GpuTimer* timer = nullptr;
    std::vector<std::string> notes;  // why this machine was chosen, if it was not requested

    Backend backend() const { return timer ? Backend::cuda : Backend::cpu; }
    cuda::Device* device() const { return timer ? &timer->device() : nullptr; }
    int workers() const { return pool ? pool->threads() : 1; }
    Executor executor() const { return {pool, timer}; }
    void set_stop(std::stop_token stop) const;
};

// The GPUs of this process, opened on first use: at most one at a time, and one theoretical chip.
class Gpus {
  public:
    explicit Gpus(std::string cache_directory) : cache_directory_(std::move(cache_directory)) {}
    ~Gpus();  // does not wait for a launch that never ends
    void leave_open() {
        static_cast<void>(opened_.release());
    }  // the system closes the GPU when the process ends
    Gpus(const Gpus&) = delete;
    Gpus& operator=(const Gpus&) = delete;

    // Opens a GPU; `jitter` applies to the kernels of later plans. Failure: no driver or GPU, or NVRTC is
    // missing (with what to do). Usage: no such number.
    Outcome<GpuTimer*> open(int index, const std::string& kernels_directory, int jitter);
    // Opens a theoretical device. Failure: NVRTC is missing. Usage: no such architecture.
    Outcome<cuda::Device*> theory(const std::string& architecture, const std::string& kernels_directory);

  private:
    struct Opened {
        int index = 0;
        std::string kernels_directory;
        std::unique_ptr<cuda::Device> device;
        std::unique_ptr<GpuTimer> timer;  // declared last, so that it is destroyed before the device
    };
    struct Theory {
        std::string architecture, kernels_directory;
        std::unique_ptr<cuda::Device> device;
    };
    std::string cache_directory_;
    std::unique_ptr<Opened> opened_;
    std::unique_ptr<Theory> theory_;
};

// Why kernels cannot run on a GPU here, and what to do; nullopt if they can.
std::optional<Error> gpu_problem();
// Why no variant of the family can run on CUDA; nullopt if one can.
std::optional<Error> cuda_form_problem(const Family& family);

}  // namespace sawtooth
