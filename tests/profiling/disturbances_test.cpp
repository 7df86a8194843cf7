// What is seen as a disturbance of a repeat on the CPU.

#include "profiling/disturbances.h"

#include <sched.h>

#include <chrono>

#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace {

using namespace sawtooth;

// Keeps the calling thread, and those that it starts, on one core.
class OnOneCore {
  public:
    OnOneCore() {
        if (sched_getaffinity(0, sizeof allowed_, &allowed_) != 0) return;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
        is_kept_ = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    ~OnOneCore() {
        if (is_kept_) sched_setaffinity(0, sizeof allowed_, &allowed_);
    }
    OnOneCore(const OnOneCore&) = delete;
    OnOneCore& operator=(const OnOneCore&) = delete;

    bool is_kept() const { return is_kept_; }

  private:
    cpu_set_t allowed_;
    bool is_kept_ = false;
};

TEST_CASE("a thread that waits for a core disturbs a repeat, if it waits for long enough", "[profiling]") {
    using Clock = std::chrono::steady_clock;
    if (content_of("/proc/self/schedstat").empty())
        return say_skipped("the system does not tell how long threads wait for a core");
    const OnOneCore one_core;
    if (!one_core.is_kept()) return say_skipped("threads cannot be kept on one core");
    cpu::Pool pool(17);
    Disturbances disturbances(Executor{&pool, nullptr});
    // All threads are busy at the same time. Returns whether one is said to have waited so many times as
    // long.
    const auto waited = [&](double times, int milliseconds) {
        const auto start = Clock::now();
        disturbances.start();
        pool.dispatch(pool.threads(), cpu::Split::contiguous, [&](const cpu::Item&) {
            while (Clock::now() < start + std::chrono::milliseconds(milliseconds)) continue;
        });
        const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
        return disturbances.were_seen(us * times / 0.05);  // a wait of 5 % disturbs
    };
    // A thread has a core for about 1/17 of the time.
    bool is_seen = false;
    for (int tries = 0; tries < 50 && !is_seen; ++tries) is_seen = waited(0.25, 40);
    CHECK(is_seen);
    // None waits for longer than the repeat. The host of a virtual machine may take time in a few tries.
    bool is_always_seen = true;
    for (int tries = 0; tries < 50 && is_always_seen; ++tries) is_always_seen = waited(50, 2);
    CHECK_FALSE(is_always_seen);
}

}  // namespace
