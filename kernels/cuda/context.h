#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/driver.h"

namespace sawtooth::cuda {

// The primary context of a GPU, released with its last owner. Every handle below shares ownership, because
// freeing needs the context.
class Context {
  public:
    static Outcome<std::shared_ptr<const Context>> of_device(int index);
    Context(const DriverCalls& calls, CUdevice device) : calls_(calls), device_(device) {}
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const DriverCalls& calls() const { return calls_; }
    CUdevice device() const { return device_; }
    void make_current() const;  // in the calling thread

  private:
    const DriverCalls& calls_;
    CUdevice device_;
    CUcontext context_ = nullptr;
};
using SharedContext = std::shared_ptr<const Context>;

// Frees a handle in its context.
template <class Handle>
struct Release {
    SharedContext context;
    CUresult (*release)(Handle*) = nullptr;
    void operator()(Handle* handle) const {
        context->make_current();
        release(handle);  // after a fatal error all calls fail: nothing is left to free
    }
};
using Stream = std::unique_ptr<CUstream_st, Release<CUstream_st>>;
using Module = std::unique_ptr<CUmod_st, Release<CUmod_st>>;

// Makes a stream that does not synchronise with the default stream.
Outcome<Stream> make_stream(const SharedContext& context);
Outcome<Module> load_module(const SharedContext& context, const std::string& cubin);
// Device memory, freed with the last copy of the pointer.
Outcome<std::shared_ptr<void>> allocate(const SharedContext& context, int64_t bytes);

}  // namespace sawtooth::cuda
