#pragma once

#include <optional>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Saves the session of a window to a file in the state directory, so that it can be restored if the process
// is killed, or if the window is closed before pins or notes are saved.
class SessionAutosave {
  public:
    // The file is `directory`/session-HOST-PID.sawtooth.
    SessionAutosave(LabState& lab, const std::string& directory);

    // Call once per frame: saves what has changed, in the background, at most every 2 s.
    void follow(LabState& lab, double now);
    // The time at which `follow` has something to save; nullopt: not before another change.
    std::optional<double> due(const LabState& lab) const;
    // The window closes: removes the file after the writes that wait, unless pins or notes were not saved.
    void end(LabState& lab);

  private:
    bool is_due(const LabState& lab) const;

    uint64_t saved_ = 0;  // the revision of the session
    double last_;
};

// Offers the newest autosaved session whose process has ended, if there is one. Older ones are offered at
// later starts; of many the oldest are removed.
constexpr size_t most_left_behind = 8;
void offer_session(LabState& lab, const std::string& directory);
void restore_session(LabState& lab);          // opens the offered session
void discard_offered_session(LabState& lab);  // removes its file
// The file was read to be restored. If it is valid it becomes the file of this process; otherwise it is
// renamed to FILE.bad.
void take_autosaved_file(LabState& lab, const std::string& path, bool is_valid);

}  // namespace sawtooth
