#include "kernels/cuda/context.h"

#include <algorithm>

#include "kernels/core/table.h"
#include "kernels/cuda/nvrtc.h"

namespace sawtooth::cuda {

Outcome<std::shared_ptr<const Context>> Context::of_device(int index) {
    const auto calls = driver();
    if (!calls) return calls.error();
    int count = 0;
    if (const CUresult result = (*calls)->cuDeviceGetCount(&count); result != CUDA_SUCCESS)
        return driver_error("cuDeviceGetCount", result);
    if (index < 0 || index >= count)
        return Error::usage(Refusal{"device", std::to_string(index),
                                    count == 0   ? "the CUDA driver finds no GPU"
                                    : count == 1 ? "must be 0, the only GPU"
                                                 : "must be 0 to " + std::to_string(count - 1)});
    CUdevice device = 0;
    if (const CUresult result = (*calls)->cuDeviceGet(&device, index); result != CUDA_SUCCESS)
        return driver_error("cuDeviceGet", result);
    const auto context = std::make_shared<Context>(**calls, device);
    if (const CUresult result = (*calls)->cuDevicePrimaryCtxRetain(&context->context_, device);
        result != CUDA_SUCCESS)
        return driver_error("cuDevicePrimaryCtxRetain", result);
    context->make_current();
    return SharedContext(context);
}

Context::~Context() {
    if (context_) calls_.cuDevicePrimaryCtxRelease(device_);
}

void Context::make_current() const { calls_.cuCtxSetCurrent(context_); }

Outcome<Stream> make_stream(const SharedContext& context) {
    context->make_current();
    CUstream stream = nullptr;
    if (const CUresult result = context->calls().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
        result != CUDA_SUCCESS)
        return driver_error("cuStreamCreate", result);
    return Stream(stream, {context, context->calls().cuStreamDestroy});
}

Outcome<Module> load_module(const SharedContext& context, const std::string& cubin) {
    context->make_current();
    CUmodule module = nullptr;
    const CUresult result = context->calls().cuModuleLoadData(&module, cubin.data());
    if (result == CUDA_SUCCESS) return Module(module, {context, context->calls().cuModuleUnload});
    Error error = driver_error("cuModuleLoadData", result);
    int version = 0;
    context->calls().cuDriverGetVersion(&version);
    const auto nvrtc = nvrtc_version();
    if (nvrtc && nvrtc->major > version / 1000)
        error.text += "; NVRTC " + nvrtc->text() + " compiled it and is newer than the driver (CUDA " +
                      version_text(version) + "): update the driver, or set CUDA_HOME to a toolkit of CUDA " +
                      std::to_string(version / 1000);
    return error;
}

Outcome<std::shared_ptr<void>> allocate(const SharedContext& context, int64_t bytes) {
    context->make_current();
    CUdeviceptr address = 0;
    // Arrays may be empty, but the driver refuses size 0.
    const CUresult result =
        context->calls().cuMemAlloc(&address, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
    if (result == CUDA_SUCCESS)
        return std::shared_ptr<void>(reinterpret_cast<void*>(address), [context](void* memory) {
            context->make_current();
            context->calls().cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
        });
    Error error = driver_error("cuMemAlloc", result);
    size_t free = 0, total = 0;
    if (result == CUDA_ERROR_OUT_OF_MEMORY && context->calls().cuMemGetInfo(&free, &total) == CUDA_SUCCESS)
        error.text += "; " + short_bytes(static_cast<double>(bytes)) + " requested, " +
                      short_bytes(static_cast<double>(free)) + " free";
    return error;
}

}  // namespace sawtooth::cuda
