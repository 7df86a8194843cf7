#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "app/engine/window_options.h"
#include "app/gui/lab_state.h"

namespace sawtooth {

// An engine and the lab that asks it, for programs without a loop of events: who waits here is woken by the
// engine.
class Session {
  public:
    static Outcome<std::unique_ptr<Session>> open(const WindowOptions& options);

    LabState& lab() { return lab_; }
    double seconds() const;  // since the session was opened

    // Waits until an event can be taken or `seconds` have passed, and takes what there is. False: nothing
    // happened.
    bool wait(double seconds);
    // Until the request and all sweeps are done, or what is set cannot run.
    void wait_until_done();

  private:
    explicit Session(const WindowOptions& options);

    double opened_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
    Engine engine_;
    LabState lab_;
};

// Theme and scale as the options say, where they do.
void apply_options(LabState& lab, const WindowOptions& options);

}  // namespace sawtooth
