#include "profiling/cupti_sampling.h"

#include <algorithm>
#include <cmath>

#include "kernels/cuda/driver.h"
#include "profiling/cupti_host.h"

namespace sawtooth {
namespace {

struct Sampled {
    const char* metric;  // its name in CUPTI
    const char* name;
    const char* unit;
    bool rests;  // whether it is 0 when nothing runs; memory is never completely idle
};
constexpr Sampled wanted[] = {
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active", "%", true},
    {"sm__warps_active.avg.per_cycle_elapsed", "warps", "per SM", true},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput", "%", false},
};

constexpr double shortest_step_us = 1;
constexpr double most_steps = 8192;
constexpr size_t hardware_buffer_bytes = size_t{512} << 20;

// Samples of metrics that fit in a single hardware pass.
struct Samples {
    std::vector<double> ends_us;              // the end of every sample
    std::vector<std::vector<double>> values;  // by metric, then by sample
};

// Samples one GPU during its lifetime.
class Sampler {
  public:
    static Outcome<std::unique_ptr<Sampler>> open(const CuptiHost& host, int device);
    ~Sampler();
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;

    std::optional<Error> configure(const Chip& chip, double step_us, uint32_t most_samples);
    std::optional<Error> start();
    std::optional<Error> stop();
    Outcome<Samples> decode();

  private:
    explicit Sampler(const CuptiHost& host) : host_(host) {}
    std::optional<Error> take(Samples& samples);

