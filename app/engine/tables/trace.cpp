#include "app/engine/tables/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "app/engine/identity.h"
#include "app/engine/tables/commands.h"
#include "app/engine/wire/json_values.h"
#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

// Traces have a resolution of a nanosecond.
double in_nanoseconds(double us) { return std::round(us * 1e3); }

// Start and duration of an event whose end is rounded like the start of the next one, so that neighbours
// never overlap. Absent if the times are unknown.
std::optional<std::pair<double, double>> place_of(double start_us, double end_us) {
    const double start = in_nanoseconds(start_us), end = in_nanoseconds(end_us);
    if (!std::isfinite(start) || !std::isfinite(end) || end < start) return {};
    return {{start / 1e3, (end - start) / 1e3}};
}

Json extent_of(const Extent& extent) { return Json::array({extent.x, extent.y, extent.z}); }

Json arguments_of(const LaunchRecord& launch) {
    const LaunchInfo& info = *launch.info;
    Json arguments = {{"meaning", info.meaning},
                      {"grid", extent_of(info.grid)},
                      {"block", extent_of(info.block)},
                      {"bytes", number(info.work.bytes)},
                      {"operations", number(info.work.operations)}};
    if (const auto& resources = info.resources) {
        arguments["registers"] = resources->registers;
        arguments["shared_bytes"] = resources->shared_bytes;
        arguments["spill_bytes"] = resources->spill_bytes;
    }
    if (launch.occupancy.theoretical) {
        arguments["theoretical_occupancy"] = number(*launch.occupancy.theoretical);
        arguments["occupancy_limiter"] = launch.occupancy.limiter;
    }
    if (launch.occupancy.achieved) arguments["achieved_occupancy"] = number(*launch.occupancy.achieved);
    for (const auto& [name, value] : launch.counters) arguments[name] = number(value);
    return arguments;
}

// Writes the events of one variant, which is a process of the trace.
class Process {
  public:
    Process(Json& events, int id) : events_(events), id_(id) {}

    void name(const std::string& name) {
        events_.push_back(metadata("process_name", {{"name", name}}));
        events_.push_back(metadata("process_sort_index", {{"sort_index", id_}}));
    }

    // Adds an event to a thread, which gets its name with the first one.
    void add(const std::string& thread, const std::string& name, double start_us, double end_us,
             Json arguments) {
        const auto place = place_of(start_us, end_us);
        if (!place) return;
        events_.push_back({{"name", name},
                           {"ph", "X"},
                           {"pid", id_},
                           {"tid", thread_of(thread)},
                           {"ts", place->first},
                           {"dur", place->second},
                           {"args", std::move(arguments)}});
    }

    // A viewer shows the name of the counter, then that of the argument: "SM active %".
    void count(const std::string& counter, const std::string& unit, double at_us, double value) {
        if (!std::isfinite(at_us) || !std::isfinite(value)) return;
        at_us = std::max(at_us, 0.0);  // the first sample may begin before the first launch
        events_.push_back({{"name", counter},
                           {"ph", "C"},
                           {"pid", id_},
                           {"ts", in_nanoseconds(at_us) / 1e3},
                           {"args", {{unit.empty() ? "value" : unit, value}}}});
    }

  private:
    Json metadata(const char* name, Json arguments) const {
        return {{"name", name}, {"ph", "M"}, {"pid", id_}, {"args", std::move(arguments)}};
    }

    size_t thread_of(const std::string& name) {
        const auto [place, is_new] = threads_.emplace(name, threads_.size() + 1);
        if (is_new) {
            for (Json event : {metadata("thread_name", {{"name", name}}),
                               metadata("thread_sort_index", {{"sort_index", place->second}})}) {
                event["tid"] = place->second;
                events_.push_back(std::move(event));
            }
        }
        return place->second;
    }

    Json& events_;
    int id_;
    std::map<std::string, size_t> threads_;
};

