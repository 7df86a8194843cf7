#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

#include "app/engine/window_options.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {

// An engine and its lab, for programs without an event loop; the engine wakes wait().
class Headless {
  public:
    static Outcome<std::unique_ptr<Headless>> open(const WindowOptions& options);

    LabState& lab() { return lab_; }
    double seconds() const;  // since construction

    // Waits until an event is available or `seconds` have passed, and takes all events. False: there were
    // none.
    bool wait(double seconds);
    // Waits until the request and all sweeps are complete, the settings cannot run, or a stop is requested.
    void wait_until_done(const std::stop_token& stop = {});

  private:
    explicit Headless(const WindowOptions& options);

    double opened_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
    Engine engine_;
    LabState lab_;
};

// Applies theme and scale of the options, if any, for this session only.
void apply_options(LabState& lab, const WindowOptions& options);

}  // namespace sawtooth
