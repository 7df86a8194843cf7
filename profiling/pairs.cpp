#include "profiling/pairs.h"

#include <utility>
#include <vector>

#include "profiling/gpu_timer.h"

namespace sawtooth {
namespace {

// One of two plans that take turns.
class Side {
  public:
    Side(const TimedPlan& timed, Cache cache) : timed_(timed), cache_(cache) {}

    std::optional<Error> choose(const std::function<void()>& before_run) {
        const auto choice = choose_timing(*timed_.plan, timed_.on, cache_, before_run);
        if (!choice) return choice.error();
        by_ = choice->by;
        release_recorder();
        return {};
    }

    // Runs it once; a run that counts is a sample.
    std::optional<Error> run(bool counts) {
        if (counts && cache_ == Cache::hot && last_us_ < long_us) {
            const auto warm = run_plan(*timed_.plan, timed_.on, cache_, by_);
            if (!warm) return warm.error();
        }
        const auto run = run_plan(*timed_.plan, timed_.on, cache_, by_);
        if (!run) return run.error();
        last_us_ = run->total_us;
        if (counts) samples_.push_back(run->total_us);
        release_recorder();
        return {};
    }

    // Whether the other one needs the recorder of CUPTI, of which the process has one.
    void share_recorder(const Side& other) {
        shares_recorder_ = timed_.on.gpu && other.timed_.on.gpu && timed_.on.gpu != other.timed_.on.gpu;
    }

    TimeStatistics take() { return statistics_of(std::move(samples_)); }

  private:
    static constexpr double long_us = 1e5;  // it refills the caches in a small part of its time

    void release_recorder() {
        if (shares_recorder_) timed_.on.gpu->stop_recording();
    }

    TimedPlan timed_;
    Cache cache_;
    TimedBy by_ = TimedBy::records;
    bool shares_recorder_ = false;
    double last_us_ = 0;
    std::vector<double> samples_;
};

}  // namespace

Outcome<PairTimes> measure_pair(const TimedPlan& first, const TimedPlan& second, Cache cache, int repeats,
                                const std::function<void()>& before_turn) {
    Side one(first, cache), other(second, cache);
    one.share_recorder(other);
    other.share_recorder(one);
    for (Side* const side : {&one, &other})
        if (auto error = side->choose(before_turn)) return *error;
    for (int turn = -1; turn < repeats; ++turn) {
        before_turn();
        const bool is_swapped = turn % 2 != 0;
        for (Side* const side : {is_swapped ? &other : &one, is_swapped ? &one : &other})
            if (auto error = side->run(turn >= 0)) return *error;
    }
    return PairTimes{one.take(), other.take()};
}

}  // namespace sawtooth
