#pragma once

#include <fmt/format.h>

#include <atomic>
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

// Stops when the outer token stops or when the time limit has passed.
class TimeLimit {
  public:
    TimeLimit(std::stop_token outer, std::optional<double> seconds)
        : seconds_(seconds.value_or(0)), forward_(std::move(outer), [this] { source_.request_stop(); }) {
        if (seconds)
            timer_ = std::jthread([this, limit = std::chrono::duration<double>(*seconds)](
                                      std::stop_token finished) {
                std::unique_lock lock(mutex_);
                if (wake_.wait_for(lock, finished, limit, [] { return false; }) || finished.stop_requested())
                    return;
                passed_ = true;
                source_.request_stop();
            });
    }
    std::stop_token token() const { return source_.get_token(); }

    // The error of a step: if the time limit ended it, a failure that says so and names the step.
    Error reason(Error error, const std::string& what) const {
        if (!passed_) return error;
        return Error::failure(
            fmt::format("time limit: {} did not finish within {:g} s; raise the limit or use a smaller shape",
                        what, seconds_));
    }

  private:
    double seconds_;
    std::stop_source source_;
    std::atomic<bool> passed_ = false;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::stop_callback<std::function<void()>> forward_;
    std::jthread timer_;  // last: destroyed first
};

}  // namespace sawtooth
