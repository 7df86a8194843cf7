#include "kernels/core/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace sawtooth {

int core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void in_parallel(int64_t count, const std::function<void(int64_t)>& each) {
    std::atomic<int64_t> next = 0;
    const auto work = [&] {
        for (int64_t i = next++; i < count; i = next++) each(i);
    };
    std::vector<std::future<void>> others;
    const int64_t cores = core_count();
    try {
        for (int64_t other = 1; other < std::min(cores, count); ++other)
            others.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error&) {  // no more threads can start: fewer do the work
    }
    work();
    for (std::future<void>& other : others) other.get();
}

}  // namespace sawtooth
