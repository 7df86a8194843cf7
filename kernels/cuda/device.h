#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/launch.h"
#include "kernels/core/plan.h"
#include "kernels/core/refusal.h"
#include "kernels/cuda/compiler.h"

struct CUfunc_st;

namespace sawtooth::cuda {

// A compiled kernel; loaded if there is a GPU.
struct Kernel {
    std::string entry;
    Resources resources;
    CUfunc_st* function = nullptr;  // null without a GPU
};

// Device memory, freed with the last copy of the pointer.
using Memory = std::shared_ptr<void>;

// One GPU with its primary context, or a theoretical device: a chip for which kernels compile but do not run.
// Not thread-safe.
class Device {
  public:
    static Outcome<std::unique_ptr<Device>> open(int index, CompilerOptions options);
    static Outcome<std::unique_ptr<Device>> theory(std::string_view architecture, CompilerOptions options);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Chip& chip() const;
    bool present() const;  // false for a theoretical device
    // The stream for launches; null for a theoretical device. Makes the context current, as launches need.
    CUstream_st* stream() const;

    // The entry of a .cu file, compiled once per source and kept loaded. Calls `compiling` (may be empty)
    // with the file name before NVRTC runs.
    Outcome<Kernel> kernel(const Source& source, const std::string& entry, const std::stop_token& stop = {});
    // Compiles the kernels of a dry plan, several at once, so that kernel() finds them; leaves failures to
    // kernel().
    void compile_together(const std::vector<PlannedKernel>& kernels, const std::stop_token& stop,
                          size_t threads = static_cast<size_t>(core_count()));
    // Sets CompilerOptions::jitter for kernels that are compiled later; loaded ones stay loaded.
    void set_jitter(int jitter);
    void on_compiling(std::function<void(const std::string& file)> compiling);
    // Compiler warnings of all kernels so far, one per line; "" if there are none.
    const std::string& warnings() const;

    // All members below need a GPU.
    Outcome<Memory> allocate(int64_t bytes);  // out of memory: the error has both sizes
    std::optional<Error> upload(void* to, const void* from, int64_t bytes);
    std::optional<Error> download(void* to, const void* from, int64_t bytes);
    std::optional<Error> fill(void* at, int64_t bytes, unsigned char byte);  // on the stream
    std::optional<Error> wait();  // waits until the stream is empty
    int64_t free_bytes() const;   // theoretical device: all memory of the chip

  private:
    struct State;
    explicit Device(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Starts a kernel on the queue's stream. A failure is recorded in the queue, and nothing is started after it.
// `shared_bytes` is the dynamic part.
void launch(Queue& queue, const Kernel& kernel, Extent grid, Extent block, int64_t shared_bytes,
            void** arguments);

// Whether every later call of the process fails after this error (illegal address, trap, misaligned, launch
// failed, timeout): only a new process helps.
bool is_fatal(const Error& error);

// The GPUs of the driver, or why none can be used.
struct Driver {
    std::string version;  // "13.0"
    std::vector<Chip> gpus;
};
Outcome<Driver> find_driver();

}  // namespace sawtooth::cuda
