#include "profiling/disturbances.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "profiling/gpu_timer.h"

namespace sawtooth {
namespace {

// The beginning of a system file, which changes while it is open; "" if it cannot be read.
std::string start_of(int file) {
    char text[256];
    const ssize_t length = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
    return length > 0 ? std::string(text, static_cast<size_t>(length)) : "";
}

// The nanoseconds during which a thread was ready to run but had no core.
int64_t waited_ns(int file) {
    long long ran = 0, waited = 0;
    return std::sscanf(start_of(file).c_str(), "%lld %lld", &ran, &waited) == 2 ? waited : 0;
}

// The ticks that the host of a virtual machine gave to others.
int64_t stolen_ticks(int file) {
    long long stolen = 0;
    const std::string text = start_of(file);
    const int read = std::sscanf(text.c_str(), "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &stolen);
    return read == 1 ? stolen : 0;
}

std::vector<pid_t> thread_ids_of(cpu::Pool& pool) {
    std::vector<pid_t> ids(static_cast<size_t>(pool.threads()), 0);
    pool.dispatch(pool.threads(), cpu::Split::contiguous,
                  [&](const cpu::Item& item) { ids[static_cast<size_t>(item.worker)] = gettid(); });
    return ids;
}

}  // namespace

Disturbances::Disturbances(const Executor& on) {
    if (on.gpu) {
        if (auto clocks = GpuClocks::of(on.gpu->device())) clocks_ = *clocks;
        return;
    }
    for (const pid_t id : thread_ids_of(*on.pool)) {
        const std::string path = "/proc/self/task/" + std::to_string(id) + "/schedstat";
        threads_.push_back({open(path.c_str(), O_RDONLY | O_CLOEXEC), 0});
    }
    statistics_ = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (stolen_ticks(statistics_) > 0) return;
    // A machine whose host takes no time is not asked again: the file is slow to read with many cores.
    if (statistics_ >= 0) close(statistics_);
    statistics_ = -1;
}

Disturbances::~Disturbances() {
    for (const Thread& thread : threads_)
        if (thread.file >= 0) close(thread.file);
    if (statistics_ >= 0) close(statistics_);
}

void Disturbances::start() {
    if (clocks_) clocks_->read_before();
    stolen_ = stolen_ticks(statistics_);
    for (Thread& thread : threads_) thread.waited_ns = waited_ns(thread.file);
}

bool Disturbances::were_seen(double us) {
    constexpr double share = 0.05;   // of the time of the repeat
    constexpr double usual_us = 10;  // the time to wake a thread on a free core
    constexpr double clock_share = 0.02;
    const double most_ns = 1e3 * std::max(usual_us, share * us);
    const bool waited = std::any_of(threads_.begin(), threads_.end(), [&](const Thread& thread) {
        return static_cast<double>(waited_ns(thread.file) - thread.waited_ns) > most_ns;
    });
    if (waited || stolen_ticks(statistics_) > stolen_) return true;
    const auto clocks = clocks_ ? clocks_->read_after() : std::nullopt;
    return clocks && std::fabs(clocks->after_mhz - clocks->before_mhz) > clock_share * clocks->highest_mhz;
}

}  // namespace sawtooth
