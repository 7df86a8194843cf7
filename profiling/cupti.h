#pragma once

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <optional>

#include "kernels/core/refusal.h"

namespace sawtooth {

// The CUPTI functions that time launches exist since CUDA 12.0.
#define SAWTOOTH_CUPTI_CALLS(X)       \
    X(cuptiGetVersion)                \
    X(cuptiGetResultString)           \
    X(cuptiActivityRegisterCallbacks) \
    X(cuptiActivityEnable)            \
    X(cuptiActivityDisable)           \
    X(cuptiActivityFlushAll)          \
    X(cuptiActivityGetNextRecord)

// The functions that read counters and samples exist since CUDA 12.6.
#define SAWTOOTH_CUPTI_PROFILER_CALLS(X)            \
    X(cuptiProfilerInitialize)                      \
    X(cuptiProfilerGetCounterAvailability)          \
    X(cuptiDeviceGetChipName)                       \
    X(cuptiProfilerHostInitialize)                  \
    X(cuptiProfilerHostDeinitialize)                \
    X(cuptiProfilerHostConfigAddMetrics)            \
    X(cuptiProfilerHostGetConfigImageSize)          \
    X(cuptiProfilerHostGetConfigImage)              \
    X(cuptiProfilerHostGetNumOfPasses)              \
    X(cuptiProfilerHostEvaluateToGpuValues)         \
    X(cuptiRangeProfilerEnable)                     \
    X(cuptiRangeProfilerDisable)                    \
    X(cuptiRangeProfilerSetConfig)                  \
    X(cuptiRangeProfilerStart)                      \
    X(cuptiRangeProfilerStop)                       \
    X(cuptiRangeProfilerDecodeData)                 \
    X(cuptiRangeProfilerGetCounterDataSize)         \
    X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerGetCounterDataInfo)         \
    X(cuptiPmSamplingGetCounterAvailability)        \
    X(cuptiPmSamplingEnable)                        \
    X(cuptiPmSamplingDisable)                       \
    X(cuptiPmSamplingSetConfig)                     \
    X(cuptiPmSamplingStart)                         \
    X(cuptiPmSamplingStop)                          \
    X(cuptiPmSamplingDecodeData)                    \
    X(cuptiPmSamplingGetCounterDataSize)            \
    X(cuptiPmSamplingCounterDataImageInitialize)    \
    X(cuptiPmSamplingGetCounterDataInfo)            \
    X(cuptiPmSamplingCounterDataGetSampleInfo)

// Members have the names of the functions: (*cupti())->cuptiActivityEnable(…).
#define SAWTOOTH_MEMBER(name) decltype(&::name) name = nullptr;
struct CuptiCalls {
    SAWTOOTH_CUPTI_CALLS(SAWTOOTH_MEMBER)
};
struct CuptiProfilerCalls {
    SAWTOOTH_CUPTI_PROFILER_CALLS(SAWTOOTH_MEMBER)
};
#undef SAWTOOTH_MEMBER

// The functions of CUPTI, opened at the first call. Failure: CUPTI is missing or too old, and what to do.
Outcome<const CuptiCalls*> cupti();
// The functions for counters and samples, initialised.
Outcome<const CuptiProfilerCalls*> cupti_profiler();
// The same. Requires that cupti_profiler() succeeded.
inline const CuptiProfilerCalls& profiler_calls() { return **cupti_profiler(); }
// Why CUPTI cannot read counters at all; uses neither the driver nor a GPU.
std::optional<Error> cupti_problem();

// The error of a call, with the setting that allows it if permission is missing: "cuptiRangeProfilerStart:
// CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: …". Requires that cupti() succeeded.
Error cupti_error(const char* call, CUptiResult result);
// The same; nothing if the call succeeded.
inline std::optional<Error> cupti_problem_of(const char* call, CUptiResult result) {
    return result == CUPTI_SUCCESS ? std::optional<Error>() : cupti_error(call, result);
}

// Parameters of a call with their size set and everything else zero: CUPTI_PARAMETERS(CUpti_…_Params) p.
template <class Parameters, size_t size>
struct SizedParameters : Parameters {
    SizedParameters() : Parameters() { this->structSize = size; }
};
#define CUPTI_PARAMETERS(Type) SizedParameters<Type, Type##_STRUCT_SIZE>

}  // namespace sawtooth
