#pragma once

#include <optional>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The value shown by the control of a row: the one set, otherwise the one in effect.
Value shown_value(const LabState& lab, const Parameter& row);
bool is_changed(const LabState& lab, const Parameter& row);
// The number in effect for a word ("auto"); nullopt if it is unknown.
std::optional<Value> settled_value(const LabState& lab, const Parameter& row);
// That number, otherwise the shown value.
Value present_value(const LabState& lab, const Parameter& row);
// Why a control cannot be moved; "" if it can.
std::string reason_fixed(const LabState& lab, const Parameter& row);
// Why a variant cannot run the current settings; "" if it can.
std::string reason_refused(const LabState& lab, const Variant& variant);
// Which selected variants a choice would keep from running on the present chip, although another choice of
// the row lets them run. Nothing is compiled to know it.
struct ChoiceRefusal {
    std::string reason;   // "streaming: needs …", a line per variant; "" if it keeps none
    bool by_all = false;  // no selected variant could run
};
ChoiceRefusal choice_refusal(const LabState& lab, const Parameter& row, const Value& choice);

// What a row means, its range, its default, and what a change does, for its tooltip.
std::string explanation(const LabState& lab, const Parameter& row);
std::string with_unit(const std::string& text, const Parameter& row);

}  // namespace sawtooth
