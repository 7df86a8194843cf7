#include "app/gui/panels/controls.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/engine/run/run_rows.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/effect.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/slider_scale.h"
#include "app/gui/state/sweeps.h"
#include "kernels/core/typed_values.h"

namespace sawtooth {
namespace {

double number_of(const Value& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return 0;
}

bool is_word(const Parameter& row, const Value& value) {
    return !row.word.empty() && value == Value(row.word);
}

// The value in words: "4096", "auto", "auto (1024)"; "4096 (1024)" if the parameter is currently limited to
// 1024.
std::string value_text(const LabState& lab, const Parameter& row) {
    const Value value = shown_value(lab, row);
    if (const auto settled = settled_value(lab, row))
        return fmt::format("{} ({})", to_text(value), to_text(*settled));
    if (row.end && number_of(value) > last_value(lab, row))
        return fmt::format("{} ({})", to_text(value), last_value(lab, row));
    return to_text(value);
}

bool is_typed_into(const LabState& lab, const Parameter& row) {
    return lab.typing && lab.typing->parameter == row.name;
}

// Draws the field for typing a value; invalid text stays, and the tooltip gives the reason.
void draw_typing(LabState& lab, const Parameter& row) {
    LabState::Typing& typing = *lab.typing;
    if (!typing.begun) ImGui::SetKeyboardFocusHere();
    if (!typing.problem.empty()) ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
    const bool entered = input_text("##control", typing.text,
                                    ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    if (!typing.problem.empty()) {
        ImGui::PopStyleColor();
        ImGui::SetTooltip("%s", typing.problem.c_str());
    }
    if (entered) {
        const auto value = row.parse(typing.text);
        if (value) {
            lab.typing.reset();
            set_parameter(lab, row, *value);
        } else {
            typing.problem = value.error().text;
            typing.begun = false;
        }
        return;
    }
    if ((typing.begun && !ImGui::IsItemActive()) || ImGui::IsKeyPressed(ImGuiKey_Escape))
        lab.typing.reset();
    else
        typing.begun = typing.begun || ImGui::IsItemActive();
}

// Ctrl+click must be handled before the slider takes it as the start of a drag.
bool wants_typing() {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 end{corner.x + ImGui::CalcItemWidth(), corner.y + ImGui::GetFrameHeight()};
    return ImGui::GetIO().KeyCtrl && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
           ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(corner, end);
}

void draw_powers_slider(LabState& lab, const Parameter& row, const SliderSpan& span) {
    const double present = number_of(present_value(lab, row));
    int exponent = static_cast<int>(std::lround(std::log2(std::max(present, 1.0))));
    if (ImGui::SliderInt("##control", &exponent, static_cast<int>(span.low), static_cast<int>(span.high), "",
                         ImGuiSliderFlags_NoInput))
        set_parameter(lab, row, int64_t{1} << exponent);
}

ImGuiSliderFlags slider_flags(const Parameter& row, const SliderSpan& span) {
    return ImGuiSliderFlags_NoInput | ImGuiSliderFlags_NoRoundToFormat |
           (is_logarithmic(row, span) ? ImGuiSliderFlags_Logarithmic : 0);
}

void draw_integer_slider(LabState& lab, const Parameter& row, const SliderSpan& span) {
    auto value = static_cast<int64_t>(number_of(present_value(lab, row)));
    const auto low = static_cast<int64_t>(span.low), high = static_cast<int64_t>(span.high);
    if (ImGui::SliderScalar("##control", ImGuiDataType_S64, &value, &low, &high, "", slider_flags(row, span)))
        set_parameter(lab, row, value);
}

void draw_towards_one_slider(LabState& lab, const Parameter& row, const SliderSpan& span) {
    double share = static_cast<double>(share_of(row, span, number_of(present_value(lab, row))));
    constexpr double low = 0, high = 1;
    if (ImGui::SliderScalar("##control", ImGuiDataType_Double, &share, &low, &high, "",
                            ImGuiSliderFlags_NoInput | ImGuiSliderFlags_NoRoundToFormat))
        set_parameter(lab, row,
                      std::strtod(fmt::format("{:.6f}", towards_one_at(span, share)).c_str(), nullptr));
}

void draw_real_slider(LabState& lab, const Parameter& row, const SliderSpan& span) {
    double value = number_of(present_value(lab, row));
    // Three digits are the precision of a drag.
    if (ImGui::SliderScalar("##control", ImGuiDataType_Double, &value, &span.low, &span.high, "",
                            slider_flags(row, span)))
        set_parameter(lab, row, std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr));
}

// Draws a track along the lower edge of the previous item, so that value and knob do not overlap.
void draw_track(float share) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float inset = units(4), thick = units(2), knob = units(4);
    const float at = low.x + inset + (high.x - low.x - 2 * inset) * share;
    const bool held = ImGui::IsItemActive();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled({low.x + inset, high.y - thick}, {high.x - inset, high.y},
                       ImGui::GetColorU32(ImGuiCol_Border));
    list.AddRectFilled({low.x + inset, high.y - thick}, {at, high.y},
                       ImGui::GetColorU32(ImGuiCol_SliderGrab));
    list.AddRectFilled({at - knob / 2, high.y - units(held ? 12 : 8)}, {at + knob / 2, high.y},
                       ImGui::GetColorU32(held ? ImGuiCol_SliderGrabActive : ImGuiCol_SliderGrab), units(1));
}

// Draws value and unit at the right end of the previous item. If an automatic value is too wide, only its
// number is drawn: the button beside it says "auto".
void draw_value(std::string value, const std::string& number, const std::string& unit) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const float top = low.y + ImGui::GetStyle().FramePadding.y;
    float right = high.x - units(8);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float unit_width = ImGui::CalcTextSize(unit.c_str()).x;
    ImGui::PushFont(number_font(), 0);
    if (!number.empty() && ImGui::CalcTextSize(value.c_str()).x + units(12) > high.x - low.x) value = number;
    const float value_width = ImGui::CalcTextSize(value.c_str()).x;
    ImGui::PopFont();
    list.PushClipRect(low, high, true);
    if (!unit.empty() && value_width + unit_width + units(20) <= high.x - low.x) {
        right -= unit_width;
        list.AddText({right, top}, ImGui::GetColorU32(ImGuiCol_TextDisabled), unit.c_str());
        right -= units(4);
    }
    ImGui::PushFont(number_font(), 0);
    list.AddText({right - value_width, top}, ImGui::GetColorU32(ImGuiCol_Text), value.c_str());
    ImGui::PopFont();
    list.PopClipRect();
}

