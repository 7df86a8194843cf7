#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "profiling/cupti_activity.h"
#include "profiling/measure.h"

struct CUevent_st;
struct CUgraphExec_st;

namespace sawtooth {

// Runs Plans on a GPU and times their launches by its clock: by CUPTI activity records, or by CUDA events if
// records are not available. A host clock is never used, because launches return before they start. Waiting
// polls an event with short sleeps, so that a stop is noticed. Work that was already started then has two
// seconds to finish, because its memory cannot be freed before; after that it is abandoned.
class GpuTimer {
  public:
    explicit GpuTimer(cuda::Device& device);  // the device must be present and outlive the timer
    ~GpuTimer();
    GpuTimer(const GpuTimer&) = delete;
    GpuTimer& operator=(const GpuTimer&) = delete;

    cuda::Device& device() { return device_; }
    // Sets the stop token for all later launches.
    void set_stop(std::stop_token stop) { stop_ = std::move(stop); }
    bool is_stopped() const { return stop_.stop_requested(); }
    // Sets a function that is called occasionally during a run of many launches.
    void on_progress(std::function<void()> progress) { progress_ = std::move(progress); }

    // Runs all launches of a plan, untimed; complete on return.
    std::optional<Error> run(const Plan& plan);
    // Times one repeat: reset, cache, launches.
    Outcome<TimedRun> time(const Plan& plan, Cache cache);
    // Times one repeat between two events, in microseconds, without CUPTI, whose recording costs time for
    // every launch. The events add a little time to the run.
    Outcome<double> time_unrecorded(const Plan& plan, Cache cache);
    // Times the launches of one repeat, at most the first most_kept_launches, each between two events of its
    // own, which cost about a microsecond.
    Outcome<std::vector<LaunchRecord>> time_launches_by_events(const Plan& plan, Cache cache);

    // The time of the work that `start` puts into the stream, in microseconds between two events, without
    // CUPTI.
    Outcome<double> time_by_events(const std::function<std::optional<Error>()>& start);

    // Restores what a run destroys, and if `cache` is cold, empties the L2 cache; complete on return.
    std::optional<Error> prepare(const Plan& plan, Cache cache);
    std::optional<Error> launch_all(const Plan& plan);  // runs all launches; complete on return
    std::optional<Error> start(const Launch& launch);
    std::optional<Error> wait();  // waits until the stream is empty

    // Call before a plan is timed for the first time: tries CUPTI again even after a failure.
    void expect_new_plan();
    // What timed the launches instead of CUPTI, and why; "" if it was CUPTI or if nothing was timed.
    const std::string& note() const { return note_; }
    // Stops the recording of CUPTI, which disturbs counters and slows down launches; `time` restarts it.
    void stop_recording() { recorder_.reset(); }

    // Returns whether a launch did not finish after a stop. It is still running, the memory of its plan
    // cannot be freed, and only the end of this process stops it.
    bool abandoned() const { return abandoned_; }
    // The largest number of bytes needed to empty the cache.
    static int64_t scratch_bytes(const Chip& chip) { return 3 * chip.l2_bytes; }

  private:
    using Clock = std::chrono::steady_clock;
    struct EventCloser {
        void operator()(CUevent_st* event) const;
    };
    using Event = std::unique_ptr<CUevent_st, EventCloser>;
    struct GraphCloser {
        void operator()(CUgraphExec_st* graph) const;
    };
    // The captured launches of a plan. The graph contains addresses of the plan's memory, and belongs to the
    // plan as long as the info of its first launch is alive and the same.
    struct CapturedPlan {
        std::weak_ptr<const LaunchInfo> first;
        size_t launches = 0;
        bool seen_by_cupti = false;
        std::unique_ptr<CUgraphExec_st, GraphCloser> started;
    };

    static Outcome<Event> make_event();
    std::optional<Error> make_events();
    std::optional<Error> record(const Event& event);
    std::optional<Error> wait_for(const Event& event, std::optional<Clock::time_point>& give_up);
    Outcome<double> microseconds_between(const Event& first, const Event& last) const;

    std::optional<Error> restore(const Plan& plan, Cache cache);
    std::optional<Error> empty_cache();
    std::optional<Error> start_all(const Plan& plan);
    std::optional<Error> start_and_wait_for_each(const Plan& plan);
    Outcome<CUgraphExec_st*> graph_of(const Plan& plan);
    std::optional<Error> finish();
    std::optional<Error> add_milestone();
    std::optional<Error> pass_milestones(std::optional<Clock::time_point>& give_up);

    void begin_recording();
    Outcome<double> time_once(const Plan& plan, Cache cache);
    std::optional<Error> mark_end();
    std::optional<TimedRun> recorded_run(const Plan& plan);

    cuda::Device& device_;
    std::stop_token stop_;
    std::function<void()> progress_;
    cuda::Memory scratch_, marker_;
    Event first_, last_, done_;
    std::vector<CapturedPlan> graphs_;  // the newest last
    std::deque<Event> milestones_;      // those between launches of a long plan that were not reached yet
    std::optional<ActivityRecorder> recorder_;
    bool may_record_ = true;  // false: CUPTI failed for this plan
    std::string note_;
    bool abandoned_ = false;
};

// Sets the theoretical occupancy of every launch whose resources are known.
void add_theoretical_occupancy(std::vector<LaunchRecord>& launches, const Chip& chip);

}  // namespace sawtooth
