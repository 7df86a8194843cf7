#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "app/engine/run/runner.h"

namespace sawtooth {

// Drops progress messages that are too frequent to be seen. The first one of every step passes, so that a
// step that hangs is the one on display, and so does one that begins or ends an excused step.
class ProgressFilter {
  public:
    bool passes(const Progress& progress) {
        constexpr auto interval = std::chrono::milliseconds(30);
        const auto now = std::chrono::steady_clock::now();
        // "lookback, repeat 3 of 9": the step is "lookback".
        const std::string_view step = std::string_view(progress.words).substr(0, progress.words.find(','));
        if (step == step_ && progress.excused == excused_ && now - last_ < interval) return false;
        last_ = now;
        step_ = step;
        excused_ = progress.excused;
        return true;
    }

  private:
    std::chrono::steady_clock::time_point last_;
    std::string step_;
    bool excused_ = false;
};

}  // namespace sawtooth