void draw_slider(LabState& lab, const Parameter& row) {
    if (wants_typing()) begin_typing(lab, row);
    if (is_typed_into(lab, row)) {
        draw_typing(lab, row);
        return;
    }
    ImGui::PushStyleColor(ImGuiCol_SliderGrab, 0);
    ImGui::PushStyleColor(ImGuiCol_SliderGrabActive, 0);
    const SliderSpan span = span_of(lab, row);
    if (row.step == Step::towards_one)
        draw_towards_one_slider(lab, row, span);
    else if (row.type == Type::real)
        draw_real_slider(lab, row, span);
    else if (steps_in_powers(row))
        draw_powers_slider(lab, row, span);
    else
        draw_integer_slider(lab, row, span);
    ImGui::PopStyleColor(2);
    draw_track(share_of(row, span, number_of(present_value(lab, row))));
    std::string number;
    if (const auto settled = settled_value(lab, row))
        number = row.type == Type::real ? fmt::format("{:.4g}", number_of(*settled)) : to_text(*settled);
    // A title with the same words is already in front of the slider.
    const std::string value = value_text(lab, row);
    draw_value(value, number, row.unit == row.title ? "" : unit_after(value, row));
    if (ImGui::IsItemFocused() && ImGui::IsKeyPressed(ImGuiKey_Enter)) begin_typing(lab, row);
}

