#include "kernels/cpu/lookback.h"

#include <atomic>
#include <thread>

namespace sawtooth::cpu {

Lookback::Lookback(PlanBuilder& builder, int64_t tiles, int64_t sequences)
    : sequences_(sequences),
      run_(builder.take_zeroed<uint64_t>(1)),
      flags_(builder.take_zeroed<uint64_t>(tiles * sequences)) {}

void Lookback::start_run() const { ++*run_; }

uint64_t Lookback::flag_of(int64_t tile, int64_t sequence) const {
    return std::atomic_ref(flags_[tile * sequences_ + sequence]).load(std::memory_order_acquire);
}

void Lookback::set_flag(int64_t tile, int64_t sequence, uint64_t flag) const {
    std::atomic_ref(flags_[tile * sequences_ + sequence]).store(flag, std::memory_order_release);
}

bool Lookback::has_prefix(int64_t tile, int64_t sequence) const {
    return flag_of(tile, sequence) == 2 * *run_ + 2;
}

void Lookback::publish_total(int64_t tile, int64_t sequence) const {
    set_flag(tile, sequence, 2 * *run_ + 1);
}

void Lookback::publish_prefix(int64_t tile, int64_t sequence) const {
    set_flag(tile, sequence, 2 * *run_ + 2);
}

bool Lookback::wait_for_total(int64_t tile, int64_t sequence, const Item& item) const {
    // A total usually appears within a few looks. If other processes are busy it can take a whole time slice,
    // and a thread that kept spinning would occupy the processor that the other thread needs.
    constexpr int looks = 32;
    for (int look = 0; flag_of(tile, sequence) < 2 * *run_ + 1; ++look) {
        if (look < looks) continue;
        if (item.stop.stop_requested()) return false;
        std::this_thread::yield();
    }
    return true;
}

int64_t Lookback::find_prefix(int64_t tile, int64_t sequence, const Item& item) const {
    int64_t found = tile - 1;
    while (found >= 0 && !has_prefix(found, sequence)) {
        if (!wait_for_total(found, sequence, item)) return stopped;
        if (!has_prefix(found, sequence)) --found;
    }
    return found;
}

}  // namespace sawtooth::cpu
