#include "kernels/cuda/driver.h"

#include "kernels/cuda/device.h"
#include "kernels/cuda/library.h"

namespace sawtooth::cuda {
namespace {

constexpr const char* remedy =
    "install NVIDIA's driver for CUDA 12 or newer on a machine with an NVIDIA GPU, or use the CPU";

Outcome<DriverCalls> open_driver() {
    const auto library = open_library(
        {"driver", "the CUDA driver (libcuda.so.1)", {"libcuda.so.1", "libcuda.so"}, false, remedy});
    if (!library) return library.error();
    DriverCalls calls;
#define SAWTOOTH_LOAD(name, exported)                                               \
    calls.name = reinterpret_cast<decltype(calls.name)>(library->symbol(exported)); \
    if (!calls.name)                                                                \
        return Error::failure(std::string("the CUDA driver is too old (no " exported "): ") + remedy);
    SAWTOOTH_DRIVER_CALLS(SAWTOOTH_LOAD)
#undef SAWTOOTH_LOAD
    return calls;
}

const Outcome<DriverCalls>& opened_driver() {
    static const Outcome<DriverCalls> opened = open_driver();
    return opened;
}

std::optional<Error> start(const DriverCalls& calls) {
    if (const CUresult result = calls.cuInit(0); result != CUDA_SUCCESS) {
        Error error = driver_error("cuInit", result);
        error.text += "; check the driver with nvidia-smi";
        return error;
    }
    int version = 0;
    if (const CUresult result = calls.cuDriverGetVersion(&version); result != CUDA_SUCCESS)
        return driver_error("cuDriverGetVersion", result);
    if (version >= 12000) return {};
    return Error::failure("the CUDA driver supports only CUDA " + version_text(version) + ": " + remedy);
}

}  // namespace

Error driver_error(const char* call, CUresult result) {
    const char *name = nullptr, *words = nullptr;
    opened_driver()->cuGetErrorName(result, &name);
    opened_driver()->cuGetErrorString(result, &words);
    return Error::failure(std::string(call) + ": " + (name ? name : "error " + std::to_string(result)) +
                          (words ? std::string(": ") + words : ""));
}

Outcome<const DriverCalls*> driver() {
    if (!opened_driver()) return opened_driver().error();
    // The driver is started once: callers that have it rely on it even after the GPU is lost.
    static const std::optional<Error> problem = start(*opened_driver());
    if (problem) return *problem;
    return &*opened_driver();
}

Chip chip_of_device(const DriverCalls& calls, CUdevice device) {
    const auto attribute = [&](CUdevice_attribute which) {
        int value = 0;
        calls.cuDeviceGetAttribute(&value, which, device);
        return value;
    };
    Chip chip;
    chip.backend = Backend::cuda;
    char name[256] = "";
    calls.cuDeviceGetName(name, sizeof name, device);
    chip.name = name;
    chip.compute_capability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                              attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    // The letter enables features of Hopper that kernels use (wgmma).
    chip.architecture =
        "sm_" + std::to_string(chip.compute_capability) + (chip.compute_capability == 90 ? "a" : "");
    chip.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    chip.shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    size_t bytes = 0;
    calls.cuDeviceTotalMem(&bytes, device);
    chip.memory_bytes = static_cast<int64_t>(bytes);
    chip.threads_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    chip.blocks_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    chip.registers_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    chip.shared_bytes_per_multiprocessor =
        attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    chip.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    return chip;
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Outcome<Driver> find_driver() {
    const auto calls = driver();
    if (!calls) return calls.error();
    Driver found;
    int version = 0, count = 0;
    (*calls)->cuDriverGetVersion(&version);
    found.version = version_text(version);
    if (const CUresult result = (*calls)->cuDeviceGetCount(&count); result != CUDA_SUCCESS)
        return driver_error("cuDeviceGetCount", result);
    for (int index = 0; index < count; ++index) {
        CUdevice device = 0;
        if (const CUresult result = (*calls)->cuDeviceGet(&device, index); result != CUDA_SUCCESS)
            return driver_error("cuDeviceGet", result);
        found.gpus.push_back(chip_of_device(**calls, device));
    }
    if (found.gpus.empty()) return Error::failure("the CUDA driver finds no GPU");
    return found;
}

bool is_fatal(const Error& error) {
    // Errors that the driver manual calls fatal: "this leaves the process in an inconsistent state".
    for (const char* name :
         {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_TIMEOUT", "CUDA_ERROR_LAUNCH_FAILED",
          "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_ILLEGAL_INSTRUCTION",
          "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_INVALID_PC", "CUDA_ERROR_HARDWARE_STACK_ERROR",
          "CUDA_ERROR_ASSERT", "CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_CONTEXT_IS_DESTROYED",
          "CUDA_ERROR_CONTAINED", "CUDA_ERROR_TENSOR_MEMORY_LEAK", "CUDA_ERROR_EXTERNAL_DEVICE",
          "CUDA_ERROR_MPS_CLIENT_TERMINATED"})
        if (error.text.find(name) != std::string::npos) return true;
    return false;
}

}  // namespace sawtooth::cuda