// Draws a choice, greyed with the reason if it keeps variants from running, and disabled if it keeps all of
// them from running. Returns whether it was clicked.
bool draw_choice(const std::string& name, bool chosen, const ChoiceRefusal& refusal) {
    ImGui::BeginDisabled(refusal.by_all);
    const bool dims = !refusal.reason.empty() && !refusal.by_all;
    if (dims) ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    const bool clicked = ImGui::Selectable(name.c_str(), chosen);
    if (dims) ImGui::PopStyleColor();
    ImGui::EndDisabled();
    if (!refusal.reason.empty())
        tooltip(fmt::format("{}\n\n{}",
                            refusal.by_all ? "No selected variant can run with this value."
                                           : "Not all selected variants can run with this value.",
                            refusal.reason));
    return clicked;
}

void draw_combo(LabState& lab, const Parameter& row) {
    const Value present = shown_value(lab, row);
    const float arrow = ImGui::GetFrameHeight() + ImGui::GetStyle().FramePadding.x;
    const std::string label = elided_to(value_text(lab, row), ImGui::CalcItemWidth() - arrow);
    if (!ImGui::BeginCombo("##control", label.c_str())) return;
    std::vector<Value> choices = row.choices;
    if (!row.word.empty() && std::find(choices.begin(), choices.end(), Value(row.word)) == choices.end())
        choices.insert(choices.begin(), row.word);
    for (const Value& choice : choices) {
        const bool chosen = choice == present;
        if (draw_choice(to_text(choice), chosen, choice_refusal(lab, row, choice)) && !chosen)
            set_parameter(lab, row, choice);
        if (chosen) ImGui::SetItemDefaultFocus();
    }
    ImGui::EndCombo();
}

void draw_checkbox(LabState& lab, const Parameter& row) {
    const Value present = shown_value(lab, row);
    const bool* flag = std::get_if<bool>(&present);
    bool on = flag && *flag;
    if (ImGui::Checkbox("##control", &on)) set_parameter(lab, row, on);
}

void draw_list(LabState& lab, const Parameter& row) {
    if (is_typed_into(lab, row)) {
        draw_typing(lab, row);
        return;
    }
    if (ImGui::Button((value_text(lab, row) + "###control").c_str(), {ImGui::CalcItemWidth(), 0}))
        begin_typing(lab, row);
}

// Draws the button beside a slider whose parameter also accepts a word.
void draw_word_button(LabState& lab, const Parameter& row) {
    const Value present = shown_value(lab, row);
    const bool on = is_word(row, present);
    if (on) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_ButtonActive));
    if (ImGui::Button(row.word.c_str())) {
        const Value settled = present_value(lab, row);
        const bool is_number = !is_word(row, settled);
        set_parameter(lab, row, on ? is_number ? settled : number_value(row, row.minimum) : Value(row.word));
    }
    if (on) ImGui::PopStyleColor();
    tooltip(on ? "Automatic. Click or drag to set it yourself." : "Click to set it automatically.");
}

void draw_menu(LabState& lab, const Parameter& row) {
    if (!ImGui::BeginPopupContextItem("menu")) return;
    const std::string reason = reason_not_swept(lab, row);
    if (ImGui::MenuItem("Sweep…", nullptr, false, reason.empty())) open_sweep_form(lab, row);
    tooltip("Runs a range of values in the background. Results appear in More.");
    if (!reason.empty()) ImGui::TextDisabled("%s", reason.c_str());
    if (ImGui::MenuItem(fmt::format("Reset to {}", with_unit(to_text(value_of_reset(lab, row)), row)).c_str(),
                        nullptr, false, is_changed(lab, row)))
        reset_parameter(lab, row);
    if (row.type != Type::boolean && row.type != Type::choice &&
        ImGui::MenuItem("Type a value", "Ctrl+click"))
        begin_typing(lab, row);
    ImGui::EndPopup();
}

// Draws a dot before the name of a changed parameter; a click on it resets the parameter.
void draw_changed_dot(LabState& lab, const Parameter& row) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const ImVec2 size{units(12), ImGui::GetFrameHeight()};
    if (!is_changed(lab, row)) {
        ImGui::Dummy(size);
        return;
    }
    if (ImGui::InvisibleButton("reset", size)) reset_parameter(lab, row);
    const bool hovered = ImGui::IsItemHovered();
    ImGui::GetWindowDrawList()->AddCircleFilled({corner.x + units(4), corner.y + size.y / 2},
                                                units(hovered ? 4 : 3),
                                                ImGui::GetColorU32(ImGuiCol_CheckMark));
    tooltip(fmt::format("Changed. Click to reset to {}.", with_unit(to_text(value_of_reset(lab, row)), row)));
}

