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

// Runs Plans on a GPU and times their launches by its own clock: by CUPTI's activity records, or by CUDA
// events where those cannot be had. Never by a host clock, as launches return before they have begun.
//
// Waiting looks at an event again and again with short sleeps, so that a stop is seen. What was started then
// is given two seconds to finish, as its memory cannot be freed before; after them it is abandoned.
class GpuTimer {
  public:
    explicit GpuTimer(cuda::Device& device);  // which must be present, and outlive this
    ~GpuTimer();
    GpuTimer(const GpuTimer&) = delete;
    GpuTimer& operator=(const GpuTimer&) = delete;

    cuda::Device& device() { return device_; }
    // Launches look at it from now on.
    void set_stop(std::stop_token stop) { stop_ = std::move(stop); }
    bool is_stopped() const { return stop_.stop_requested(); }
    // Called now and then while a run of many launches comes forward.
    void on_progress(std::function<void()> progress) { progress_ = std::move(progress); }

    // All launches of a plan, not timed; done when this returns.
    std::optional<Error> run(const Plan& plan);
    // One repeat: reset, caches, launches.
    Outcome<TimedRun> time(const Plan& plan, Cache cache);
    // The same between two events, in microseconds. CUPTI, which takes time of every launch that it records,
    // has no part in it; the events take some of the run.
    Outcome<double> time_unrecorded(const Plan& plan, Cache cache);
    // The launches of one repeat, the first most_kept_launches, each between two events of its own, which
    // cost it a microsecond or so.
    Outcome<std::vector<LaunchRecord>> time_launches_by_events(const Plan& plan, Cache cache);

    // What `start` puts into the stream, in microseconds between two events; CUPTI has no part in it.
    Outcome<double> time_by_events(const std::function<std::optional<Error>()>& start);

    // Restores what a run destroys and empties the L2 cache where `cache` is cold; done when this returns.
    std::optional<Error> prepare(const Plan& plan, Cache cache);
    std::optional<Error> launch_all(const Plan& plan);  // done when this returns
    std::optional<Error> start(const Launch& launch);
    std::optional<Error> wait();  // for all that the stream was given

    // Before a plan is timed for the first time: CUPTI is tried again, whatever it failed at before.
    void expect_new_plan();
    // What timed the plan's launches, where that was not CUPTI, and why; "" where it was, or nothing was
    // timed.
    const std::string& note() const { return note_; }
    // Ends CUPTI's recording, which disturbs counters and costs launches time; `time` begins it again.
    void stop_recording() { recorder_.reset(); }

    // A launch did not finish after a stop: it still runs, nothing of its plan can be freed, and only the end
    // of this process ends it.
    bool abandoned() const { return abandoned_; }
    // Bytes that emptying the cache takes, at most.
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
    // The launches of a plan, recorded once. It holds the addresses of the plan's memory, and is that plan's
    // for as long as its first launch's info is there and is the same.
    struct Graph {
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
    std::vector<Graph> graphs_;     // the newest last
    std::deque<Event> milestones_;  // between launches of a long plan, those not passed yet
    std::optional<ActivityRecorder> recorder_;
    bool may_record_ = true;  // false: it failed at this plan
    std::string note_;
    bool abandoned_ = false;
};

// Fills in what cuda_occupancy.h says of every launch whose resources are known.
void add_theoretical_occupancy(std::vector<LaunchRecord>& launches, const Chip& chip);

}  // namespace sawtooth
