// A fake GPU: libcuda.so.1, libnvrtc.so.13, libcupti.so.13 and libnvidia-ml.so.1 in one file, which the build
// gives these four names. Its memory is that of the host and its kernels do nothing, so outputs are wrong;
// but a run makes the same calls as on a GPU, and one of them fails:
//
//     LD_LIBRARY_PATH=build/release/fake_gpu SAWTOOTH_FAKE_GPU="fail 17" sawtooth run scan --backend cuda
//
// With "fail N" the N-th call fails. With "lost N" all later ones fail, too, as after an illegal address.
// With "hang N" the N-th call never returns. With "none 0" nothing fails. The names of the calls are written
// to the file SAWTOOTH_FAKE_GPU_CALLS, one per line.

#include <cupti_activity.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace {

struct Fault {
    char kind[8] = "none";
    long at = 0;
    std::FILE* calls = nullptr;
    Fault() {
        if (const char* const words = std::getenv("SAWTOOTH_FAKE_GPU"))
            std::sscanf(words, "%7s %ld", kind, &at);
        if (const char* const path = std::getenv("SAWTOOTH_FAKE_GPU_CALLS")) calls = std::fopen(path, "w");
    }
    bool is(const char* other) const { return std::strcmp(kind, other) == 0; }
};

// Counts a call. Returns 0, or the error that the call must return.
int step(const char* name, int error) {
    static const Fault fault;
    static std::mutex in_order;  // line N of the file is the N-th call
    static long count = 0;
    long number = 0;
    {
        const std::lock_guard lock(in_order);
        number = ++count;
        if (fault.calls) {
            std::fprintf(fault.calls, "%s\n", name);
            std::fflush(fault.calls);
        }
    }
    while (fault.is("hang") && number == fault.at) ::pause();
    if (fault.is("lost") && number >= fault.at) return error == 999 ? CUDA_ERROR_ILLEGAL_ADDRESS : error;
    return fault.is("fail") && number == fault.at ? error : 0;
}

// A record of CUPTI, which is either a kernel or a fill.
struct Record {
    CUpti_ActivityKernel4 kernel{};
    CUpti_ActivityMemset fill{};
    bool is_kernel = false;
};
std::mutex mutex;
std::deque<Record> records, taken;
uint64_t now = 0;  // in nanoseconds
CUpti_BuffersCallbackRequestFunc give_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc take_buffer = nullptr;

void record(Record made) {
    const std::lock_guard lock(mutex);
    now += 2000;
    made.kernel.start = made.fill.start = now;
    made.kernel.end = made.fill.end = now + 1000;
    records.push_back(made);
}

void record_kernel(unsigned x, unsigned y, unsigned z, unsigned threads) {
    Record made;
    made.is_kernel = true;
    made.kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    made.kernel.gridX = static_cast<int>(x), made.kernel.gridY = static_cast<int>(y);
    made.kernel.gridZ = static_cast<int>(z), made.kernel.blockX = static_cast<int>(threads);
    made.kernel.blockY = made.kernel.blockZ = 1;
    made.kernel.registersPerThread = 32;
    record(made);
}

int attribute_of(int which) {
    switch (which) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return 8;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return 4;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
            return 166912;
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
            return 2048;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
            return 32;
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
            return 65536;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
            return 167936;
        case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
            return 1 << 20;
        default:
            return 0;
    }
}

// The log of the assembler for the kernels of a source.
std::string log_of(const std::string& source) {
    std::string log;
    for (size_t at = source.find("__global__"); at != std::string::npos;
         at = source.find("__global__", at + 1)) {
        size_t open = source.find('(', at);
        if (const size_t bounds = source.find("__launch_bounds__", at); bounds < open)
            open = source.find('(', source.find(')', open));
        size_t begin = open;
        while (begin > 0 && (std::isalnum(source[begin - 1]) || source[begin - 1] == '_')) --begin;
        log += "ptxas info    : Compiling entry function '" + source.substr(begin, open - begin) +
               "' for 'sm_80'\nptxas info    : Used 32 registers, 0 bytes smem\n";
    }
    return log;
}

char handle;  // stands for every object that has a handle

}  // namespace

#define EXPORTED(name, ...)                             \
    extern "C" int fake_##name(__VA_ARGS__) asm(#name); \
    extern "C" int fake_##name(__VA_ARGS__)
