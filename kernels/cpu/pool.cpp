#include "kernels/cpu/pool.h"
#include "kernels/core/in_parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sawtooth::cpu {
namespace {

using Clock = std::chrono::steady_clock;

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

// Moves the calling thread to another core if it may run on one.
void leave_core() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    cpu_set_t others = allowed;
    CPU_CLR(static_cast<size_t>(sched_getcpu()), &others);
    if (CPU_COUNT(&others) == 0) return;
    sched_setaffinity(0, sizeof others, &others);
    sched_setaffinity(0, sizeof allowed, &allowed);  // it stays there until the system moves it
}

// Waits until `value` is no longer `old`. First spins for longer than a sleeping core takes to wake, because
// otherwise two threads that wait for each other would both sleep and wake in every dispatch; then sleeps.
// Sleeps at once if another thread of the pool needs this core.
template <class T, class Needed>
T wait_while(const std::atomic<T>& value, T old, Needed&& core_is_needed) {
    constexpr auto on_the_spot = std::chrono::microseconds(300);
    constexpr int pauses_a_look = 32;
    const auto start = Clock::now();
    T now = value.load(std::memory_order_acquire);
    while (now == old && Clock::now() - start < on_the_spot && !core_is_needed())
        for (int i = 0; i < pauses_a_look && now == old; ++i) {
            pause();
            now = value.load(std::memory_order_acquire);
        }
    while (now == old) {
        value.wait(old, std::memory_order_acquire);
        now = value.load(std::memory_order_acquire);
    }
    return now;
}

}  // namespace

struct Pool::State {
    struct alignas(64) Worker {
        std::atomic<uint64_t> go{0};  // the number of the next dispatch
        std::atomic<int> core{-1};    // where the worker was last seen
        double start_us = 0, end_us = 0;
        Tally tally;
        std::shared_ptr<std::byte[]> scratch;
    };

    std::vector<Worker> workers;
    std::vector<std::jthread> threads;
    bool shares_cores;  // there are more threads than cores
    std::atomic<int> pending{0};
    std::atomic<bool> quit{false};
    uint64_t dispatches = 0;
    std::stop_token stop;

    // The current dispatch.
    int64_t items = 0;
    int active = 0;
    Split split = Split::contiguous;
    const std::function<void(const Item&)>* work = nullptr;
    int64_t scratch_bytes = 0;  // per worker

    int64_t room = 0;  // the scratch allocated per worker: the most of all dispatches

    Clock::time_point origin = Clock::now();
    std::vector<DispatchRecord> records;
    double last_end_us = 0;

    explicit State(int count) : workers(static_cast<size_t>(count)), shares_cores(count > core_count()) {}
    // Ends all threads, also if a later one could not be started: those that run are waiting.
    ~State() {
        quit = true;
        for (size_t index = 1; index < workers.size(); ++index) signal(static_cast<int>(index), ~uint64_t{0});
        threads.clear();
    }

    double now_us() const { return std::chrono::duration<double, std::micro>(Clock::now() - origin).count(); }

    // noexcept: an item that throws ends the program, because others use the same arrays and may wait for it.
    void do_items(int index) noexcept {
        Worker& worker = workers[static_cast<size_t>(index)];
        worker.tally = {};
        worker.core.store(sched_getcpu(), std::memory_order_relaxed);
        worker.start_us = now_us();
        const bool cyclic = split == Split::cyclic;
        const int64_t first = cyclic ? index : items * index / active;
        const int64_t last = cyclic ? items : items * (index + 1) / active;
        const int64_t step = cyclic ? active : 1;
        const Scratch scratch({worker.scratch.get(), static_cast<size_t>(scratch_bytes)});
        for (int64_t i = first; i < last && !stop.stop_requested(); i += step)
            (*work)({i, index, worker.tally, stop, scratch});
        worker.end_us = now_us();
    }

    void serve(int index) {
        Worker& worker = workers[static_cast<size_t>(index)];
        uint64_t done = 0;
        // The system tends to move a thread for good to the core of the thread that often wakes it.
        constexpr auto between_moves = std::chrono::milliseconds(1);
        Clock::time_point moved{};
        while (true) {
            const uint64_t go = wait_while(worker.go, done, [this] { return shares_cores || is_here(0); });
            if (quit.load(std::memory_order_relaxed)) return;
            done = go;
            if (is_here(0) && Clock::now() - moved > between_moves) {
                leave_core();
                moved = Clock::now();
            }
            do_items(index);
            if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1) pending.notify_one();
        }
    }

    // Bytes of 0xFF make every float a NaN, so that no kernel is right by luck.
    void make_room(int64_t bytes) {
        scratch_bytes = bytes;
        if (bytes <= room) return;
        for (Worker& worker : workers) {
            worker.scratch = allocate(bytes);
            std::memset(worker.scratch.get(), 0xFF, static_cast<size_t>(bytes));
        }
        room = bytes;
    }

    // Whether the worker was last seen on the calling core.
    bool is_here(int index) const {
        return workers[static_cast<size_t>(index)].core.load(std::memory_order_relaxed) == sched_getcpu();
    }
    bool any_is_here() const {
        for (int index = 1; index < active; ++index)
            if (is_here(index)) return true;
        return false;
    }

    void signal(int index, uint64_t number) {
        Worker& worker = workers[static_cast<size_t>(index)];
        worker.go.store(number, std::memory_order_release);
        worker.go.notify_one();
    }
};

Pool::Pool(int threads) {
    const int count = threads > 0 ? threads : core_count();
    state_ = std::make_unique<State>(count);
    for (int index = 1; index < count; ++index)
        state_->threads.emplace_back([state = state_.get(), index] { state->serve(index); });
}

Pool::~Pool() = default;

int Pool::threads() const { return static_cast<int>(state_->workers.size()); }

void Pool::dispatch(int64_t items, Split split, const std::function<void(const Item&)>& work,
                    int64_t scratch_bytes) {
    State& state = *state_;
    state.make_room(scratch_bytes);
    state.items = items;
    state.split = split;
    state.work = &work;
    state.active = static_cast<int>(std::clamp<int64_t>(items, 1, threads()));
    const double start_us = state.now_us();
    ++state.dispatches;
    state.pending.store(state.active - 1, std::memory_order_relaxed);
    for (int index = 1; index < state.active; ++index) state.signal(index, state.dispatches);
    state.do_items(0);
    for (int pending = state.pending.load(std::memory_order_acquire); pending != 0;)
        pending =
            wait_while(state.pending, pending, [&] { return state.shares_cores || state.any_is_here(); });

    state.last_end_us = state.now_us();
    if (state.records.size() == most_kept_launches) return;
    DispatchRecord record{start_us, state.last_end_us, items, {}, {}};
    for (int index = 0; index < state.active; ++index) {
        const State::Worker& worker = state.workers[static_cast<size_t>(index)];
        record.busy.push_back({index, worker.start_us, worker.end_us});
        record.tally += worker.tally;
    }
    state.records.push_back(std::move(record));
}

void Pool::set_stop(std::stop_token stop) { state_->stop = std::move(stop); }
bool Pool::stopped() const { return state_->stop.stop_requested(); }

void Pool::start_recording() {
    state_->records.clear();
    state_->last_end_us = 0;
    state_->origin = Clock::now();
}

const std::vector<DispatchRecord>& Pool::records() const { return state_->records; }
double Pool::end_us() const { return state_->last_end_us; }

}  // namespace sawtooth::cpu
