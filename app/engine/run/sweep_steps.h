#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/core/sweep.h"

namespace sawtooth {

// What a sweep measures next, and what it has found so far. It measures all cells in order. A search has few
// repeats for them, and then visits those again, in rounds, that may be the fastest of a variant: in every
// round the better half of the last, down to as many as the repeats suffice to tell apart. These take turns
// until the fastest is told, they are told to take the same time, or the repeats are used up (successive
// halving; Jamieson, Talwalkar 2016).
class SweepSteps {
  public:
    explicit SweepSteps(Sweep sweep);

    struct Step {
        Sweep sweep;  // with the repeats and the variants of this step
        size_t cell = 0;
    };
    std::optional<Step> next() const;  // nullopt: the sweep is complete
    void take(SweepCell cell);         // what the next step found

    // Cells with the settings of the result take its numbers. Whether there is one.
    bool renew(const Result& newest);

    const SweepResult& result() const { return result_; }

  private:
    struct Visit {
        size_t cell = 0;
        std::vector<std::string> variants;
    };
    void begin_round();
    std::vector<size_t> wanted_of(const std::string& variant);
    int budget() const;

    SweepResult result_;
    std::vector<Visit> visits_;  // of this round, the next one last
    size_t round_ = 0;
    std::map<std::string, int> spent_;                 // repeats by variant
    std::map<std::string, std::set<size_t>> playing_;  // cells by variant that may still be visited
};

}  // namespace sawtooth
