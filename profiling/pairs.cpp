#include "profiling/pairs.h"

#include <array>
#include <utility>
#include <vector>

#include "profiling/disturbances.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {
namespace {

struct Repeat {
    double us = 0;
    bool disturbed = false;
};

// One of two plans that take turns.
class Side {
  public:
    Side(const TimedPlan& timed, const TimedPlan& other, Cache cache)
        : timed_(timed),
          cache_(cache),
          shares_recorder_(timed.on.gpu && other.on.gpu && timed.on.gpu != other.on.gpu),
          disturbances_(timed_.on) {}

    std::optional<Error> choose(const std::function<void()>& before_run) {
        const auto choice = choose_timing(*timed_.plan, timed_.on, cache_, before_run);
        if (!choice) return choice.error();
        by_ = choice->by;
        release_recorder();
        return {};
    }

    Outcome<Repeat> run() {
        if (cache_ == Cache::hot && last_us_ < long_us) {
            const auto warm = run_plan(*timed_.plan, timed_.on, cache_, by_);
            if (!warm) return warm.error();
        }
        disturbances_.start();
        const auto run = run_plan(*timed_.plan, timed_.on, cache_, by_);
        if (!run) return run.error();
        last_us_ = run->total_us;
        const Repeat repeat{last_us_, disturbances_.were_seen(last_us_)};
        release_recorder();
        return repeat;
    }

  private:
    static constexpr double long_us = 1e5;  // it refills the caches in a small part of its time

    // The process has one recorder of CUPTI.
    void release_recorder() {
        if (shares_recorder_) timed_.on.gpu->stop_recording();
    }

    TimedPlan timed_;
    Cache cache_;
    bool shares_recorder_;
    Disturbances disturbances_;
    TimedBy by_ = TimedBy::records;
    double last_us_ = 0;
};

TimeStatistics time_of(const std::vector<Repeat>& repeats) {
    std::vector<double> samples;
    std::vector<int64_t> disturbed;
    for (const Repeat& repeat : repeats) {
        if (repeat.disturbed) disturbed.push_back(static_cast<int64_t>(samples.size()));
        samples.push_back(repeat.us);
    }
    TimeStatistics time = statistics_of(std::move(samples));
    time.disturbed = std::move(disturbed);
    return time;
}

}  // namespace

Outcome<PairTimes> measure_pair(const TimedPlan& first, const TimedPlan& second, Cache cache, int repeats,
                                const std::function<void()>& before_turn) {
    std::array sides = {Side(first, second, cache), Side(second, first, cache)};
    for (Side& side : sides)
        if (auto error = side.choose(before_turn)) return *error;
    std::array<std::vector<Repeat>, 2> taken;
    int budget = repeats;  // of turns that may be taken again
    bool is_warm = false;
    while (static_cast<int>(taken[0].size()) < repeats) {
        before_turn();
        std::array<Repeat, 2> turn;
        const size_t begin = taken[0].size() % 2;
        for (const size_t side : {begin, 1 - begin}) {
            const auto repeat = sides[side].run();
            if (!repeat) return repeat.error();
            turn[side] = *repeat;
        }
        if (!std::exchange(is_warm, true)) continue;  // the first turn warms up
        if ((turn[0].disturbed || turn[1].disturbed) && budget-- > 0) continue;
        for (const size_t side : {0, 1}) taken[side].push_back(turn[side]);
    }
    return PairTimes{time_of(taken[0]), time_of(taken[1])};
}

}  // namespace sawtooth
