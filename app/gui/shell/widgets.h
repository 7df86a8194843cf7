#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// A text field for a std::string; shows `hint` while it is empty.
bool input_text(const char* label, std::string& text, ImGuiInputTextFlags flags = 0, const char* hint = "");

// Copies to the clipboard and confirms in the Log and the status bar: "Copied the table as TSV."
void copy_text(LabState& lab, const std::string& text, const std::string& what);

// A wrapped tooltip for the previous item, also if that item is disabled. There is one at a time, of the
// innermost item, and only for the mouse: none while a button of it is down, and none after a drag until the
// mouse leaves, as it would cover what the drag changes.
void tooltip(std::string_view text);
// The same without an item: once the mouse rests in the rectangle of the current window.
void tooltip_in(ImVec2 corner, ImVec2 end, std::string_view text);
// Call at the begin and the end of every frame.
void begin_tooltips(LabState& lab);
void end_tooltips(LabState& lab);

// The same for F1, if the mouse or the keyboard focus is `here`; the first call in a frame is the innermost.
// The list of shortcuts follows where there is no item.
void offer_help(std::string_view title, std::string_view text, bool here, bool lists_shortcuts = false);

// The text with an ellipsis if it is wider, for the labels of widgets.
std::string elided_to(std::string_view text, float width);
// One line with an ellipsis if it does not fit; the tooltip then has the whole text.
void elided_text(std::string_view text, float width);

// Wrapped text whose terms are underlined and have their definition as tooltip.
void text_with_terms(std::string_view text);

// "!" in a disc for errors, so that colour is not the only sign.
void problem_mark(const LabState& lab);

// A sentence centred in the rest of the panel, with `below` pixels under it.
void centred_sentence(std::string_view text, float below = 0);

// The line and marker of a variant.
void swatch(const LabState& lab, int variant, float width);

}  // namespace sawtooth
