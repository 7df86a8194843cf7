#pragma once

#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The place of a panel in a new layout. Panels in one place are tabs, and the first one is in front.
enum class Dock { left, centre, times, occupancy, numbers, about, bottom };

struct Panel {
    const char* name;
    Dock dock;
    void (*draw)(LabState&);
    const char* help;
    std::optional<Place> place = {};  // the place whose figures it draws
};

// The list of panels: to add one, add a row and a function.
const std::vector<Panel>& panels();
const Panel* find_panel(std::string_view name);
const Panel* find_panel(Place place);

void draw_parameters(LabState& lab);
void draw_story(LabState& lab);
void draw_more(LabState& lab);
void draw_outputs(LabState& lab);
void draw_error(LabState& lab);
void draw_check(LabState& lab);
void draw_times(LabState& lab);
void draw_occupancy(LabState& lab);
void draw_numbers(LabState& lab);
void draw_about(LabState& lab);
void draw_timeline(LabState& lab);
void draw_log(LabState& lab);

// These are not panels but the rows above and below them, and popups.
void draw_top_bar(LabState& lab);
void draw_status_bar(LabState& lab);
void draw_failure_row(LabState& lab);
void draw_pins_row(LabState& lab);              // the pinned results, or in Compare how to pin one
float pins_row_height(const LabState& lab);     // in pixels; 0 if it is not shown
float failure_row_height(const LabState& lab);  // in pixels; 0 if nothing failed
void draw_crash_row(LabState& lab);             // the report that the last session left
float crash_row_height(const LabState& lab);
void draw_crash_dialog(LabState& lab);
void draw_restore_row(LabState& lab);  // the autosaved session of a window that was killed
float restore_row_height(const LabState& lab);
void draw_history(LabState& lab, float width);         // the history of results as small marks
float history_width(const LabState& lab, float room);  // in pixels, at most `room`; 0 if it is hidden
std::string words_of_earlier(const LabState& lab);     // about the earlier result that is shown, or ""
void draw_open_dialog(LabState& lab);
void draw_save_dialog(LabState& lab);
void draw_sweep_dialog(LabState& lab);
void draw_note_dialog(LabState& lab);
void draw_help(LabState& lab);  // call at the end of a frame; shown after F1 until closed

// The sentence in a panel without data. `shows` says what it will show: "the outputs of every variant".
std::string empty_sentence(const LabState& lab, const std::string& shows);

}  // namespace sawtooth
