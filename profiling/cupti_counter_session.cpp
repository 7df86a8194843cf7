#include "profiling/cupti_counter_session.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/cuda/driver.h"
#include "kernels/figures/counters.h"

namespace sawtooth {
namespace {

// This is the first call that needs permission to read counters.
Outcome<Image> available_counters(CUcontext context) {
    CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params) availability;
    availability.ctx = context;
    const auto ask = [&] {
        return cupti_problem_of("cuptiProfilerGetCounterAvailability",
                                profiler_calls().cuptiProfilerGetCounterAvailability(&availability));
    };
    if (const auto error = ask()) return *error;
    Image image(availability.counterAvailabilityImageSize);
    availability.pCounterAvailabilityImage = image.data();
    if (const auto error = ask()) return *error;
    return image;
}

struct Present {
    CUcontext context = nullptr;
    int device = 0;
};

Outcome<Present> present(const cuda::Device& device) {
    device.stream();  // makes the context current
    Present present;
    const cuda::DriverCalls& driver = cuda::driver_calls();
    if (const CUresult result = driver.cuCtxGetCurrent(&present.context); result != CUDA_SUCCESS)
        return cuda::driver_error("cuCtxGetCurrent", result);
    if (const CUresult result = driver.cuCtxGetDevice(&present.device); result != CUDA_SUCCESS)
        return cuda::driver_error("cuCtxGetDevice", result);
    return present;
}

std::string key_of(std::string_view metric) {
    const auto& all = counters();
    return std::find_if(all.begin(), all.end(),
                        [&](const Counter& counter) { return counter.metric == metric; })
        ->key;
}

}  // namespace

Outcome<std::unique_ptr<CounterSession>> CounterSession::open(cuda::Device& device) {
    if (const auto opened = cupti_profiler(); !opened) return opened.error();
    const auto at = present(device);
    if (!at) return at.error();
    const auto chip = cupti_chip_name(at->device);
    if (!chip) return chip.error();
    auto availability = available_counters(at->context);
    if (!availability) return availability.error();
    auto host = CuptiHost::make(CUPTI_PROFILER_TYPE_RANGE_PROFILER, *chip, std::move(*availability));
    if (!host) return host.error();
    for (const Counter& counter : counters()) host->add(counter.metric);
    if (host->count() == 0) return Error::failure("CUPTI has none of the requested counters on " + *chip);

    std::unique_ptr<CounterSession> session(new CounterSession(std::move(*host)));
    if (auto error = session->enable(at->context)) return *error;
    return session;
}

CounterSession::~CounterSession() {
    if (!profiler_) return;
    CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params) disable;
    disable.pRangeProfilerObject = profiler_;
    profiler_calls().cuptiRangeProfilerDisable(&disable);
}

std::optional<Error> CounterSession::enable(CUcontext context) {
    auto configuration = host_.configuration();
    if (!configuration) return configuration.error();
    configuration_ = std::move(*configuration);
    const auto passes = CuptiHost::passes(configuration_);
    if (!passes) return passes.error();
    passes_ = *passes;

    CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params) enable;
    enable.ctx = context;
    if (auto error =
            cupti_problem_of("cuptiRangeProfilerEnable", profiler_calls().cuptiRangeProfilerEnable(&enable)))
        return error;
    profiler_ = enable.pRangeProfilerObject;
    return {};
}

// Prepares an empty image for the counts of one range, and sets the counters to read.
std::optional<Error> CounterSession::configure() {
    std::vector<const char*> names = host_.metrics();
    CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params) size;
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    if (auto error = cupti_problem_of("cuptiRangeProfilerGetCounterDataSize",
                                      profiler_calls().cuptiRangeProfilerGetCounterDataSize(&size)))
        return error;
    counts_.assign(size.counterDataSize, 0);
    CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params) initialise;
    initialise.pRangeProfilerObject = profiler_;
    initialise.counterDataSize = counts_.size();
    initialise.pCounterData = counts_.data();
    if (auto error =
            cupti_problem_of("cuptiRangeProfilerCounterDataImageInitialize",
                             profiler_calls().cuptiRangeProfilerCounterDataImageInitialize(&initialise)))
        return error;

    CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params) set;
    set.pRangeProfilerObject = profiler_;
    set.configSize = configuration_.size();
    set.pConfig = configuration_.data();
    set.counterDataImageSize = counts_.size();
    set.pCounterDataImage = counts_.data();
    set.range = CUPTI_AutoRange;
    set.replayMode = CUPTI_KernelReplay;
    set.maxRangesPerPass = 1;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    return cupti_problem_of("cuptiRangeProfilerSetConfig",
                            profiler_calls().cuptiRangeProfilerSetConfig(&set));
}

Outcome<std::map<std::string, double>> CounterSession::count(
    const std::function<std::optional<Error>()>& start) {
    if (auto error = configure()) return *error;
    CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params) begin;
    begin.pRangeProfilerObject = profiler_;
    if (auto error =
            cupti_problem_of("cuptiRangeProfilerStart", profiler_calls().cuptiRangeProfilerStart(&begin)))
        return *error;
    const auto failed = start();
    CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params) stop;
    stop.pRangeProfilerObject = profiler_;
    const auto stopped =
        cupti_problem_of("cuptiRangeProfilerStop", profiler_calls().cuptiRangeProfilerStop(&stop));
    if (failed) return *failed;
    if (stopped) return *stopped;
    CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params) decode;
    decode.pRangeProfilerObject = profiler_;
    if (auto error = cupti_problem_of("cuptiRangeProfilerDecodeData",
                                      profiler_calls().cuptiRangeProfilerDecodeData(&decode)))
        return *error;
    CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params) info;
    info.pCounterDataImage = counts_.data();
    info.counterDataImageSize = counts_.size();
    if (auto error = cupti_problem_of("cuptiRangeProfilerGetCounterDataInfo",
                                      profiler_calls().cuptiRangeProfilerGetCounterDataInfo(&info)))
        return *error;
    if (info.numTotalRanges == 0)
        return Error::failure("cuptiRangeProfilerDecodeData: no launch was counted");
    const auto values = host_.values(counts_, 0);
    if (!values) return values.error();
    std::map<std::string, double> counted;
    for (size_t i = 0; i < values->size(); ++i)
        if (std::isfinite((*values)[i])) counted[key_of(host_.metrics()[i])] = (*values)[i];
    return counted;
}

}  // namespace sawtooth
