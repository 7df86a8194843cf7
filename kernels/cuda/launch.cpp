#include <fmt/format.h>

#include "kernels/cuda/device.h"
#include "kernels/cuda/driver.h"

namespace sawtooth::cuda {
namespace {

CUresult start(const DriverCalls& calls, const CUlaunchConfig& config, CUfunction function,
               void** arguments) {
    if (config.numAttrs > 0) return calls.cuLaunchKernelEx(&config, function, arguments, nullptr);
    return calls.cuLaunchKernel(function, config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX,
                                config.blockDimY, config.blockDimZ, config.sharedMemBytes, config.hStream,
                                arguments, nullptr);
}

}  // namespace

void launch(Queue& queue, const Kernel& kernel, Extent grid, Extent block, int64_t shared_bytes,
            void** arguments) {
    if (!queue.error.empty()) return;
    const auto calls = driver();
    if (!calls || !kernel.function) {
        queue.error = kernel.entry + ": " + (calls ? "compiled without a GPU" : calls.error().text);
        return;
    }
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config = {};
    config.gridDimX = static_cast<unsigned>(grid.x);
    config.gridDimY = static_cast<unsigned>(grid.y);
    config.gridDimZ = static_cast<unsigned>(grid.z);
    config.blockDimX = static_cast<unsigned>(block.x);
    config.blockDimY = static_cast<unsigned>(block.y);
    config.blockDimZ = static_cast<unsigned>(block.z);
    config.sharedMemBytes = static_cast<unsigned>(shared_bytes);
    config.hStream = queue.stream;
    config.attrs = &attribute;
    config.numAttrs = queue.programmatic ? 1 : 0;
    const CUresult result = start(**calls, config, kernel.function, arguments);
    if (result == CUDA_SUCCESS) return;
    queue.error =
        fmt::format("{}: {} (grid {} x {} x {}, block {} x {} x {}, {} bytes of dynamic shared memory)",
                    kernel.entry, driver_error("cuLaunchKernel", result).text, grid.x, grid.y, grid.z,
                    block.x, block.y, block.z, shared_bytes);
}

}  // namespace sawtooth::cuda
