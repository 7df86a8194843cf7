#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/core/sweep.h"

namespace sawtooth {

// Decides what a sweep measures next, and keeps what it has found. It measures all cells in order. A search
// spends few repeats on them and then, in rounds, visits again the cells that may be the fastest of a
// variant: in every round the better half of the last one, down to as many as the repeats suffice to tell
// apart. These take turns until the fastest is known, the times are known to be the same, or the repeats are
// used up (successive halving; Jamieson, Talwalkar 2016).
class SweepSteps {
  public:
    explicit SweepSteps(Sweep sweep);

    struct Step {
        Sweep sweep;  // with the repeats and the variants of this step
        size_t cell = 0;
    };
    std::optional<Step> next() const;  // nullopt: the sweep is complete
    void take(SweepCell cell);         // the result of the next step

    // Gives cells with the settings of the result its numbers. Returns whether there is such a cell.
    bool renew(const Result& newest);

    const SweepResult& result() const { return result_; }

  private:
    struct Visit {
        size_t cell = 0;
        std::vector<std::string> variants;
    };
    void begin_round();
    std::vector<size_t> wanted_of(const std::string& variant);
    int64_t budget() const;

    SweepResult result_;
    std::vector<Visit> visits_;  // the remaining visits of this round, the next one last
    size_t round_ = 0;
    std::map<std::string, int64_t> spent_;             // number of repeats by variant
    std::map<std::string, std::set<size_t>> playing_;  // by variant, the cells that may still be visited
};

}  // namespace sawtooth
