#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "app/engine/files/files.h"
#include "tests/kit/catch.h"

namespace sawtooth {

// Lets this process map little more memory, with which measuring the machine takes less time.
class LittleMemory {
  public:
    LittleMemory() {
        REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
        rlimit little = before_;
        const auto pages = static_cast<rlim_t>(leading_number_in("/proc/self/statm").value());
        little.rlim_cur = std::min<rlim_t>(before_.rlim_cur, pages * ::sysconf(_SC_PAGESIZE) + bytes);
        REQUIRE(::setrlimit(RLIMIT_AS, &little) == 0);
    }
    ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;
    static constexpr int64_t bytes = 1 << 30;

  private:
    rlimit before_{};
};

}  // namespace sawtooth
