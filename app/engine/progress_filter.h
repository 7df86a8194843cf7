#pragma once

#include <chrono>

#include "app/engine/runner.h"

namespace sawtooth {

// Most news of progress come too fast to be seen. What is not timed always passes (compiling, a reference:
// rare, and long), and so does what starts the count of the time limit.
class ProgressFilter {
  public:
    bool passes(const Progress& progress) {
        constexpr auto interval = std::chrono::milliseconds(30);
        const auto now = std::chrono::steady_clock::now();
        if (progress.timed && timed_ && now - last_ < interval) return false;
        last_ = now;
        timed_ = progress.timed;
        return true;
    }
    bool timed() const { return timed_; }  // as it was passed on last

  private:
    std::chrono::steady_clock::time_point last_;
    bool timed_ = false;
};

}  // namespace sawtooth