#define TRY(name) \
    if (const int error = step(#name, 999)) return error;
#define DOES_NOTHING(name) \
    EXPORTED(name, void) { \
        TRY(name)          \
        return 0;          \
    }
#define MAKES_HANDLE(name)        \
    EXPORTED(name, void** made) { \
        TRY(name)                 \
        *made = &handle;          \
        return 0;                 \
    }
#define GIVES(name, Type, value)  \
    EXPORTED(name, Type* given) { \
        TRY(name)                 \
        *given = value;           \
        return 0;                 \
    }

// The functions of the driver.

#undef cuEventElapsedTime  // the program looks up the name of CUDA 12

DOES_NOTHING(cuInit)
GIVES(cuDriverGetVersion, int, 13000)
GIVES(cuDeviceGetCount, int, 1)
GIVES(cuDeviceGet, int, 0)
GIVES(cuDeviceTotalMem_v2, size_t, size_t{1} << 32)
MAKES_HANDLE(cuDevicePrimaryCtxRetain)
DOES_NOTHING(cuDevicePrimaryCtxRelease_v2)
DOES_NOTHING(cuCtxSetCurrent)
MAKES_HANDLE(cuCtxGetCurrent)
GIVES(cuCtxGetDevice, int, 0)
MAKES_HANDLE(cuModuleLoadData)
DOES_NOTHING(cuModuleUnload)
MAKES_HANDLE(cuModuleGetFunction)
DOES_NOTHING(cuFuncSetAttribute)
MAKES_HANDLE(cuStreamCreate)
DOES_NOTHING(cuStreamDestroy_v2)
DOES_NOTHING(cuStreamQuery)
DOES_NOTHING(cuStreamSynchronize)
DOES_NOTHING(cuStreamBeginCapture_v2)
MAKES_HANDLE(cuGraphInstantiateWithFlags)
DOES_NOTHING(cuGraphUpload)
DOES_NOTHING(cuGraphLaunch)
DOES_NOTHING(cuGraphDestroy)
DOES_NOTHING(cuGraphExecDestroy)
MAKES_HANDLE(cuEventCreate)
DOES_NOTHING(cuEventRecord)
DOES_NOTHING(cuEventQuery)
GIVES(cuEventElapsedTime, float, 0.01f)
DOES_NOTHING(cuEventDestroy_v2)
DOES_NOTHING(cuTensorMapEncodeTiled)

EXPORTED(cuGetErrorName, int error, const char** name) {
    *name = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
EXPORTED(cuGetErrorString, int, const char** words) {
    *words = "a fault of the test";
    return 0;
}
EXPORTED(cuDeviceGetName, char* name, int bytes, int) {
    TRY(cuDeviceGetName)
    std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
    return 0;
}
EXPORTED(cuDeviceGetPCIBusId, char* name, int bytes, int) {
    TRY(cuDeviceGetPCIBusId)
    std::snprintf(name, static_cast<size_t>(bytes), "0000:00:00.0");
    return 0;
}
EXPORTED(cuDeviceGetAttribute, int* value, int which, int) {
    TRY(cuDeviceGetAttribute)
    *value = attribute_of(which);
    return 0;
}
EXPORTED(cuMemGetInfo_v2, size_t* free, size_t* total) {
    TRY(cuMemGetInfo)
    *free = size_t{1} << 28, *total = size_t{1} << 32;
    return 0;
}
EXPORTED(cuMemAlloc_v2, void** memory, size_t bytes) {
    TRY(cuMemAlloc)
    *memory = std::calloc(bytes, 1);
    return *memory ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORTED(cuMemFree_v2, void* memory) {
    TRY(cuMemFree)
    std::free(memory);
    return 0;
}
EXPORTED(cuMemcpyHtoDAsync_v2, void* to, const void* from, size_t bytes) {
    TRY(cuMemcpyHtoDAsync)
    std::memcpy(to, from, bytes);
    return 0;
}
EXPORTED(cuMemcpyDtoHAsync_v2, void* to, const void* from, size_t bytes) {
    TRY(cuMemcpyDtoHAsync)
    std::memcpy(to, from, bytes);
    return 0;
}
EXPORTED(cuMemcpyDtoDAsync_v2, void* to, const void* from, size_t bytes) {
    TRY(cuMemcpyDtoDAsync)
    std::memcpy(to, from, bytes);
    return 0;
}
EXPORTED(cuMemsetD8Async, void* to, unsigned char byte, size_t bytes) {
    TRY(cuMemsetD8Async)
    std::memset(to, byte, bytes);
    Record made;
    made.fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    made.fill.bytes = bytes;
    record(made);
    return 0;
}
EXPORTED(cuStreamEndCapture, void*, void** graph) {
    TRY(cuStreamEndCapture)
    *graph = &handle;
    return 0;
}
EXPORTED(cuLaunchKernel, void*, unsigned x, unsigned y, unsigned z, unsigned threads) {
    TRY(cuLaunchKernel)
    record_kernel(x, y, z, threads);
    return 0;
}
EXPORTED(cuLaunchKernelEx, const CUlaunchConfig* how) {
    TRY(cuLaunchKernelEx)
    record_kernel(how->gridDimX, how->gridDimY, how->gridDimZ, how->blockDimX);
    return 0;
}

// The functions of NVRTC; a program is represented by its log.

#define TRY_NVRTC(name) \
    if (const int error = step(#name, 11)) return error;
EXPORTED(nvrtcVersion, int* major, int* minor) {
    TRY_NVRTC(nvrtcVersion)
    *major = 13, *minor = 0;
    return 0;
}
extern "C" const char* nvrtcGetErrorString(int) { return "a fault of the test"; }
EXPORTED(nvrtcGetNumSupportedArchs, int* archs) {
    TRY_NVRTC(nvrtcGetNumSupportedArchs)
    *archs = 1;
    return 0;
}
EXPORTED(nvrtcGetSupportedArchs, int* archs) {
    TRY_NVRTC(nvrtcGetSupportedArchs)
    archs[0] = 80;
    return 0;
}
EXPORTED(nvrtcCreateProgram, std::string** program, const char* source, const char*, int headers,
         const char* const* texts) {
    TRY_NVRTC(nvrtcCreateProgram)
    std::string all = source;
    for (int i = 0; i < headers; ++i) all += texts[i];
    *program = new std::string(log_of(all));
    return 0;
}
EXPORTED(nvrtcSetFlowCallback, void) {
    TRY_NVRTC(nvrtcSetFlowCallback)
    return 0;
}
EXPORTED(nvrtcCompileProgram, void) {
    TRY_NVRTC(nvrtcCompileProgram)
    return 0;
}
EXPORTED(nvrtcDestroyProgram, std::string** program) {
    TRY_NVRTC(nvrtcDestroyProgram)
    delete *program;
    return 0;
}
EXPORTED(nvrtcGetProgramLogSize, std::string* program, size_t* bytes) {
    TRY_NVRTC(nvrtcGetProgramLogSize)
    *bytes = program->size() + 1;
    return 0;
}
EXPORTED(nvrtcGetProgramLog, std::string* program, char* log) {
    TRY_NVRTC(nvrtcGetProgramLog)
    std::memcpy(log, program->c_str(), program->size() + 1);
    return 0;
}
EXPORTED(nvrtcGetCUBINSize, void*, size_t* bytes) {
    TRY_NVRTC(nvrtcGetCUBINSize)
    *bytes = 4;
    return 0;
}
EXPORTED(nvrtcGetCUBIN, void*, char* cubin) {
    TRY_NVRTC(nvrtcGetCUBIN)
    std::fill_n(cubin, 4, 'c');
    return 0;
}

// The functions of CUPTI.

DOES_NOTHING(cuptiActivityEnable)
DOES_NOTHING(cuptiActivityDisable)
GIVES(cuptiGetVersion, uint32_t, 26)
EXPORTED(cuptiGetResultString, int, const char** words) {
    *words = "a fault of the test";
    return 0;
}
EXPORTED(cuptiActivityRegisterCallbacks, CUpti_BuffersCallbackRequestFunc give,
         CUpti_BuffersCallbackCompleteFunc take) {
    TRY(cuptiActivityRegisterCallbacks)
    give_buffer = give, take_buffer = take;
    return 0;
}
EXPORTED(cuptiActivityFlushAll, void) {
    TRY(cuptiActivityFlushAll) {
        const std::lock_guard lock(mutex);
        taken = std::exchange(records, {});
    }
    uint8_t* buffer = nullptr;
    size_t bytes = 0, most = 0;
    give_buffer(&buffer, &bytes, &most);
    take_buffer(nullptr, 0, buffer, bytes, bytes);
    return 0;
}
EXPORTED(cuptiActivityGetNextRecord, void*, size_t, void** next) {
    TRY(cuptiActivityGetNextRecord)
    static Record given;
    if (taken.empty()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    given = taken.front();
    taken.pop_front();
    *next = given.is_kernel ? static_cast<void*>(&given.kernel) : &given.fill;
    return 0;
}

// The functions of NVML.

DOES_NOTHING(nvmlInit_v2)
EXPORTED(nvmlDeviceGetHandleByPciBusId_v2, const char*, void** device) {
    TRY(nvmlDeviceGetHandleByPciBusId)
    *device = &handle;
    return 0;
}
EXPORTED(nvmlDeviceGetClockInfo, void*, int, unsigned* megahertz) {
    TRY(nvmlDeviceGetClockInfo)
    *megahertz = 1000;
    return 0;
}
EXPORTED(nvmlDeviceGetMaxClockInfo, void*, int, unsigned* megahertz) {
    TRY(nvmlDeviceGetMaxClockInfo)
    *megahertz = 1000;
    return 0;
}
EXPORTED(nvmlDeviceGetCurrentClocksThrottleReasons, void*, unsigned long long* reasons) {
    TRY(nvmlDeviceGetCurrentClocksThrottleReasons)
    *reasons = 0;
    return 0;
}
