#include "profiling/cupti.h"

#include <string>

#include "kernels/cuda/library.h"

namespace sawtooth {
namespace {

constexpr const char* remedy =
    "install the CUDA Toolkit 12.6 or newer, or set CUDA_HOME to its folder; without it launches are timed "
    "by CUDA events, without counters and samples";

Outcome<cuda::Library> open_cupti() {
    return cuda::open_library({"cupti",
                               "CUPTI, which measures kernels (libcupti.so)",
                               {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
                               true,
                               remedy});
}

const Outcome<cuda::Library>& library() {
    static const Outcome<cuda::Library> opened = open_cupti();
    return opened;
}

Outcome<CuptiCalls> load_calls() {
    if (!library()) return library().error();
    CuptiCalls calls;
#define SAWTOOTH_LOAD(name)                                                        \
    calls.name = reinterpret_cast<decltype(calls.name)>(library()->symbol(#name)); \
    if (!calls.name) return Error::failure(library()->path() + " has no " #name ": " + remedy);
    SAWTOOTH_CUPTI_CALLS(SAWTOOTH_LOAD)
#undef SAWTOOTH_LOAD
    return calls;
}

Outcome<CuptiProfilerCalls> load_profiler_calls() {
    const auto base = cupti();
    if (!base) return base.error();
    CuptiProfilerCalls calls;
#define SAWTOOTH_LOAD(name)                                                        \
    calls.name = reinterpret_cast<decltype(calls.name)>(library()->symbol(#name)); \
    if (!calls.name)                                                               \
        return Error::failure(library()->path() + " is older than CUDA 12.6 (no " #name "): " + remedy);
    SAWTOOTH_CUPTI_PROFILER_CALLS(SAWTOOTH_LOAD)
#undef SAWTOOTH_LOAD
    return calls;
}

const Outcome<CuptiProfilerCalls>& opened_profiler() {
    static const Outcome<CuptiProfilerCalls> calls = load_profiler_calls();
    return calls;
}

// The profiler opens these libraries by their bare names, so the loader must already know them. Only the
// profiler needs them, and opening them takes a tenth of a second.
void open_libraries_of_profiler() {
    const size_t slash = library()->path().rfind('/');
    const std::string folder = slash == std::string::npos ? "" : library()->path().substr(0, slash + 1);
    for (const char* file : {"libnvperf_host.so", "libnvperf_target.so"})
        cuda::open_library({"cupti", file, {folder + file}, false, remedy});
}

CUptiResult initialise_profiler() {
    open_libraries_of_profiler();
    CUPTI_PARAMETERS(CUpti_Profiler_Initialize_Params) initialise;
    return opened_profiler()->cuptiProfilerInitialize(&initialise);
}

// What the user can do about an error; "" if the message of CUPTI says enough.
std::string advice_on(CUptiResult result) {
    switch (result) {
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
            return "the driver allows only administrators to read counters; load the kernel module nvidia "
                   "with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN";
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
            return "allow profiling of this virtual GPU on its host";
        case CUPTI_ERROR_HARDWARE_BUSY:
            return "another program is reading the counters (a profiler, or DCGM); stop or pause it";
        default:
            return "";
    }
}

}  // namespace

Outcome<const CuptiCalls*> cupti() {
    static const Outcome<CuptiCalls> calls = load_calls();
    if (!calls) return calls.error();
    return &*calls;
}

std::optional<Error> cupti_problem() {
    if (!opened_profiler()) return opened_profiler().error();
    return {};
}

Outcome<const CuptiProfilerCalls*> cupti_profiler() {
    if (!opened_profiler()) return opened_profiler().error();
    static const CUptiResult initialised = initialise_profiler();
    if (initialised != CUPTI_SUCCESS) return cupti_error("cuptiProfilerInitialize", initialised);
    return &*opened_profiler();
}

Error cupti_error(const char* call, CUptiResult result) {
    const char* name = nullptr;
    (*cupti())->cuptiGetResultString(result, &name);
    std::string text =
        std::string(call) + ": " + (name ? name : "CUPTI error " + std::to_string(static_cast<int>(result)));
    if (const std::string advice = advice_on(result); !advice.empty()) text += ": " + advice;
    return Error::failure(std::move(text));
}

}  // namespace sawtooth
