#include "profiling/clocks.h"

#include "kernels/cuda/driver.h"
#include "kernels/cuda/library.h"

namespace sawtooth {
namespace {

constexpr const char* without_nvml = "it comes with NVIDIA's driver; clock readings are left out";

// The build has no NVML header, so its functions are declared here as in its manual.
using Device = void*;
constexpr int multiprocessor_clock = 1;
struct Nvml {
    int (*nvmlInit_v2)() = nullptr;
    int (*nvmlDeviceGetHandleByPciBusId_v2)(const char* bus, Device*) = nullptr;
    int (*nvmlDeviceGetClockInfo)(Device, int which, unsigned* mhz) = nullptr;
    int (*nvmlDeviceGetMaxClockInfo)(Device, int which, unsigned* mhz) = nullptr;
    int (*nvmlDeviceGetCurrentClocksThrottleReasons)(Device, unsigned long long* reasons) = nullptr;
};

Outcome<Nvml> open_nvml() {
    const auto library = cuda::open_library(
        {"nvml", "NVML, which reads clocks (libnvidia-ml.so.1)", {"libnvidia-ml.so.1"}, false, without_nvml});
    if (!library) return library.error();
    Nvml nvml;
#define SAWTOOTH_LOAD(name)                                                    \
    nvml.name = reinterpret_cast<decltype(nvml.name)>(library->symbol(#name)); \
    if (!nvml.name) return Error::failure("libnvidia-ml.so.1 has no " #name);
    SAWTOOTH_LOAD(nvmlInit_v2)
    SAWTOOTH_LOAD(nvmlDeviceGetHandleByPciBusId_v2)
    SAWTOOTH_LOAD(nvmlDeviceGetClockInfo)
    SAWTOOTH_LOAD(nvmlDeviceGetMaxClockInfo)
    SAWTOOTH_LOAD(nvmlDeviceGetCurrentClocksThrottleReasons)
#undef SAWTOOTH_LOAD
    if (const int result = nvml.nvmlInit_v2(); result != 0)
        return Error::failure("nvmlInit: NVML error " + std::to_string(result));
    return nvml;
}

const Outcome<Nvml>& nvml() {
    static const Outcome<Nvml> opened = open_nvml();
    return opened;
}

}  // namespace

Outcome<GpuClocks> GpuClocks::of(const cuda::Device& device) {
    if (!nvml()) return nvml().error();
    device.stream();  // makes the context current
    const cuda::DriverCalls& driver = cuda::driver_calls();
    CUdevice number = 0;
    char bus[32] = "";
    if (const CUresult result = driver.cuCtxGetDevice(&number); result != CUDA_SUCCESS)
        return cuda::driver_error("cuCtxGetDevice", result);
    if (const CUresult result = driver.cuDeviceGetPCIBusId(bus, sizeof bus, number); result != CUDA_SUCCESS)
        return cuda::driver_error("cuDeviceGetPCIBusId", result);
    GpuClocks clocks;
    if (const int result = nvml()->nvmlDeviceGetHandleByPciBusId_v2(bus, &clocks.device_); result != 0)
        return Error::failure("nvmlDeviceGetHandleByPciBusId: NVML error " + std::to_string(result));
    return clocks;
}

std::optional<GpuClocks::Reading> GpuClocks::read() const {
    unsigned now = 0, highest = 0;
    unsigned long long reasons = 0;
    if (nvml()->nvmlDeviceGetClockInfo(device_, multiprocessor_clock, &now) != 0 ||
        nvml()->nvmlDeviceGetMaxClockInfo(device_, multiprocessor_clock, &highest) != 0)
        return {};
    // Some virtual GPUs report clocks but no reasons.
    nvml()->nvmlDeviceGetCurrentClocksThrottleReasons(device_, &reasons);
    return Reading{static_cast<double>(now), static_cast<double>(highest), reasons};
}

std::optional<Clocks> GpuClocks::read_after() {
    const auto after = read();
    if (!before_ || !after) return {};
    return Clocks{before_->mhz, after->mhz, after->highest_mhz,
                  throttle_words(before_->throttled | after->throttled)};
}

std::string throttle_words(uint64_t reasons) {
    struct Reason {
        uint64_t bit;
        const char* words;
    };
    constexpr Reason known[] = {{0x2, "application clock setting"},
                                {0x4, "power cap"},
                                {0x8, "hardware slowdown"},
                                {0x10, "sync boost"},
                                {0x20, "temperature"},
                                {0x40, "hardware temperature limit"},
                                {0x80, "power brake"},
                                {0x100, "display clock setting"}};
    constexpr uint64_t idle = 0x1;
    std::string words;
    const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
    uint64_t told = idle;
    for (const Reason& reason : known) {
        told |= reason.bit;
        if (reasons & reason.bit) add(reason.words);
    }
    if (reasons & ~told) add("NVML reasons " + std::to_string(reasons & ~told));
    return words;
}

}  // namespace sawtooth
