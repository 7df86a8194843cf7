#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The session of the window in .sawtooth files: the history of results, pins, finished sweeps and notes.

bool is_session_file(std::string_view path);

// A function for the thread that writes files. It writes the session as it is now to `path`.
FileWriter::Write session_write(const LabState& lab, std::string path);
// What that writes.
struct WrittenSession {
    std::set<uint64_t> results;  // their tickets
    std::vector<std::shared_ptr<const SweepResult>> sweeps;
    uint64_t marks = 0;
    int opened = 0;  // SessionState::opened
};
WrittenSession written_session(const LabState& lab);
// Writes the session to its file, which must be known, in the background.
void save_session(LabState& lab);
// A session was written to that file of the user, which is the file of the session from now on, unless
// another session has been opened since.
void take_saved_session(LabState& lab, const std::string& path, const WrittenSession& written);

// Reads a session in the background and shows it. `is_restored`: an autosaved one.
void open_session(LabState& lab, const std::string& path, bool is_restored = false);
// Call once per frame.
void take_opened_session(LabState& lab);
// Opens a file that was chosen or dropped: a session, or an input file of the shown family.
void open_any_file(LabState& lab, const std::string& path);

// Whether there are pins or notes that the file of the session lacks.
bool has_unsaved_marks(const LabState& lab);
// "12 results, 2 pins"
std::string words_of_session(const LabState& lab);
// Whether there is something to save.
bool has_session(const LabState& lab);

}  // namespace sawtooth
