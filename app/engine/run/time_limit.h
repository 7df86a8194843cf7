#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kernels/core/refusal.h"

namespace sawtooth {

// What a time limit counts. On the command line it counts the whole run. In the window, where it is meant to
// end hung launches, it does not count the steps that are excused (Progress::excused).
enum class Counts { everything, launches };

// Called on another thread if a run is still going on 3 s after it was stopped, for example in a driver call
// that hangs.
using OnDeaf = std::function<void(const Error&)>;

// Stops when the outer token stops or when the time limit has passed.
class TimeLimit {
  public:
    TimeLimit(std::stop_token outer, std::optional<double> seconds, Counts counts = Counts::everything,
              OnDeaf deaf = {})
        : seconds_(seconds), counts_(counts), deaf_(std::move(deaf)), forward_(std::move(outer), [this] {
              source_.request_stop();
              const std::lock_guard lock(mutex_);
              wake_.notify_all();
          }) {
        if (seconds || deaf_)
            timer_ = std::jthread([this](std::stop_token finished) { watch(std::move(finished)); });
    }
    std::stop_token token() const { return source_.get_token(); }

    // Begins or ends an excused step.
    void excuse(bool excused) {
        if (counts_ == Counts::everything) return;
        const std::lock_guard lock(mutex_);
        if (excused_since_) excused_ += Clock::now() - *excused_since_;
        excused_since_ = excused ? std::optional(Clock::now()) : std::nullopt;
        wake_.notify_all();
    }

    // The error of a step. If the time limit ended the step, it is a failure that says so and names the step.
    Error reason(Error error, const std::string& what) const {
        const std::lock_guard lock(mutex_);
        if (!passed_) return error;
        return Error::failure(
            fmt::format("time limit: {} did not finish within {:g} s; raise the limit or use a smaller shape",
                        what, *seconds_));
    }

  private:
    using Clock = std::chrono::steady_clock;

    void watch(std::stop_token finished) {
        std::unique_lock lock(mutex_);
        while (!finished.stop_requested() && !source_.stop_requested() && !passed_)
            passed_ = !wait(lock, finished);
        if (finished.stop_requested()) return;
        lock.unlock();
        source_.request_stop();  // may run callbacks, so not under the lock
        lock.lock();
        if (!deaf_) return;
        // A launch on a GPU gets two seconds to end by itself.
        constexpr auto patience = std::chrono::seconds(3);
        if (wake_.wait_for(lock, finished, patience, [] { return false; }) || finished.stop_requested())
            return;
        deaf_(passed_ ? Error::failure(
                            fmt::format("time limit: the run took longer than {:g} s and went on for 3 s "
                                        "after it was told to stop",
                                        *seconds_))
                      : Error::cancelled());
    }

    // Waits until something changes; returns false if the limit has passed before.
    bool wait(std::unique_lock<std::mutex>& lock, const std::stop_token& finished) {
        const auto excused = excused_;
        const bool is_excused = excused_since_.has_value();
        const auto changed = [&] {
            return source_.stop_requested() || excused_ != excused ||
                   excused_since_.has_value() != is_excused;
        };
        if (!seconds_ || is_excused) {
            wake_.wait(lock, finished, changed);
            return true;
        }
        constexpr double far = 1e8;  // three years, still in the range of the clock
        const std::chrono::duration<double> limit(std::min(*seconds_, far));
        const auto end = began_ + std::chrono::duration_cast<Clock::duration>(limit) + excused_;
        return wake_.wait_until(lock, finished, end, changed);
    }

    const std::optional<double> seconds_;
    const Counts counts_;
    const OnDeaf deaf_;
    const Clock::time_point began_ = Clock::now();
    std::stop_source source_;
    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    bool passed_ = false;
    std::optional<Clock::time_point> excused_since_;
    Clock::duration excused_{0};
    std::stop_callback<std::function<void()>> forward_;
    std::jthread timer_;  // declared last, so that it is destroyed first
};

}  // namespace sawtooth
