#include "app/gui/shell/palette.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cctype>

#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"

namespace sawtooth {
namespace {

constexpr const char* name = "palette";
constexpr int rows_per_page = 10;

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : lower(text))
        if (c != ' ')
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    if (words.back().empty()) words.pop_back();
    return words;
}

bool begins_a_word(const std::string& text, const std::string& word) {
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
        if (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))) return true;
    return false;
}

// Arrow keys move the selection; the field has one line and needs them for nothing else.
int take_arrows(ImGuiInputTextCallbackData* data) {
    *static_cast<int*>(data->UserData) += data->EventKey == ImGuiKey_UpArrow ? -1 : 1;
    return 0;
}

struct Typed {
    int steps = 0;
    bool entered = false, changed = false;
};

Typed draw_field(Palette& palette) {
    Typed typed;
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    const auto before = palette.text;
    typed.entered = ImGui::InputTextWithHint(
        "##typed", "What to do: theme light, sweep chunk, save png", palette.text.data(), palette.text.size(),
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackHistory, take_arrows,
        &typed.steps);
    typed.changed = palette.text != before;
    if (ImGui::IsKeyPressed(ImGuiKey_PageDown)) typed.steps += rows_per_page;
    if (ImGui::IsKeyPressed(ImGuiKey_PageUp)) typed.steps -= rows_per_page;
    return typed;
}

void draw_text(ImVec2 at, ImVec4 colour, const std::string& text, float width) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::SetCursorScreenPos(at);
    elided_text(text, width);
    ImGui::PopStyleColor();
}

// Draws group, name and details, and at the right the key or the reason against the action. Returns true if
// clicked.
bool draw_row(const LabState& lab, const Action& action, bool selected) {
    const std::string reason = reason_against(lab, action);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x, height = ImGui::GetFrameHeight();
    const float line = ImGui::GetTextLineHeight(), middle = corner.y + (height - line) / 2;
    const bool clicked =
        ImGui::Selectable("##row", selected, ImGuiSelectableFlags_NoAutoClosePopups, {0, height});
    tooltip(reason.empty() ? action.meaning : reason);
    const ImVec4 text = ImGui::GetStyleColorVec4(ImGuiCol_Text),
                 quiet = ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled);
    const float group = units(96), mark = units(24), gap = units(12);
    draw_text({corner.x + units(4), middle}, quiet, action.group, group - gap);
    if (action.is_on && action.is_on(lab))
        ImGui::RenderCheckMark(ImGui::GetWindowDrawList(), {corner.x + group, middle + units(2)},
                               ImGui::GetColorU32(ImGuiCol_CheckMark), line - units(4));
    const std::string right = reason.empty() ? keys_of(action) : reason;
    const float left = group + mark, rest = room - left - units(4);
    const std::string details = action.details ? " " + action.details(lab) : "";
    const float wanted = ImGui::CalcTextSize((action.name + details).c_str()).x;
    const float asked = right.empty() ? 0 : ImGui::CalcTextSize(right.c_str()).x + gap;
    const float own = std::min(wanted, std::max(rest - asked, rest * 0.6f));
    draw_text({corner.x + left, middle}, reason.empty() ? text : quiet, action.name + details, own);
    const float shown = std::min(asked - gap, rest - own - gap);
    if (!right.empty()) draw_text({corner.x + room - units(4) - shown, middle}, quiet, right, shown);
    ImGui::SetCursorScreenPos({corner.x, corner.y + height});
    ImGui::Dummy({0, 0});
    return clicked;
}

