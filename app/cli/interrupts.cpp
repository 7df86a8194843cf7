#include "app/cli/interrupts.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

namespace sawtooth::cli {
namespace {

using Clock = std::chrono::steady_clock;
// `timeout` sends its signal to the process and at once again to its group, which is one request.
constexpr std::chrono::milliseconds one_request(200);

sigset_t watched() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    return signals;
}

}  // namespace

Interrupts::Interrupts() {
    const sigset_t signals = watched();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    thread_ = std::thread([this] { wait(); });
}

// The signals stay blocked: a late one must not end the program before its files are written.
Interrupts::~Interrupts() {
    done_ = true;
    pthread_kill(thread_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread): blocked
    thread_.join();
}

void Interrupts::wait() {
    const sigset_t signals = watched();
    int signal = 0;
    Clock::time_point first;
    while (sigwait(&signals, &signal) == 0 && !done_) {
        if (!stop_.stop_requested())
            first = Clock::now();
        else if (Clock::now() - first > one_request)
            ::_exit(130);
        stop_.request_stop();
    }
}

}  // namespace sawtooth::cli