void draw_by_type(LabState& lab, const Parameter& row) {
    switch (row.type) {
        case Type::boolean:
            draw_checkbox(lab, row);
            break;
        case Type::choice:
            draw_combo(lab, row);
            break;
        case Type::list:
            draw_list(lab, row);
            break;
        case Type::integer:
        case Type::real:
            draw_slider(lab, row);
            break;
    }
}

// Draws the name, followed by as much of the title as fits.
void draw_name(const Parameter& row, float room) {
    elided_text(row.name, room);
    const float rest = room - ImGui::CalcTextSize(row.name.c_str()).x - units(8);
    if (row.title.empty() || rest < units(16)) return;
    ImGui::SameLine(0, units(8));
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    elided_text(row.title, rest);
    ImGui::PopStyleColor();
}

}  // namespace

void begin_typing(LabState& lab, const Parameter& row) {
    lab.typing = LabState::Typing{row.name, to_text(shown_value(lab, row)), "", false};
}

ControlColumns columns_for(const LabState& lab, float width) {
    float name = 0;
    const auto consider = [&](const Parameter& row) {
        const float title = row.title.empty() ? 0 : units(8) + ImGui::CalcTextSize(row.title.c_str()).x;
        name = std::max(name, ImGui::CalcTextSize(row.name.c_str()).x + title);
    };
    for (const Parameter& row : lab.family->parameters)
        if (row.renews != Renews::figures) consider(row);
    for (const Parameter& row : run_rows()) consider(row);
    ControlColumns columns;
    columns.name = std::min(name + units(12), width * 0.5f);
    columns.control = std::max(width - units(12) - columns.name, units(48));
    return columns;
}

void draw_control(LabState& lab, const Parameter& row, const ControlColumns& columns) {
    const bool has_word_button = (row.type == Type::integer || row.type == Type::real) && !row.word.empty();
    const float word = ImGui::CalcTextSize(row.word.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::PushID(row.name.c_str());
    ImGui::BeginGroup();
    const ImGuiStyle& style = ImGui::GetStyle();
    const bool used = reason_unused(lab, row).empty();
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, used ? style.Alpha : style.Alpha * style.DisabledAlpha);
    draw_changed_dot(lab, row);
    ImGui::BeginDisabled(!reason_fixed(lab, row).empty());
    ImGui::SameLine(units(12), 0);
    ImGui::AlignTextToFramePadding();
    draw_name(row, columns.name - units(8));
    ImGui::SameLine(units(12) + columns.name, 0);
    ImGui::SetNextItemWidth(columns.control - (has_word_button ? word + units(4) : 0));
    const bool refused = lab.problem && lab.problem->parameter == row.name;
    if (refused) {
        ImGui::PushStyleColor(ImGuiCol_Border, problem_colour(lab));
        ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, units(2));
    }
    draw_by_type(lab, row);
    if (refused) {
        ImGui::PopStyleVar();
        ImGui::PopStyleColor();
    }
    if (has_word_button) {
        ImGui::SameLine(0, units(4));
        draw_word_button(lab, row);
    }
    ImGui::EndDisabled();
    ImGui::PopStyleVar();
    ImGui::EndGroup();
    if (!is_typed_into(lab, row)) tooltip(explanation(lab, row));
    draw_menu(lab, row);
    ImGui::PopID();
}

bool has_choice(const LabState& lab, const Parameter& row) {
    return row.type == Type::choice || last_value(lab, row) > row.minimum;
}

void draw_small_control(LabState& lab, const Parameter& row, float width) {
    ImGui::PushID(row.name.c_str());
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {units(6), units(0)});
    ImGui::SetNextItemWidth(width);
    draw_by_type(lab, row);
    ImGui::PopStyleVar();
    if (!is_typed_into(lab, row)) tooltip(explanation(lab, row));
    ImGui::PopID();
}

}  // namespace sawtooth