// Draws the rows and returns the one that was clicked; null: none.
const Action* draw_rows(const LabState& lab, const std::vector<const Action*>& rows, Palette& palette) {
    const Action* clicked = nullptr;
    const float height = ImGui::GetFrameHeight();
    const float whole = ImGui::GetMainViewport()->WorkSize.y;
    const float shown = std::min(static_cast<float>(std::max<size_t>(rows.size(), 1)),
                                 std::floor(std::min(units(480), whole * 0.6f) / height));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    // The selection must be more visible than the row under the mouse.
    ImVec4 selected = ImGui::GetStyleColorVec4(ImGuiCol_CheckMark);
    selected.w = 0.3f;
    ImGui::PushStyleColor(ImGuiCol_Header, selected);
    if (ImGui::BeginChild("rows", {0, shown * height}, ImGuiChildFlags_None, ImGuiWindowFlags_NoNav)) {
        if (palette.scrolls)
            ImGui::SetScrollFromPosY((static_cast<float>(palette.selected) + 0.5f) * height -
                                     ImGui::GetScrollY());
        if (rows.empty()) ImGui::TextDisabled("No action has these words.");
        ImGuiListClipper clipper;
        clipper.Begin(static_cast<int>(rows.size()), height);
        while (clipper.Step())
            for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
                ImGui::PushID(i);
                if (draw_row(lab, *rows[static_cast<size_t>(i)], i == palette.selected))
                    clicked = rows[static_cast<size_t>(i)];
                ImGui::PopID();
            }
    }
    ImGui::EndChild();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    palette.scrolls = false;
    return clicked;
}

}  // namespace

std::vector<const Action*> matches(const LabState& lab, const std::vector<Action>& all,
                                   std::string_view typed) {
    enum class In { name, words, text, meaning };  // where the words are, the best first
    const auto words = words_of(typed);
    std::vector<std::pair<In, const Action*>> ranked;
    for (const Action& each : all) {
        const std::string name = lower(each.name);
        const std::string text =
            lower(each.group) + " " + name + " " + lower(each.details ? each.details(lab) : "");
        const std::string whole = text + " " + lower(each.meaning);
        const auto begins = [&](const std::string& word) { return begins_a_word(text, word); };
        const auto are_in = [&](const std::string& where) {
            return std::all_of(words.begin(), words.end(),
                               [&](const std::string& word) { return where.find(word) != where.npos; });
        };
        if (!are_in(whole)) continue;
        auto found_in = are_in(text) ? In::text : In::meaning;
        if (std::all_of(words.begin(), words.end(), begins)) found_in = In::words;
        if (name.starts_with(lower(typed))) found_in = In::name;
        ranked.emplace_back(found_in, &each);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    std::vector<const Action*> found;
    for (const auto& [rank, each] : ranked) found.push_back(each);
    return found;
}

void open_palette(LabState& lab) {
    if (lab.palette)
        lab.palette.reset();
    else
        lab.palette.emplace();
}

void draw_palette(LabState& lab) {
    if (lab.palette && !ImGui::IsPopupOpen(name)) ImGui::OpenPopup(name);
    const ImGuiViewport& window = *ImGui::GetMainViewport();
    const float width = std::min(units(720), window.WorkSize.x * 0.9f);
    ImGui::SetNextWindowPos({window.GetCenter().x, window.WorkPos.y + units(56)}, ImGuiCond_Always,
                            {0.5f, 0});
    ImGui::SetNextWindowSize({width, 0});
    if (!ImGui::BeginPopup(name)) {
        lab.palette.reset();  // a click outside has closed it
        return;
    }
    const Action* chosen = nullptr;
    std::vector<Action> all = actions();
    if (lab.palette) {
        Palette& palette = *lab.palette;
        for (Action& each : choices(lab)) all.push_back(std::move(each));
        const Typed typed = draw_field(palette);
        const auto rows = matches(lab, all, palette.text.data());
        const int last = std::max(static_cast<int>(rows.size()) - 1, 0);
        const int before = palette.selected;
        palette.selected = typed.changed ? 0 : std::clamp(before + typed.steps, 0, last);
        palette.scrolls = typed.changed || palette.selected != before;
        ImGui::Spacing();
        chosen = draw_rows(lab, rows, palette);
        if (typed.entered && !rows.empty()) chosen = rows[static_cast<size_t>(palette.selected)];
        if (chosen && !reason_against(lab, *chosen).empty()) chosen = nullptr;
        if (typed.entered && !chosen) ImGui::SetKeyboardFocusHere(-1);
    }
    if (chosen || !lab.palette || ImGui::IsKeyPressed(ImGuiKey_Escape)) {
        lab.palette.reset();
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
    if (chosen) perform(lab, *chosen);
}

}  // namespace sawtooth
