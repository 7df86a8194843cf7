#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace sawtooth::cli {

// Turns Ctrl+C, SIGTERM and SIGHUP into a request to stop; a later one ends the program at once. Must be
// created before any other thread, because threads inherit the signal mask.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    std::stop_token token() const { return stop_.get_token(); }

  private:
    void wait();

    std::stop_source stop_;
    std::atomic<bool> done_ = false;
    std::thread thread_;
};

}  // namespace sawtooth::cli
