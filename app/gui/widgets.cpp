#include "app/gui/widgets.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>

#include "app/gui/appearance.h"
#include "app/gui/lab.h"
#include "viz/imgui/canvas_imgui.h"

namespace sawtooth {
namespace {

int grow(ImGuiInputTextCallbackData* data) {
    if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
    auto& text = *static_cast<std::string*>(data->UserData);
    text.resize(static_cast<size_t>(data->BufTextLen));
    data->Buf = text.data();
    return 0;
}

void draw_tooltip(std::string_view text) {
    if (text.empty() ||
        !ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled))
        return;
    if (!ImGui::BeginTooltip()) return;
    ImGui::PushTextWrapPos(units(360));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

}  // namespace

bool input_text(const char* label, std::string& text, ImGuiInputTextFlags flags, const char* hint) {
    return ImGui::InputTextWithHint(label, hint, text.data(), text.capacity() + 1,
                                    flags | ImGuiInputTextFlags_CallbackResize, grow, &text);
}

void copy_text(LabState& lab, const std::string& text, const std::string& what) {
    ImGui::SetClipboardText(text.c_str());
    note(lab, LogLine::Kind::note, "Copied " + what + ".");
}

void offer_help(std::string_view title, std::string_view text, bool here) {
    auto& lab = *static_cast<LabState*>(ImGui::GetIO().UserData);
    if (lab.wants_help && !lab.help && here && !text.empty())
        lab.help = Help{std::string(title), std::string(text)};
}

void tooltip(std::string_view text) {
    offer_help("", text,
               ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) ||
                   (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible));
    draw_tooltip(text);
}

void elided_text(std::string_view text, float width) {
    const std::string shown = elided(ImGuiCanvas(ImGui::GetWindowDrawList()), text, width);
    ImGui::TextUnformatted(shown.c_str());
    if (shown != text) draw_tooltip(text);
}

void problem_mark(const LabState& lab) {
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    // Moved down like text that is aligned to frames.
    const float down = ImGui::GetCurrentWindow()->DC.CurrLineTextBaseOffset;
    const ImVec2 centre{corner.x + height / 2, corner.y + down + height / 2};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCircleFilled(centre, height / 2, ImGui::GetColorU32(problem_colour(lab)));
    const ImVec2 size = ImGui::CalcTextSize("!");
    list.AddText({centre.x - size.x / 2, centre.y - size.y / 2}, ImGui::GetColorU32(ImGuiCol_WindowBg), "!");
    ImGui::Dummy({height, height});
}

void centred_sentence(std::string_view text, float below) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float width = std::min(room.x, units(420));
    const float height = ImGui::CalcTextSize(text.data(), text.data() + text.size(), false, width).y + below;
    const float left = ImGui::GetCursorPosX() + std::max(0.0f, (room.x - width) / 2);
    ImGui::SetCursorPos({left, ImGui::GetCursorPosY() + std::max(0.0f, (room.y - height) / 2)});
    ImGui::PushTextWrapPos(left + width);
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
}

void swatch(const LabState& lab, int variant, float width) {
    Stroke stroke = stroke_of({Ink::Role::variant, variant, false}, theme_of(lab));
    stroke.colour = stroke.colour.faded(ImGui::GetStyle().Alpha);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float middle = corner.y + ImGui::GetFrameHeight() / 2;
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    canvas.path(std::array{Point{corner.x, middle}, Point{corner.x + width, middle}}, stroke);
    canvas.marker(stroke.marker, {corner.x + width / 2, middle}, units(4), stroke.colour);
    ImGui::Dummy({width, ImGui::GetFrameHeight()});
}

}  // namespace sawtooth
