#pragma once

#include <chrono>

#include "app/engine/runner.h"

namespace sawtooth {

// Drops progress messages that come too fast to be seen. Untimed ones (compiling, a reference: rare and long)
// always pass, and so does the one that starts the time limit.
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
    bool timed() const { return timed_; }  // of the last message that passed

  private:
    std::chrono::steady_clock::time_point last_;
    bool timed_ = false;
};

}  // namespace sawtooth
