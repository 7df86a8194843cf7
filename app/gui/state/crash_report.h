#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// While it lives, a signal that ends the program (SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL) leaves a report
// in the folder and then has its usual effect. A signal that something else already handles, such as a
// sanitizer, is left alone. There may be one object at a time.
class CrashWatch {
  public:
    CrashWatch(const std::string& directory, const std::string& log_path);
    ~CrashWatch();
    CrashWatch(const CrashWatch&) = delete;
    CrashWatch& operator=(const CrashWatch&) = delete;

  private:
    std::vector<int> signals_;  // the handled signals
    // The stack of the handler, because after an overflow the thread's own has no room.
    std::vector<char> stack_;
};

// Offers the newest report that was not offered before, in LabState::crash and the Log. The most recent
// reports are kept.
void offer_crash_report(LabState& lab, const std::string& directory);

}  // namespace sawtooth
