#include "app/cli/interrupts.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

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
    while (sigwait(&signals, &signal) == 0 && !done_) {
        if (stop_.stop_requested()) ::_exit(130);
        stop_.request_stop();
    }
}

}  // namespace sawtooth::cli