    const CuptiHost& host_;
    Image configuration_, image_;
    CUpti_PmSampling_Object* object_ = nullptr;
};

Outcome<std::unique_ptr<Sampler>> Sampler::open(const CuptiHost& host, int device) {
    std::unique_ptr<Sampler> sampler(new Sampler(host));
    auto configuration = host.configuration();
    if (!configuration) return configuration.error();
    sampler->configuration_ = std::move(*configuration);
    CUPTI_PARAMETERS(CUpti_PmSampling_Enable_Params) enable;
    enable.deviceIndex = static_cast<size_t>(device);
    if (auto error =
            cupti_problem_of("cuptiPmSamplingEnable", profiler_calls().cuptiPmSamplingEnable(&enable)))
        return *error;
    sampler->object_ = enable.pPmSamplingObject;
    return sampler;
}

Sampler::~Sampler() {
    if (!object_) return;
    CUPTI_PARAMETERS(CUpti_PmSampling_Disable_Params) disable;
    disable.pPmSamplingObject = object_;
    profiler_calls().cuptiPmSamplingDisable(&disable);
}

std::optional<Error> Sampler::configure(const Chip& chip, double step_us, uint32_t most_samples) {
    CUPTI_PARAMETERS(CUpti_PmSampling_SetConfig_Params) set;
    set.pPmSamplingObject = object_;
    set.configSize = configuration_.size();
    set.pConfig = configuration_.data();
    set.hardwareBufferSize = hardware_buffer_bytes;
    set.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    // GA100 cannot trigger by time, so it uses cycles of its system clock (about 1.2 GHz).
    const bool by_time = chip.compute_capability > 80;
    set.triggerMode = by_time ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL
                              : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
    set.samplingInterval = static_cast<uint64_t>(step_us * (by_time ? 1000 : 1200));
    if (auto error =
            cupti_problem_of("cuptiPmSamplingSetConfig", profiler_calls().cuptiPmSamplingSetConfig(&set)))
        return error;

    std::vector<const char*> names = host_.metrics();
    CUPTI_PARAMETERS(CUpti_PmSampling_GetCounterDataSize_Params) size;
    size.pPmSamplingObject = object_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxSamples = most_samples;
    if (auto error = cupti_problem_of("cuptiPmSamplingGetCounterDataSize",
                                      profiler_calls().cuptiPmSamplingGetCounterDataSize(&size)))
        return error;
    image_.assign(size.counterDataSize, 0);
    CUPTI_PARAMETERS(CUpti_PmSampling_CounterDataImage_Initialize_Params) initialise;
    initialise.pPmSamplingObject = object_;
    initialise.counterDataSize = image_.size();
    initialise.pCounterData = image_.data();
    return cupti_problem_of("cuptiPmSamplingCounterDataImageInitialize",
                            profiler_calls().cuptiPmSamplingCounterDataImageInitialize(&initialise));
}

std::optional<Error> Sampler::start() {
    CUPTI_PARAMETERS(CUpti_PmSampling_Start_Params) start;
    start.pPmSamplingObject = object_;
    return cupti_problem_of("cuptiPmSamplingStart", profiler_calls().cuptiPmSamplingStart(&start));
}

std::optional<Error> Sampler::stop() {
    CUPTI_PARAMETERS(CUpti_PmSampling_Stop_Params) stop;
    stop.pPmSamplingObject = object_;
    return cupti_problem_of("cuptiPmSamplingStop", profiler_calls().cuptiPmSamplingStop(&stop));
}

// Appends the content of the image to `samples`.
std::optional<Error> Sampler::take(Samples& samples) {
    CUPTI_PARAMETERS(CUpti_PmSampling_GetCounterDataInfo_Params) info;
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    if (auto error = cupti_problem_of("cuptiPmSamplingGetCounterDataInfo",
                                      profiler_calls().cuptiPmSamplingGetCounterDataInfo(&info)))
        return error;
    for (size_t i = 0; i < info.numCompletedSamples; ++i) {
        CUPTI_PARAMETERS(CUpti_PmSampling_CounterData_GetSampleInfo_Params) sample;
        sample.pPmSamplingObject = object_;
        sample.pCounterDataImage = image_.data();
        sample.counterDataImageSize = image_.size();
        sample.sampleIndex = i;
        if (auto error = cupti_problem_of("cuptiPmSamplingCounterDataGetSampleInfo",
                                          profiler_calls().cuptiPmSamplingCounterDataGetSampleInfo(&sample)))
            return error;
        const auto values = host_.values(image_, i);
        if (!values) return values.error();
        samples.ends_us.push_back(static_cast<double>(sample.endTimestamp) / 1e3);
        for (size_t m = 0; m < values->size(); ++m) samples.values[m].push_back((*values)[m]);
    }
    return {};
}

// Decodes only once: samples that do not fit in the image are lost.
Outcome<Samples> Sampler::decode() {
    CUPTI_PARAMETERS(CUpti_PmSampling_DecodeData_Params) decode;
    decode.pPmSamplingObject = object_;
    decode.pCounterDataImage = image_.data();
    decode.counterDataImageSize = image_.size();
    if (auto error = cupti_problem_of("cuptiPmSamplingDecodeData",
                                      profiler_calls().cuptiPmSamplingDecodeData(&decode)))
        return *error;
    if (decode.overflow)
        return Error::failure(
            "the sampling buffer is too small for these launches (cuptiPmSamplingDecodeData). Use a smaller "
            "shape, or --profile counters, which has no such limit");
    Samples samples;
    samples.values.resize(host_.count());
    if (auto error = take(samples)) return *error;
    return samples;
}

Outcome<Image> sampled_counters(int device) {
    CUPTI_PARAMETERS(CUpti_PmSampling_GetCounterAvailability_Params) availability;
    availability.deviceIndex = static_cast<size_t>(device);
    const auto ask = [&] {
        return cupti_problem_of("cuptiPmSamplingGetCounterAvailability",
                                profiler_calls().cuptiPmSamplingGetCounterAvailability(&availability));
    };
    if (const auto error = ask()) return *error;
    Image image(availability.counterAvailabilityImageSize);
    availability.pCounterAvailabilityImage = image.data();
    if (const auto error = ask()) return *error;
    return image;
}

// A host with these metrics of `wanted`; nullopt if the chip lacks one of them or they need more than one
// pass.
std::optional<CuptiHost> single_pass(const std::string& chip, const Image& availability,
                                     const std::vector<const Sampled*>& metrics) {
    auto host = CuptiHost::make(CUPTI_PROFILER_TYPE_PM_SAMPLING, chip, availability);
    if (!host) return {};
    for (const Sampled* metric : metrics)
        if (!host->add(metric->metric)) return {};
    auto configuration = host->configuration();
    if (!configuration) return {};
    const auto passes = CuptiHost::passes(*configuration);
    if (!passes || *passes != 1) return {};
    return std::move(*host);
}

struct Pass {
    std::vector<const Sampled*> metrics;
    CuptiHost host;
};

// Puts each metric into the first pass where it fits, and leaves out metrics that the chip lacks.
std::vector<Pass> passes_for(const std::string& chip, const Image& availability) {
    std::vector<Pass> passes;
    for (const Sampled& metric : wanted) {
        const auto joins = [&](Pass& pass) {
            std::vector<const Sampled*> together = pass.metrics;
            together.push_back(&metric);
            auto host = single_pass(chip, availability, together);
            if (!host) return false;
            pass = {std::move(together), std::move(*host)};
            return true;
        };
        if (std::any_of(passes.begin(), passes.end(), joins)) continue;
        if (auto host = single_pass(chip, availability, {&metric}))
            passes.push_back({{&metric}, std::move(*host)});
    }
    return passes;
}

Outcome<Samples> sample(GpuTimer& timer, const Plan& plan, Cache cache, const Pass& pass, int device,
                        double step_us, double steps) {
    // There is room for a run that takes 1.5 times as long, and for the time around it.
    const auto most_samples = static_cast<uint32_t>(1.5 * steps) + 2048;
    auto sampler = Sampler::open(pass.host, device);
    if (!sampler) return sampler.error();
    if (auto error = (*sampler)->configure(timer.device().chip(), step_us, most_samples)) return *error;
    if (auto error = timer.prepare(plan, cache)) return *error;
    if (auto error = (*sampler)->start()) return *error;
    const auto failed = timer.launch_all(plan);
    const auto stopped = (*sampler)->stop();
    if (failed) return *failed;
    if (stopped) return *stopped;
    return (*sampler)->decode();
}

double step_of(const std::vector<double>& ends_us) {
    std::vector<double> steps;
    for (size_t i = 1; i < ends_us.size(); ++i) steps.push_back(ends_us[i] - ends_us[i - 1]);
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return *middle;
}

Outcome<int> number_of(const cuda::Device& device) {
    device.stream();  // makes the context current
    CUdevice number = 0;
    const CUresult result = cuda::driver_calls().cuCtxGetDevice(&number);
    if (result != CUDA_SUCCESS) return cuda::driver_error("cuCtxGetDevice", result);
    return number;
}

}  // namespace

SampleRange active_range(const std::vector<double>& values) {
    constexpr double share_of_peak = 0.05;
    if (values.size() < 2) return {};
    const auto begin = values.begin() + 1;  // the first sample includes work from before sampling
    double peak = 0;
    for (auto value = begin; value != values.end(); ++value)
        if (std::isfinite(*value)) peak = std::max(peak, *value);
    const auto is_active = [&](double value) { return value > share_of_peak * peak; };
    const auto first = std::find_if(begin, values.end(), is_active);
    if (first == values.end()) return {};
    const auto last = std::find_if(values.rbegin(), values.rend(), is_active).base();
    return {static_cast<size_t>(first - values.begin()), static_cast<size_t>(last - values.begin())};
}

SampleRange busiest_range(const std::vector<double>& values, size_t count) {
    if (values.size() < 2) return {};
    count = std::min(count, values.size() - 1);
    if (count == 0) return {};
    const auto at = [&](size_t i) { return std::isfinite(values[i]) ? values[i] : 0; };
    double sum = 0, most = -1;
    size_t begin = 1;
    for (size_t end = 1; end < values.size(); ++end) {
        sum += at(end);
        if (end < count) continue;
        if (sum > most) {
            most = sum;
            begin = end + 1 - count;
        }
        sum -= at(end + 1 - count);
    }
    return {begin, begin + count};
}

Track cut_to(const SampleRange& range, Track track) {
    const auto begin = static_cast<std::ptrdiff_t>(std::max<size_t>(range.begin, 1) - 1);
    const auto end = static_cast<std::ptrdiff_t>(std::min(range.end + 1, track.values.size()));
    track.start_us = -track.step_us;
    track.values = std::vector<double>(track.values.begin() + begin, track.values.begin() + end);
    return track;
}

Outcome<std::vector<Track>> sample_tracks(GpuTimer& timer, const Plan& plan, Cache cache, double plan_us) {
    if (const auto opened = cupti_profiler(); !opened) return opened.error();
    timer.stop_recording();
    // Captures graphs first, because that must not be sampled.
    if (auto error = timer.run(plan)) return *error;
    const auto device = number_of(timer.device());
    if (!device) return device.error();
    const auto chip = cupti_chip_name(*device);
    if (!chip) return chip.error();
    const auto availability = sampled_counters(*device);
    if (!availability) return availability.error();
    const std::vector<Pass> passes = passes_for(*chip, *availability);
    if (passes.empty()) return Error::failure("CUPTI has none of the sampled metrics on " + *chip);
    const double step_us = std::max(shortest_step_us, plan_us / most_steps);
    std::vector<Track> tracks;
    const double steps = std::ceil(plan_us / step_us);
    auto samples_of_plan = static_cast<size_t>(steps);
    for (const Pass& pass : passes) {
        const auto samples = sample(timer, plan, cache, pass, *device, step_us, steps);
        if (!samples) return samples.error();
        if (samples->ends_us.size() < 2) continue;
        const bool rests = pass.metrics.front()->rests;
        const SampleRange range = rests ? active_range(samples->values.front())
                                        : busiest_range(samples->values.front(), samples_of_plan);
        if (range.is_empty()) continue;
        if (rests)
            samples_of_plan = range.end - range.begin;  // the number for this run, because launches vary
        for (size_t i = 0; i < pass.metrics.size(); ++i)
            tracks.push_back(cut_to(range, {pass.metrics[i]->name, pass.metrics[i]->unit, 0,
                                            step_of(samples->ends_us), samples->values[i]}));
    }
    return tracks;
}

}  // namespace sawtooth
