#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/gui/state/lab_state.h"
#include "viz/heading.h"

namespace sawtooth {

// A text field for a std::string; shows `hint` while empty.
bool input_text(const char* label, std::string& text, ImGuiInputTextFlags flags = 0, const char* hint = "");

// Copies the text to the clipboard and confirms it in the Log and the status bar: "Copied the table as TSV."
void copy_text(LabState& lab, const std::string& text, const std::string& what);

// A wrapped tooltip for the previous item, even if that item is disabled. There is at most one, that of the
// innermost item, and only for the mouse. It would cover what a drag changes, so there is none while a button
// of the mouse is down, and none after a drag until the mouse leaves.
void tooltip(std::string_view text);
// A tooltip without an item, once the mouse rests in the rectangle of the current window; the legend follows
// the text.
void tooltip_in(ImVec2 corner, ImVec2 end, std::string_view text,
                const std::vector<LegendEntry>& legend = {});
// Call at the beginning and at the end of every frame.
void begin_tooltips(LabState& lab);
void end_tooltips(LabState& lab);

// Offers help for F1 if the mouse or the keyboard focus is `here`; the first call in a frame is the
// innermost. If there is no item, the list of shortcuts follows.
void offer_help(std::string_view title, std::string_view text, bool here, bool lists_shortcuts = false);

// The width of a button with this label; a hidden part after "##" counts for nothing.
float button_width(const char* label);

// The text, cut with an ellipsis if it is wider than that; for the labels of widgets.
std::string elided_to(std::string_view text, float width);
// Draws one line, cut with an ellipsis if it does not fit; the tooltip then has the whole text.
void elided_text(std::string_view text, float width);

// Draws wrapped text in which terms are underlined and have their definition as a tooltip.
void text_with_terms(std::string_view text);

// Draws "!" in a disc to mark an error, so that colour is not the only sign.
void problem_mark(const LabState& lab);

// Draws a sentence centred in the rest of the panel, with `below` pixels under it.
void centred_sentence(std::string_view text, float below = 0);

// Draws the line and the marker of a variant.
void swatch(const LabState& lab, int variant, float width);

}  // namespace sawtooth
