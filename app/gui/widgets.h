#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "app/gui/lab_state.h"

namespace sawtooth {

// A text field over a std::string; `hint` stands in it while it is empty.
bool input_text(const char* label, std::string& text, ImGuiInputTextFlags flags = 0, const char* hint = "");

// To the clipboard, with a word of it in the Log and the status bar: "Copied the table as TSV."
void copy_text(LabState& lab, const std::string& text, const std::string& what);

// Wrapped text in a tooltip of the item before, also where that item is greyed.
void tooltip(std::string_view text);

// The same for F1, where the mouse or the keyboard is `here`; what is asked first in a frame is the
// innermost.
void offer_help(std::string_view title, std::string_view text, bool here);

// One line that ends in an ellipsis where it does not fit; the whole of it is then in the tooltip.
void elided_text(std::string_view text, float width);

// "!" in a disc, for what went wrong: never colour alone.
void problem_mark(const LabState& lab);

// A sentence in the middle of what is left of the panel, with so many pixels under it.
void centred_sentence(std::string_view text, float below = 0);

// The line and marker of a variant.
void swatch(const LabState& lab, int variant, float width);

}  // namespace sawtooth
