#include "profiling/gpu_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "kernels/cuda/driver.h"
#include "kernels/cuda/occupancy.h"

namespace sawtooth {
namespace {

constexpr size_t launches_a_milestone = 64;
// Two plans may be timed alternately. No more graphs are kept, because each one keeps the launch info alive
// that identifies its plan.
constexpr size_t most_graphs = 2;
constexpr auto time_to_finish = std::chrono::seconds(2);

int64_t count_of(const Extent& extent) { return extent.x * extent.y * extent.z; }

// The info of a planned launch, with the resources that the GPU actually used if they differ.
std::shared_ptr<const LaunchInfo> info_as_ran(const std::shared_ptr<const LaunchInfo>& planned,
                                              const Activity& activity) {
    if (!activity.is_kernel) return planned;
    Resources seen{activity.registers, activity.shared_bytes,
                   planned->resources ? planned->resources->spill_bytes : 0,
                   planned->resources ? planned->resources->barriers : 0};
    const bool same = planned->resources && planned->resources->registers == seen.registers &&
                      planned->resources->shared_bytes == seen.shared_bytes &&
                      count_of(planned->grid) == count_of(activity.grid) &&
                      count_of(planned->block) == count_of(activity.block);
    if (same) return planned;
    LaunchInfo info = *planned;
    info.grid = activity.grid;
    info.block = activity.block;
    info.resources = seen;
    return std::make_shared<const LaunchInfo>(std::move(info));
}

LaunchRecord record_of(std::shared_ptr<const LaunchInfo> info, double start_us, double duration_us) {
    LaunchRecord record;
    record.info = std::move(info);
    record.start_us = start_us;
    record.duration_us = duration_us;
    return record;
}

}  // namespace

void GpuTimer::EventCloser::operator()(CUevent_st* event) const {
    cuda::driver_calls().cuEventDestroy(event);
}

void GpuTimer::GraphCloser::operator()(CUgraphExec_st* graph) const {
    cuda::driver_calls().cuGraphExecDestroy(graph);
}

GpuTimer::GpuTimer(cuda::Device& device) : device_(device) {}
GpuTimer::~GpuTimer() { device_.stream(); }  // makes the context current for destroying the events

Outcome<GpuTimer::Event> GpuTimer::make_event() {
    CUevent event = nullptr;
    if (const auto error = cuda::driver_problem("cuEventCreate",
                                                cuda::driver_calls().cuEventCreate(&event, CU_EVENT_DEFAULT)))
        return *error;
    return Event(event);
}

std::optional<Error> GpuTimer::make_events() {
    device_.stream();  // makes the context current
    for (Event* event : {&first_, &last_, &done_}) {
        if (*event) continue;
        auto made = make_event();
        if (!made) return made.error();
        *event = std::move(*made);
    }
    return {};
}

std::optional<Error> GpuTimer::record(const Event& event) {
    return cuda::driver_problem("cuEventRecord",
                                cuda::driver_calls().cuEventRecord(event.get(), device_.stream()));
}

// `give_up` is the deadline after a stop; it is set when the stop is first noticed.
std::optional<Error> GpuTimer::wait_for(const Event& event, std::optional<Clock::time_point>& give_up) {
    constexpr auto longest_pause = std::chrono::microseconds(500);
    auto pause = std::chrono::microseconds(10);
    while (true) {
        const CUresult result = cuda::driver_calls().cuEventQuery(event.get());
        if (result != CUDA_ERROR_NOT_READY) return cuda::driver_problem("cuEventQuery", result);
        if (stop_.stop_requested()) {
            if (!give_up) give_up = Clock::now() + time_to_finish;
            if (Clock::now() >= *give_up) {
                abandoned_ = true;
                return Error::failure(
                    "a launch is still running 2 s after the stop; the GPU is free once this process ends. "
                    "Use a smaller shape or fewer variants");
            }
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, longest_pause);
    }
}

Outcome<double> GpuTimer::microseconds_between(const Event& first, const Event& last) const {
    float milliseconds = 0;
    if (const auto error = cuda::driver_problem(
            "cuEventElapsedTime",
            cuda::driver_calls().cuEventElapsedTime(&milliseconds, first.get(), last.get())))
        return *error;
    return static_cast<double>(milliseconds) * 1e3;
}

// Writes more than the size of the cache, which evicts everything else.
std::optional<Error> GpuTimer::empty_cache() {
    const int64_t bytes = scratch_bytes(device_.chip());
    if (bytes == 0) return {};
    if (!scratch_) {
        auto memory = device_.allocate(bytes);
        if (!memory) return memory.error();
        scratch_ = std::move(*memory);
    }
    return device_.fill(scratch_.get(), bytes, 0);
}

std::optional<Error> GpuTimer::restore(const Plan& plan, Cache cache) {
    if (plan.reset) {
        Queue queue;
        queue.stream = device_.stream();
        plan.reset(queue);
        if (!queue.error.empty()) return Error::failure(queue.error);
    }
    return cache == Cache::cold ? empty_cache() : std::nullopt;
}

std::optional<Error> GpuTimer::start(const Launch& launch) {
    Queue queue;
    queue.stream = device_.stream();
    launch.start(queue);
    if (!queue.error.empty()) return Error::failure(queue.error);
    return {};
}

std::optional<Error> GpuTimer::start_all(const Plan& plan) {
    if (plan.follow == Follow::wait) return start_and_wait_for_each(plan);
    if (plan.follow == Follow::graph || plan.follow == Follow::graph_programmatic) {
        const auto graph = graph_of(plan);
        if (!graph) return graph.error();
        return cuda::driver_problem("cuGraphLaunch",
                                    cuda::driver_calls().cuGraphLaunch(*graph, device_.stream()));
    }
    for (size_t i = 0; i < plan.launches.size() && !stop_.stop_requested(); ++i) {
        if (i % launches_a_milestone == 0 && i > 0)
            if (auto error = add_milestone()) return error;
        if (auto error = start(plan.launches[i])) return error;
    }
    return {};
}

// Polls without a pause, like a host that waits for each launch. Notices a stop between two launches, and in
// a launch that does not end.
std::optional<Error> GpuTimer::start_and_wait_for_each(const Plan& plan) {
    for (size_t i = 0; i < plan.launches.size() && !stop_.stop_requested(); ++i) {
        if (auto error = start(plan.launches[i])) return error;
        CUresult result = cuda::driver_calls().cuStreamQuery(device_.stream());
        while (result == CUDA_ERROR_NOT_READY && !stop_.stop_requested())
            result = cuda::driver_calls().cuStreamQuery(device_.stream());
        if (result != CUDA_ERROR_NOT_READY)
            if (auto error = cuda::driver_problem("cuStreamQuery", result)) return error;
        if (i % launches_a_milestone == 0 && progress_) progress_();
    }
    return {};
}

// Captures the launches of a plan, unless that was done, before they are timed.
Outcome<CUgraphExec_st*> GpuTimer::graph_of(const Plan& plan) {
    const auto& first = plan.launches.front().info;
    std::erase_if(graphs_, [](const CapturedPlan& graph) { return graph.first.expired(); });
    const auto known = std::find_if(graphs_.begin(), graphs_.end(), [&](const CapturedPlan& graph) {
        return graph.first.lock() == first && graph.launches == plan.launches.size();
    });
    if (known != graphs_.end() && known->seen_by_cupti == recorder_.has_value()) return known->started.get();
    if (known != graphs_.end()) graphs_.erase(known);
    if (graphs_.size() == most_graphs) graphs_.erase(graphs_.begin());
    Queue queue;
    queue.stream = device_.stream();
    queue.programmatic = plan.follow == Follow::graph_programmatic;
    if (auto error = cuda::driver_problem(
            "cuStreamBeginCapture",
            cuda::driver_calls().cuStreamBeginCapture(queue.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)))
        return *error;
    for (const Launch& launch : plan.launches) launch.start(queue);
    CUgraph recorded = nullptr;
    const CUresult ended = cuda::driver_calls().cuStreamEndCapture(queue.stream, &recorded);
    if (!queue.error.empty()) {
        if (recorded) cuda::driver_calls().cuGraphDestroy(recorded);
        return Error::failure(queue.error);
    }
    if (auto error = cuda::driver_problem("cuStreamEndCapture", ended)) return *error;
    CUgraphExec started = nullptr;
    const CUresult made = cuda::driver_calls().cuGraphInstantiate(&started, recorded, 0);
    cuda::driver_calls().cuGraphDestroy(recorded);
    if (auto error = cuda::driver_problem("cuGraphInstantiate", made)) return *error;
    CapturedPlan graph{first, plan.launches.size(), recorder_.has_value(), {}};
    graph.started.reset(started);
    // Otherwise the first run would upload the graph in parts.
    if (auto error = cuda::driver_problem("cuGraphUpload",
                                          cuda::driver_calls().cuGraphUpload(started, device_.stream())))
        return *error;
    graphs_.push_back(std::move(graph));
    return started;
}

// The stream accepts a few thousand launches and then blocks the host. Milestones show the progress of a long
// plan while it is started.
std::optional<Error> GpuTimer::add_milestone() {
    auto event = make_event();
    if (!event) return event.error();
    if (auto error = record(*event)) return error;
    milestones_.push_back(std::move(*event));
    bool passed = false;
    while (!milestones_.empty() &&
           cuda::driver_calls().cuEventQuery(milestones_.front().get()) == CUDA_SUCCESS) {
        milestones_.pop_front();
        passed = true;
    }
    if (passed && progress_) progress_();
    return {};
}

std::optional<Error> GpuTimer::pass_milestones(std::optional<Clock::time_point>& give_up) {
    for (; !milestones_.empty(); milestones_.pop_front()) {
        if (auto error = wait_for(milestones_.front(), give_up)) return error;
        if (progress_) progress_();
    }
    return {};
}

// Waits for everything that was started; cancelled after a stop, because launches may be missing.
std::optional<Error> GpuTimer::finish() {
    if (auto error = record(done_)) return error;
    std::optional<Clock::time_point> give_up;  // all waits share one deadline
    if (auto error = pass_milestones(give_up)) return error;
    if (auto error = wait_for(done_, give_up)) return error;
    if (stop_.stop_requested()) return Error::cancelled();
    return {};
}

std::optional<Error> GpuTimer::wait() {
    if (auto error = make_events()) return error;
    return finish();
}

std::optional<Error> GpuTimer::prepare(const Plan& plan, Cache cache) {
    if (auto error = make_events()) return error;
    if (auto error = restore(plan, cache)) return error;
    return finish();
}

std::optional<Error> GpuTimer::run(const Plan& plan) {
    if (auto error = make_events()) return error;
    if (auto error = restore(plan, Cache::hot)) return error;
    return launch_all(plan);
}

std::optional<Error> GpuTimer::launch_all(const Plan& plan) {
    if (auto error = make_events()) return error;
    if (auto error = start_all(plan)) return error;
    return finish();
}

void GpuTimer::expect_new_plan() {
    may_record_ = true;
    note_.clear();
}

void GpuTimer::begin_recording() {
    if (recorder_ || !may_record_) return;
    auto recorder = ActivityRecorder::start();
    if (recorder) {
        recorder_.emplace(std::move(*recorder));
        return;
    }
    may_record_ = false;
    note_ = "timed by CUDA events, because CUPTI does not record: " + recorder.error().text;
}

std::optional<Error> GpuTimer::mark_end() {
    if (!recorder_) return {};
    if (!marker_) {
        auto memory = device_.allocate(ActivityRecorder::most_marker_bytes);
        if (!memory) return memory.error();
        marker_ = std::move(*memory);
    }
    return device_.fill(marker_.get(), recorder_->next_marker(), 0);
}

// The launches in order, as recorded by CUPTI; nullopt if it recorded fewer.
std::optional<TimedRun> GpuTimer::recorded_run(const Plan& plan) {
    const std::vector<Activity> seen = recorder_->take_before_marker(plan.launches.size());
    if (seen.size() != plan.launches.size()) {
        recorder_.reset();
        may_record_ = false;
        note_ = fmt::format("timed by CUDA events, because CUPTI recorded only {} of {} launches",
                            seen.size(), plan.launches.size());
        return {};
    }
    TimedRun run;
    for (const Activity& activity : seen)
        run.total_us =
            std::max(run.total_us, static_cast<double>(activity.end_ns - seen.front().start_ns) / 1e3);
    for (size_t i = 0; i < std::min(seen.size(), most_kept_launches); ++i) {
        const double start = static_cast<double>(seen[i].start_ns - seen.front().start_ns) / 1e3;
        const double duration = static_cast<double>(seen[i].end_ns - seen[i].start_ns) / 1e3;
        run.launches.push_back(record_of(info_as_ran(plan.launches[i].info, seen[i]), start, duration));
    }
    return run;
}

Outcome<double> GpuTimer::time_once(const Plan& plan, Cache cache) {
    if (auto error = make_events()) return *error;
    if (plan.follow == Follow::graph || plan.follow == Follow::graph_programmatic)
        if (const auto graph = graph_of(plan); !graph) return graph.error();
    if (auto error = restore(plan, cache)) return *error;
    if (auto error = record(first_)) return *error;
    if (auto error = start_all(plan)) return *error;
    if (auto error = record(last_)) return *error;
    if (auto error = mark_end()) return *error;
    if (auto error = finish()) return *error;
    return microseconds_between(first_, last_);
}

Outcome<TimedRun> GpuTimer::time(const Plan& plan, Cache cache) {
    begin_recording();
    const auto between_events = time_once(plan, cache);
    if (!between_events) return between_events.error();
    if (recorder_)
        if (auto run = recorded_run(plan)) return std::move(*run);
    return TimedRun{*between_events, {}};
}

Outcome<double> GpuTimer::time_unrecorded(const Plan& plan, Cache cache) {
    stop_recording();
    return time_once(plan, cache);
}

Outcome<double> GpuTimer::time_by_events(const std::function<std::optional<Error>()>& start) {
    if (auto error = make_events()) return *error;
    if (auto error = record(first_)) return *error;
    if (auto error = start()) return *error;
    if (auto error = record(last_)) return *error;
    if (auto error = finish()) return *error;
    return microseconds_between(first_, last_);
}

Outcome<std::vector<LaunchRecord>> GpuTimer::time_launches_by_events(const Plan& plan, Cache cache) {
    if (auto error = make_events()) return *error;
    if (auto error = restore(plan, cache)) return *error;
    std::vector<Event> starts, ends;
    const size_t kept = std::min(plan.launches.size(), most_kept_launches);
    for (const Launch& launch : std::span(plan.launches).first(kept)) {
        if (stop_.stop_requested()) break;
        for (std::vector<Event>* events : {&starts, &ends}) {
            auto event = make_event();
            if (!event) return event.error();
            events->push_back(std::move(*event));
        }
        if (auto error = record(starts.back())) return *error;
        if (auto error = start(launch)) return *error;
        if (auto error = record(ends.back())) return *error;
    }
    if (auto error = finish()) return *error;
    std::vector<LaunchRecord> launches;
    for (size_t i = 0; i < starts.size(); ++i) {
        const auto start = microseconds_between(starts.front(), starts[i]);
        const auto duration = microseconds_between(starts[i], ends[i]);
        if (!start) return start.error();
        if (!duration) return duration.error();
        launches.push_back(record_of(plan.launches[i].info, *start, *duration));
    }
    return launches;
}

void add_theoretical_occupancy(std::vector<LaunchRecord>& launches, const Chip& chip) {
    std::map<const LaunchInfo*, Occupancy> known;
    for (LaunchRecord& launch : launches) {
        const LaunchInfo& info = *launch.info;
        if (!info.resources) continue;
        const auto [place, is_new] = known.try_emplace(&info);
        if (is_new) place->second = cuda::theoretical_occupancy(chip, count_of(info.block), *info.resources);
        launch.occupancy.theoretical = place->second.theoretical;
        launch.occupancy.limiter = place->second.limiter;
        launch.occupancy.blocks = place->second.blocks;
    }
}

}  // namespace sawtooth