// The threads of launches: a launch that starts before the previous one ends needs another one, because the
// events of a thread must not overlap.
class LaunchThreads {
  public:
    explicit LaunchThreads(std::string name) : name_(std::move(name)) {}

    std::string thread_for(double start_us, double end_us) {
        const double start = in_nanoseconds(start_us);
        size_t at = 0;
        while (at < ends_.size() && ends_[at] > start) ++at;
        if (at == ends_.size()) ends_.push_back(start);
        ends_[at] = std::max(start, in_nanoseconds(end_us));
        return at == 0 ? name_ : fmt::format("{}, overlapping {}", name_, at);
    }

  private:
    std::string name_;
    std::vector<double> ends_;  // of the last launch on each thread, in nanoseconds
};

// "fused", "fused (wrong)", "sequential (the first 16,384 of 65,536 launches)"
std::string name_of_process(const VariantResult& variant) {
    std::string remarks = wrong_badge(variant);
    if (const auto kept = static_cast<int64_t>(variant.launches.size()); kept < variant.launch_count)
        remarks += fmt::format("{}the first {} of {} launches", remarks.empty() ? "" : ", ",
                               with_thousands(kept), with_thousands(variant.launch_count));
    return remarks.empty() ? variant.name : fmt::format("{} ({})", variant.name, remarks);
}

void add_variant(const Result& result, const VariantResult& variant, Json& events) {
    Process process(events, variant.index + 1);
    process.name(name_of_process(variant));
    LaunchThreads launches(result.backend == Backend::cuda ? "stream" : "launches");
    for (const LaunchRecord& launch : variant.launches) {
        const double end = launch.start_us + launch.duration_us;
        process.add(launches.thread_for(launch.start_us, end), launch.info->name, launch.start_us, end,
                    arguments_of(launch));
    }
    // Threads stand in the order of the workers, not in the one in which these began.
    std::vector<std::pair<BusySpan, const LaunchInfo*>> spans;
    for (const LaunchRecord& launch : variant.launches)
        for (const BusySpan& span : launch.busy) spans.emplace_back(span, launch.info.get());
    std::stable_sort(spans.begin(), spans.end(), [](const auto& one, const auto& other) {
        return one.first.worker < other.first.worker;
    });
    for (const auto& [span, info] : spans)
        process.add(fmt::format("worker {}", span.worker), info->name, span.start_us, span.end_us,
                    Json::object());
    for (const Track& track : variant.tracks)
        for (size_t i = 0; i < track.values.size(); ++i)
            process.count(track.name, track.unit, track.start_us + static_cast<double>(i) * track.step_us,
                          track.values[i]);
}

// What the events are, since a viewer shows no captions.
std::string words_of_recording(const Result& result) {
    std::string words = "Each process is one recorded repeat of a variant.";
    if (result.backend == Backend::cuda)
        words += " Recording slows chains of short launches; counters are from a separate run.";
    return words;
}

}  // namespace

bool has_launches(const Result& result) {
    return std::any_of(result.variants.begin(), result.variants.end(),
                       [](const VariantResult& variant) { return !variant.launches.empty(); });
}

std::string to_trace(const Result& result) {
    Json events = Json::array();
    for (const VariantResult& variant : result.variants)
        if (!variant.launches.empty()) add_variant(result, variant, events);
    Json times = Json::object();
    for (const VariantResult& variant : result.variants)
        if (variant.time) times[variant.name] = number(variant.time->median);
    const Json trace = {{"traceEvents", std::move(events)},
                        {"displayTimeUnit", "ns"},
                        {"otherData",
                         {{"program", fmt::format("sawtooth {}", build_identity())},
                          {"family", result.request.family},
                          {"device", result.device},
                          {"command", command_of(result.request)},
                          {"parameters", object_of(result.parameters)},
                          {"seed", result.request.seed},
                          {"median_time_us", std::move(times)},
                          {"recording", words_of_recording(result)}}}};
    return text_of(trace);
}

}  // namespace sawtooth
