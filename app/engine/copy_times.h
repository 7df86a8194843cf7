#pragma once

#include <map>
#include <string>
#include <tuple>

#include "app/engine/machine.h"
#include "kernels/core/request.h"
#include "kernels/core/result.h"

namespace sawtooth {

// How long copies take, each measured once a machine, number of bytes and cache.
class CopyTimes {
  public:
    // Of so many bytes read and written together. Errors: cancelled; a failure of the GPU, or too little
    // memory.
    Outcome<Copy> of(const Machine& machine, double bytes, Cache cache);

  private:
    std::map<std::tuple<std::string, double, Cache>, Copy> known_;
};

}  // namespace sawtooth
