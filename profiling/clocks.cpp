#include "profiling/clocks.h"

#include "kernels/cuda/driver.h"
#include "kernels/cuda/library.h"

namespace sawtooth {
namespace {

constexpr const char* remedy = "it comes with NVIDIA's driver; without it results say no clocks";

// NVML's header is not part of what this is built with; these are its calls, as its manual has them.
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
        {"nvml", "NVML, which tells clocks (libnvidia-ml.so.1)", {"libnvidia-ml.so.1"}, false, remedy});
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
        return Error::failure("nvmlInit: NVML's error " + std::to_string(result));
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
    const cuda::DriverCalls& driver = **cuda::driver();
    CUdevice number = 0;
    char bus[32] = "";
    if (const CUresult result = driver.cuCtxGetDevice(&number); result != CUDA_SUCCESS)
        return cuda::driver_error("cuCtxGetDevice", result);
    if (const CUresult result = driver.cuDeviceGetPCIBusId(bus, sizeof bus, number); result != CUDA_SUCCESS)
        return cuda::driver_error("cuDeviceGetPCIBusId", result);
    GpuClocks clocks;
    if (const int result = nvml()->nvmlDeviceGetHandleByPciBusId_v2(bus, &clocks.device_); result != 0)
        return Error::failure("nvmlDeviceGetHandleByPciBusId: NVML's error " + std::to_string(result));
    return clocks;
}

std::optional<GpuClocks::Reading> GpuClocks::read() const {
    unsigned now = 0, highest = 0;
    unsigned long long reasons = 0;
    if (nvml()->nvmlDeviceGetClockInfo(device_, multiprocessor_clock, &now) != 0 ||
        nvml()->nvmlDeviceGetMaxClockInfo(device_, multiprocessor_clock, &highest) != 0)
        return {};
    // Some virtual GPUs tell clocks and no reasons.
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
    constexpr Reason known[] = {{0x2, "application clocks are set"},
                                {0x4, "power cap"},
                                {0x8, "hardware slowdown"},
                                {0x10, "sync boost"},
                                {0x20, "heat"},
                                {0x40, "heat, seen by the hardware"},
                                {0x80, "power brake"},
                                {0x100, "display clocks are set"}};
    constexpr uint64_t idle = 0x1;
    std::string words;
    const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
    uint64_t told = idle;
    for (const Reason& reason : known) {
        told |= reason.bit;
        if (reasons & reason.bit) add(reason.words);
    }
    if (reasons & ~told) add("NVML's reasons " + std::to_string(reasons & ~told));
    return words;
}

}  // namespace sawtooth
