#pragma once

#include <optional>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The value that the control of a row shows: the one that was set, otherwise the one in effect.
Value shown_value(const LabState& lab, const Parameter& row);
bool is_changed(const LabState& lab, const Parameter& row);
// The value that reset_parameter sets: that of the preset, or the default.
Value value_of_reset(const LabState& lab, const Parameter& row);
// The number that a word ("auto") stands for at present; nullopt if unknown.
std::optional<Value> settled_value(const LabState& lab, const Parameter& row);
// The number that a word stands for if it is known, otherwise the shown value.
Value present_value(const LabState& lab, const Parameter& row);
// Why a control cannot be moved; "" if it can.
std::string reason_fixed(const LabState& lab, const Parameter& row);
// Why a variant cannot run the current settings; "" if it can, or if the chip is not known here.
std::string reason_refused(const LabState& lab, const Variant& variant);
// The same, but where the chip is not known (a recording, another machine, a session of a GPU), the shown
// result gives the reason if it belongs to the current settings.
std::string shown_refusal(const LabState& lab, const Variant& variant);
// The selected variants that a choice would keep from running on the present chip although another choice of
// the row lets them run. Nothing is compiled to find this out.
struct ChoiceRefusal {
    std::string reason;   // a line per variant: "streaming: needs …"; "" if it keeps none from running
    bool by_all = false;  // no selected variant could run
};
ChoiceRefusal choice_refusal(const LabState& lab, const Parameter& row, const Value& choice);

// The text of a row's tooltip: what it means, its range, its default, and what a change does.
std::string explanation(const LabState& lab, const Parameter& row);
std::string with_unit(const std::string& text, const Parameter& row);
// The unit of the row beside a value: "tokens", but "token" beside 1 and "auto (1)".
std::string unit_after(const std::string& text, const Parameter& row);

}  // namespace sawtooth
