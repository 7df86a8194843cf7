#include "app/gui/shell/widgets.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/shell/appearance.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/terms.h"
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

LabState& lab_of_frame() { return *static_cast<LabState*>(ImGui::GetIO().UserData); }

// An item with the keyboard focus gets no tooltip, as it may be far from where the user looks.
bool wants_tooltip() {
    return ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled |
                                ImGuiHoveredFlags_NoNavOverride);
}

void draw_tooltip(std::string_view text, const std::vector<LegendEntry>& legend = {}) {
    LabState::Tooltips& tooltips = lab_of_frame().tooltips;
    if ((text.empty() && legend.empty()) || tooltips.shown || tooltips.dragged_to || ImGui::IsAnyMouseDown())
        return;
    if (!ImGui::BeginTooltip()) return;
    tooltips.shown = true;
    ImGui::PushTextWrapPos(units(360));
    if (!text.empty()) ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    for (const LegendEntry& entry : legend) {
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        draw_sample(canvas, theme_of(lab_of_frame()), entry,
                    {corner.x, corner.y + ImGui::GetTextLineHeight() / 2}, units(24));
        ImGui::SetCursorScreenPos({corner.x + units(28), corner.y});
        ImGui::TextUnformatted(entry.label.c_str());
    }
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

bool mouse_rests() {
    return ImGui::GetCurrentContext()->MouseStationaryTimer >= ImGui::GetStyle().HoverStationaryDelay;
}

void underline(ImVec2 begin, float width) {
    const float dot = units(1);
    for (float x = 0; x + dot <= width; x += 3 * dot)
        ImGui::GetWindowDrawList()->AddRectFilled({begin.x + x, begin.y}, {begin.x + x + dot, begin.y + dot},
                                                  ImGui::GetColorU32(ImGuiCol_TextDisabled));
}

// A piece of text that must not be broken: a word or a term.
struct Piece {
    std::string_view text;
    const Term* term = nullptr;
    bool after_space = false, after_break = false;
};

std::vector<Piece> pieces_of(std::string_view text) {
    std::vector<Piece> pieces;
    const auto found = find_terms(text);
    auto next = found.begin();
    bool after_space = false, after_break = false;
    for (size_t at = 0; at < text.size();) {
        if (text[at] == ' ' || text[at] == '\n') {
            (text[at] == ' ' ? after_space : after_break) = true;
            ++at;
            continue;
        }
        const bool is_term = next != found.end() && next->begin == at;
        size_t end = is_term ? next->end : text.find_first_of(" \n", at);
        if (!is_term && next != found.end()) end = std::min(end, next->begin);
        end = std::min(end, text.size());
        pieces.push_back(
            {text.substr(at, end - at), is_term ? next->term : nullptr, after_space, after_break});
        if (is_term) ++next;
        after_space = after_break = false;
        at = end;
    }
    return pieces;
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

void offer_help(std::string_view title, std::string_view text, bool here, bool lists_shortcuts) {
    LabState& lab = lab_of_frame();
    if (lab.wants_help && !lab.help && here && !text.empty())
        lab.help = Help{std::string(title), std::string(text), lists_shortcuts};
}

void tooltip(std::string_view text) {
    offer_help("", text,
               ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) ||
                   (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible));
    if (wants_tooltip()) draw_tooltip(text);
}

void tooltip_in(ImVec2 corner, ImVec2 end, std::string_view text, const std::vector<LegendEntry>& legend) {
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(corner, end) && mouse_rests())
        draw_tooltip(text, legend);
}

void begin_tooltips(LabState& lab) {
    LabState::Tooltips& tooltips = lab.tooltips;
    tooltips.shown = false;
    tooltips.elided.clear();
    const ImVec2 mouse = ImGui::GetMousePos();
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
        ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] > units(4) * units(4))
        tooltips.dragged_to = {mouse.x, mouse.y};
    if (const auto& at = tooltips.dragged_to;
        at && std::hypot(mouse.x - (*at)[0], mouse.y - (*at)[1]) > units(24))
        tooltips.dragged_to.reset();
}

void end_tooltips(LabState& lab) { draw_tooltip(lab.tooltips.elided); }

float button_width(const char* label) {
    return ImGui::CalcTextSize(label, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
}

std::string elided_to(std::string_view text, float width) {
    return elided(ImGuiCanvas(ImGui::GetWindowDrawList()), text, width);
}

void elided_text(std::string_view text, float width) {
    const std::string shown = elided_to(text, width);
    ImGui::TextUnformatted(shown.c_str());
    if (shown != text && wants_tooltip()) lab_of_frame().tooltips.elided = text;
}

void text_with_terms(std::string_view text) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
    const float space = ImGui::CalcTextSize(" ").x;
    const std::vector<Piece> pieces = pieces_of(text);
    ImVec2 at{0, 0};
    for (size_t i = 0; i < pieces.size(); ++i) {
        const Piece& piece = pieces[i];
        // Text that follows without a space stays on the same line: "launches."
        float whole = 0;
        for (size_t next = i; next < pieces.size(); ++next) {
            if (next > i && (pieces[next].after_space || pieces[next].after_break)) break;
            whole += ImGui::CalcTextSize(pieces[next].text.data(),
                                         pieces[next].text.data() + pieces[next].text.size())
                         .x;
        }
        const float width = ImGui::CalcTextSize(piece.text.data(), piece.text.data() + piece.text.size()).x;
        if (piece.after_space && at.x > 0) at.x += space;
        const bool starts_word = piece.after_space || piece.after_break;
        if (piece.after_break || (starts_word && at.x > 0 && at.x + whole > room)) at = {0, at.y + line};
        const ImVec2 begin{corner.x + at.x, corner.y + at.y}, end{begin.x + width, begin.y + line};
        ImGui::GetWindowDrawList()->AddText(begin, ImGui::GetColorU32(ImGuiCol_Text), piece.text.data(),
                                            piece.text.data() + piece.text.size());
        if (piece.term) {
            underline({begin.x, end.y - units(1)}, width);
            tooltip_in(begin, end, std::string(piece.term->word) + ": " + std::string(piece.term->meaning));
        }
        at.x += width;
    }
    ImGui::Dummy({room, pieces.empty() ? 0 : at.y + line});
}

void problem_mark(const LabState& lab) {
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    // Moved down, like text that is aligned to frames.
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
