#pragma once

#include <optional>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Saves the session of a window to a file in the state directory, so that it can be restored if the process
// is killed, or if the window is closed before pins or notes are saved.
class SessionAutosave {
  public:
    SessionAutosave(LabState& lab, const std::string& directory);

    // Call once per frame: saves what has changed, in the background, at most every 2 s.
    void follow(LabState& lab, double now);
    // The time at which `follow` has something to save; nullopt: not before another change.
    std::optional<double> due(const LabState& lab) const;
    // The window closes: completes the writes that wait, and removes the file unless pins or notes were not
    // saved.
    void end(LabState& lab);

  private:
    bool is_due(const LabState& lab) const;

    uint64_t saved_ = 0;  // the revision of the session
    double last_;
};

// The autosaved file of a process: `directory`/session-HOST-PID-START.sawtooth, where START is the time when
// it started, in clock ticks since the machine did.
std::string autosave_path(const std::string& directory, int process);
// A file beside it for the session that the next one replaces: replaced-HOST-PID-START.N.sawtooth. No other
// session gets this name.
std::string path_of_replaced(const LabState& lab);

// Offers the newest autosaved session whose process has ended, if there is one. Older ones are offered at
// later starts; of many the oldest are removed. The same holds for sessions that were replaced.
constexpr size_t most_left_behind = 8;
void offer_session(LabState& lab, const std::string& directory);
void restore_session(LabState& lab);          // opens the offered session
void discard_offered_session(LabState& lab);  // removes its file
// The file was read to be restored. If it is valid it becomes the file of this process; otherwise it is
// renamed to FILE.bad.
void take_autosaved_file(LabState& lab, const std::string& path, bool is_valid);

}  // namespace sawtooth
