#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

namespace sawtooth::cli {

// Turns Ctrl+C, SIGTERM and SIGHUP into a request to stop; the second ends the program at once. Create it
// before any other thread: threads inherit the signal mask.
class Interrupts {
  public:
    // With the time limit of the runs that follow. What does not hear that it should stop is not waited for,
    // as calls of a GPU's driver may never return: some seconds after the limit of a run, or after the first
    // signal, the program ends here.
    explicit Interrupts(std::optional<double> time_limit = {});
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    std::stop_token token() const { return stop_.get_token(); }

    void run_starts();
    void last_run_ended() { running_ = false; }  // what follows may take its time

  private:
    using Clock = std::chrono::steady_clock;
    void wait();
    void set_deadline(double seconds);

    std::optional<double> time_limit_;
    std::stop_source stop_;
    std::atomic<bool> done_ = false, running_ = true;
    std::atomic<Clock::time_point> deadline_ = Clock::time_point::max();
    std::thread thread_;
};

}  // namespace sawtooth::cli
