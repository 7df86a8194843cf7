#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/launch.h"
#include "kernels/core/refusal.h"
#include "kernels/cuda/compiler.h"

struct CUfunc_st;

namespace sawtooth::cuda {

// A compiled kernel; loaded where a GPU is.
struct Kernel {
    std::string entry;
    Resources resources;
    CUfunc_st* function = nullptr;  // null without a GPU
};

// Device memory that is freed with the last copy of this.
using Memory = std::shared_ptr<void>;

// One GPU with its primary context, or only the theory of a chip: then kernels compile, and nothing runs.
// Not to be used by two threads at once.
class Device {
  public:
    static Outcome<std::unique_ptr<Device>> open(int index, CompilerOptions options);
    static Outcome<std::unique_ptr<Device>> theory(std::string_view architecture, CompilerOptions options);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Chip& chip() const;
    bool present() const;  // false: theory
    // Where launches go; null in theory. The context becomes the calling thread's, as launches need it.
    CUstream_st* stream() const;

    // The entry of a .cu file; compiled once a source and kept loaded. `compiling` (may be empty) is called
    // before NVRTC is, with the file's name.
    Outcome<Kernel> kernel(const Source& source, const std::string& entry);
    void on_compiling(std::function<void(const std::string& file)> compiling);
    // What the compiler warned of in all kernels so far, a line each; "": nothing.
    const std::string& warnings() const;

    // The rest needs a GPU.
    Outcome<Memory> allocate(int64_t bytes);  // out of memory: a failure with both figures
    std::optional<Error> upload(void* to, const void* from, int64_t bytes);
    std::optional<Error> download(void* to, const void* from, int64_t bytes);
    std::optional<Error> fill_zero(void* at, int64_t bytes);  // on the stream
    std::optional<Error> wait();                              // for all that the stream was given
    int64_t free_bytes() const;                               // in theory, all that the chip has

  private:
    struct State;
    explicit Device(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Starts a kernel on the queue's stream; a failure is noted in the queue, and nothing is started after one.
// `shared_bytes` is the dynamic part.
void launch(Queue& queue, const Kernel& kernel, Extent grid, Extent block, int64_t shared_bytes,
            void** arguments);

// An error after which every call of this process fails (illegal address, trap, misaligned, launch failed,
// timeout): only a new process helps.
bool is_fatal(const Error& error);

// The GPUs that the driver shows, or why there is none to be used.
struct Driver {
    std::string version;  // "13.0"
    std::vector<Chip> gpus;
};
Outcome<Driver> find_driver();

}  // namespace sawtooth::cuda
