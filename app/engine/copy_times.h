#pragma once

#include <map>
#include <string>
#include <tuple>

#include "app/engine/machine.h"
#include "kernels/core/request.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Times of copies, measured once per machine, number of bytes and cache.
class CopyTimes {
  public:
    // A copy that reads and writes `bytes` in total. Errors: cancelled; a failure of the GPU, or too little
    // memory.
    Outcome<Copy> of(const Machine& machine, double bytes, Cache cache);

  private:
    std::map<std::tuple<std::string, double, Cache>, Copy> known_;
};

}  // namespace sawtooth
