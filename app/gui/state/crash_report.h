#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// While it lives, a signal that ends the program (SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL) leaves a report
// in the folder, then does what it always does. A signal that something else handles already, as a sanitizer
// does, is left to it. One at a time.
class CrashWatch {
  public:
    CrashWatch(const std::string& directory, const std::string& log_path);
    ~CrashWatch();
    CrashWatch(const CrashWatch&) = delete;
    CrashWatch& operator=(const CrashWatch&) = delete;

  private:
    std::vector<int> signals_;  // taken
    std::vector<char> stack_;   // for the handler: an overflow has no room left on its own
};

// Offers the newest report that no start has offered yet, in LabState::crash and the Log. The last reports
// are kept.
void offer_crash_report(LabState& lab, const std::string& directory);

}  // namespace sawtooth
