#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

// Splits the time since construction into named hops.
class Stopwatch {
  public:
    // Adds the time since the previous call to the hop of this name.
    void done(const std::string& name) {
        const Time now = std::chrono::steady_clock::now();
        const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
        last_ = now;
        const auto same =
            std::find_if(hops_.begin(), hops_.end(), [&](const Hop& hop) { return hop.name == name; });
        if (same == hops_.end())
            hops_.push_back({name, ms});
        else
            same->ms += ms;
    }
    const std::vector<Hop>& hops() const { return hops_; }

  private:
    using Time = std::chrono::steady_clock::time_point;
    Time last_ = std::chrono::steady_clock::now();
    std::vector<Hop> hops_;
};

}  // namespace sawtooth
