#include "app/cli/interrupts.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "app/cli/terminal.h"

namespace sawtooth::cli {
namespace {

sigset_t watched() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    return signals;
}

}  // namespace

Interrupts::Interrupts(std::optional<double> time_limit) : time_limit_(time_limit) {
    run_starts();
    const sigset_t signals = watched();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    thread_ = std::thread([this] { wait(); });
}

// The mask stays: a late signal must not end the program before its files are written.
Interrupts::~Interrupts() {
    done_ = true;
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
}

void Interrupts::set_deadline(double seconds) {
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void Interrupts::run_starts() {
    constexpr double seconds_to_hear = 3;  // a launch on a GPU has two to end by itself
    if (time_limit_ && !stop_.stop_requested()) set_deadline(*time_limit_ + seconds_to_hear);
}

void Interrupts::wait() {
    const sigset_t signals = watched();
    while (!done_) {
        const std::chrono::duration<double> rest = deadline_.load() - Clock::now();
        // Another thread only moves the deadline away while this one waits.
        const timespec most{static_cast<time_t>(std::clamp(rest.count() + 1, 1.0, 3600.0)), 0};
        const bool is_signal = ::sigtimedwait(&signals, nullptr, &most) > 0;
        if (done_) return;
        if (is_signal) {
            if (stop_.stop_requested()) ::_exit(130);
            stop_.request_stop();
            constexpr double seconds_to_hear = 10;  // nobody waits longer before the second Ctrl+C
            set_deadline(seconds_to_hear);
        }
        if (!running_ || Clock::now() < deadline_.load()) continue;
        ::_exit(fail(
            stop_.stop_requested()
                ? Error::cancelled()
                : Error::failure("time limit: the run does not stop, so the process ends. If a GPU hangs, "
                                 "nvidia-smi may say why")));
    }
}

}  // namespace sawtooth::cli
