#pragma once

#include <cuda.h>

#include <string>

#include "kernels/core/chip.h"
#include "kernels/core/refusal.h"

namespace sawtooth::cuda {

// The CUDA driver calls used here and in profiling, with the names exported by drivers of CUDA 12 and 13. Add
// a line to add a call.
#define SAWTOOTH_DRIVER_CALLS(X)                                 \
    X(cuInit, "cuInit")                                          \
    X(cuDriverGetVersion, "cuDriverGetVersion")                  \
    X(cuGetErrorName, "cuGetErrorName")                          \
    X(cuGetErrorString, "cuGetErrorString")                      \
    X(cuDeviceGetCount, "cuDeviceGetCount")                      \
    X(cuDeviceGet, "cuDeviceGet")                                \
    X(cuDeviceGetName, "cuDeviceGetName")                        \
    X(cuDeviceGetAttribute, "cuDeviceGetAttribute")              \
    X(cuDeviceTotalMem, "cuDeviceTotalMem_v2")                   \
    X(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId")                \
    X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")      \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2") \
    X(cuCtxSetCurrent, "cuCtxSetCurrent")                        \
    X(cuCtxGetCurrent, "cuCtxGetCurrent")                        \
    X(cuCtxGetDevice, "cuCtxGetDevice")                          \
    X(cuMemGetInfo, "cuMemGetInfo_v2")                           \
    X(cuMemAlloc, "cuMemAlloc_v2")                               \
    X(cuMemFree, "cuMemFree_v2")                                 \
    X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                 \
    X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                 \
    X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                 \
    X(cuMemsetD8Async, "cuMemsetD8Async")                        \
    X(cuModuleLoadData, "cuModuleLoadData")                      \
    X(cuModuleUnload, "cuModuleUnload")                          \
    X(cuModuleGetFunction, "cuModuleGetFunction")                \
    X(cuFuncSetAttribute, "cuFuncSetAttribute")                  \
    X(cuLaunchKernel, "cuLaunchKernel")                          \
    X(cuLaunchKernelEx, "cuLaunchKernelEx")                      \
    X(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled")          \
    X(cuStreamCreate, "cuStreamCreate")                          \
    X(cuStreamDestroy, "cuStreamDestroy_v2")                     \
    X(cuStreamQuery, "cuStreamQuery")                            \
    X(cuStreamSynchronize, "cuStreamSynchronize")                \
    X(cuStreamBeginCapture, "cuStreamBeginCapture_v2")           \
    X(cuStreamEndCapture, "cuStreamEndCapture")                  \
    X(cuGraphInstantiate, "cuGraphInstantiateWithFlags")         \
    X(cuGraphUpload, "cuGraphUpload")                            \
    X(cuGraphLaunch, "cuGraphLaunch")                            \
    X(cuGraphDestroy, "cuGraphDestroy")                          \
    X(cuGraphExecDestroy, "cuGraphExecDestroy")                  \
    X(cuEventCreate, "cuEventCreate")                            \
    X(cuEventRecord, "cuEventRecord")                            \
    X(cuEventQuery, "cuEventQuery")                              \
    X(cuEventElapsedTime, "cuEventElapsedTime")                  \
    X(cuEventDestroy, "cuEventDestroy_v2")

// Members have the names of the functions: driver->cuMemAlloc(…).
struct DriverCalls {
#define SAWTOOTH_MEMBER(name, exported) decltype(&::name) name = nullptr;
    SAWTOOTH_DRIVER_CALLS(SAWTOOTH_MEMBER)
#undef SAWTOOTH_MEMBER
};

// Opened and initialised at the first call. Failure: no driver, a driver that is too old, or no GPU.
Outcome<const DriverCalls*> driver();
// The same. Requires that driver() succeeded.
inline const DriverCalls& driver_calls() { return **driver(); }

// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory". Requires that driver() succeeded.
Error driver_error(const char* call, CUresult result);
// The same; nothing if the call succeeded.
inline std::optional<Error> driver_problem(const char* call, CUresult result) {
    return result == CUDA_SUCCESS ? std::optional<Error>() : driver_error(call, result);
}

// The limits of a GPU as reported by the driver; needs no context.
Chip chip_of_device(const DriverCalls& calls, CUdevice device);

// "13.0" for 13000.
std::string version_text(int version);

}  // namespace sawtooth::cuda
