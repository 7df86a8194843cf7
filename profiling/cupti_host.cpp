#include "profiling/cupti_host.h"

namespace sawtooth {
void CuptiHost::Closer::operator()(CUpti_Profiler_Host_Object* object) const {
    CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params) deinitialise;
    deinitialise.pHostObject = object;
    profiler_calls().cuptiProfilerHostDeinitialize(&deinitialise);
}

Outcome<CuptiHost> CuptiHost::make(CUpti_ProfilerType type, const std::string& chip, Image availability) {
    if (const auto opened = cupti_profiler(); !opened) return opened.error();
    CuptiHost host;
    host.availability_ = std::move(availability);
    CUPTI_PARAMETERS(CUpti_Profiler_Host_Initialize_Params) initialise;
    initialise.profilerType = type;
    initialise.pChipName = chip.c_str();
    initialise.pCounterAvailabilityImage = host.availability_.data();
    if (const CUptiResult result = profiler_calls().cuptiProfilerHostInitialize(&initialise);
        result != CUPTI_SUCCESS)
        return cupti_error("cuptiProfilerHostInitialize", result);
    host.object_.reset(initialise.pHostObject);
    return host;
}

bool CuptiHost::add(const char* metric) {
    CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params) added;
    added.pHostObject = object_.get();
    added.ppMetricNames = &metric;
    added.numMetrics = 1;
    if (profiler_calls().cuptiProfilerHostConfigAddMetrics(&added) != CUPTI_SUCCESS) return false;
    metrics_.push_back(metric);
    return true;
}

Outcome<Image> CuptiHost::configuration() const {
    CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params) size;
    size.pHostObject = object_.get();
    if (const CUptiResult result = profiler_calls().cuptiProfilerHostGetConfigImageSize(&size);
        result != CUPTI_SUCCESS)
        return cupti_error("cuptiProfilerHostGetConfigImageSize", result);
    Image image(size.configImageSize);
    CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params) get;
    get.pHostObject = object_.get();
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    if (const CUptiResult result = profiler_calls().cuptiProfilerHostGetConfigImage(&get);
        result != CUPTI_SUCCESS)
        return cupti_error("cuptiProfilerHostGetConfigImage", result);
    return image;
}

Outcome<size_t> CuptiHost::passes(Image& configuration) {
    CUPTI_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params) passes;
    passes.configImageSize = configuration.size();
    passes.pConfigImage = configuration.data();
    if (const CUptiResult result = profiler_calls().cuptiProfilerHostGetNumOfPasses(&passes);
        result != CUPTI_SUCCESS)
        return cupti_error("cuptiProfilerHostGetNumOfPasses", result);
    return passes.numOfPasses;
}

Outcome<std::vector<double>> CuptiHost::values(const Image& counts, size_t index) const {
    std::vector<double> values(metrics_.size());
    std::vector<const char*> names = metrics_;
    CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params) evaluate;
    evaluate.pHostObject = object_.get();
    evaluate.pCounterDataImage = counts.data();
    evaluate.counterDataImageSize = counts.size();
    evaluate.rangeIndex = index;
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = values.data();
    if (const CUptiResult result = profiler_calls().cuptiProfilerHostEvaluateToGpuValues(&evaluate);
        result != CUPTI_SUCCESS)
        return cupti_error("cuptiProfilerHostEvaluateToGpuValues", result);
    return values;
}

Outcome<std::string> cupti_chip_name(int device) {
    if (const auto opened = cupti_profiler(); !opened) return opened.error();
    CUPTI_PARAMETERS(CUpti_Device_GetChipName_Params) name;
    name.deviceIndex = static_cast<size_t>(device);
    if (const CUptiResult result = profiler_calls().cuptiDeviceGetChipName(&name); result != CUPTI_SUCCESS)
        return cupti_error("cuptiDeviceGetChipName", result);
    return std::string(name.pChipName);
}

}  // namespace sawtooth
