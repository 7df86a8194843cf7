#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/past_results.h"

namespace sawtooth {
namespace {

float pitch() { return units(9); }
float mark_width() { return units(5); }

// The range of the main times of a family, as logarithms: taller marks are slower.
struct Times {
    double low = 0, high = 0;
};

Times times_of(const LabState& lab, const Family* family) {
    std::optional<Times> times;
    for (const PastResult& past : lab.past_results) {
        if (past.settings.family != family || !past.median_us || *past.median_us <= 0) continue;
        const double log = std::log2(*past.median_us);
        if (!times) times = Times{log, log};
        times->low = std::min(times->low, log);
        times->high = std::max(times->high, log);
    }
    return times.value_or(Times{});
}

// The share of the height: half of it without a time, and if all times are alike. A difference by less than
// half is drawn smaller, so that noise looks like noise.
float height_of(const LabState& lab, const PastResult& past) {
    if (!past.median_us || *past.median_us <= 0) return 0.5f;
    const Times times = times_of(lab, past.settings.family);
    const double middle = (times.low + times.high) / 2, range = std::max(times.high - times.low, 1.0);
    return static_cast<float>(0.6 + 0.8 * (std::log2(*past.median_us) - middle) / range);
}

std::string tooltip_of(const LabState& lab, const PastResult& past, bool is_shown) {
    std::string text = past.settings.family->title + ": " + what_changed(lab, past);
    if (const std::string numbers = words_of_numbers(past); !numbers.empty()) text += "\n" + numbers;
    if (!past.wrong.empty()) text += fmt::format("\nWrong: {}", fmt::join(past.wrong, ", "));
    text += fmt::format("\n{}, {}", clock_of(past), past.device);
    if (is_shown) return text + "\n\nThis result is shown.";
    return text + "\n\nA click shows it again. Nothing runs.";
}

// Draws a bar on the ground line. A wrong result is a frame in the colour of problems.
void draw_mark(const LabState& lab, const PastResult& past, ImVec2 corner, ImVec2 size, bool is_shown,
               bool is_hovered) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool is_of_family = past.settings.family == lab.family;
    ImVec4 colour = !past.wrong.empty()      ? problem_colour(lab)
                    : is_shown || is_hovered ? ImGui::GetStyleColorVec4(ImGuiCol_Text)
                                             : ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled);
    if (!is_of_family && !is_hovered) colour.w *= 0.45f;
    const float left = std::floor(corner.x + (size.x - mark_width()) / 2), room = size.y - units(8);
    const float bottom = std::floor(corner.y + size.y - units(5));
    const ImVec2 begin{left, std::floor(bottom - std::max(room * height_of(lab, past), units(3)))};
    const ImVec2 end{left + mark_width(), bottom};
    if (past.wrong.empty())
        list.AddRectFilled(begin, end, ImGui::GetColorU32(colour));
    else
        list.AddRect(begin, end, ImGui::GetColorU32(colour), 0, 0, units(1.5f));
    if (!is_shown) return;
    list.AddRectFilled({left - units(1), bottom + units(1)}, {end.x + units(1), bottom + units(3)},
                       ImGui::GetColorU32(ImGuiCol_CheckMark));
}

size_t marks_within(const LabState& lab, float width) {
    return std::min(lab.past_results.size(), static_cast<size_t>(std::max(width, 0.0f) / pitch()));
}

}  // namespace

float history_width(const LabState& lab, float room) {
    if (!lab.settings.shows_history || lab.past_results.size() < 2) return 0;
    return static_cast<float>(marks_within(lab, room)) * pitch();
}

void draw_history(LabState& lab, float width) {
    const size_t count = marks_within(lab, width + 0.5f), first = lab.past_results.size() - count;
    const PastResult* const shown = shown_past(lab);
    const ImVec2 size{pitch(), ImGui::GetWindowHeight()};
    const float left = ImGui::GetCursorPosX();
    uint64_t chosen = 0;
    ImGui::PushID("history");
    for (size_t i = 0; i < count; ++i) {
        const PastResult& past = lab.past_results[first + i];
        ImGui::SetCursorPos({left + static_cast<float>(i) * pitch(), 0});
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        ImGui::PushID(static_cast<int>(past.ticket));
        if (ImGui::InvisibleButton("mark", size, ImGuiButtonFlags_EnableNav)) chosen = past.ticket;
        ImGui::PopID();
        draw_mark(lab, past, corner, size, &past == shown, ImGui::IsItemHovered());
        tooltip(tooltip_of(lab, past, &past == shown));
    }
    ImGui::PopID();
    if (chosen) look_back(lab, chosen);
}

std::string words_of_earlier(const LabState& lab) {
    const PastResult* const past = lab.looking_back ? shown_past(lab) : nullptr;
    if (!past) return "";
    const bool has_newer = lab.looking_back->result || past != &lab.past_results.back();
    return fmt::format("Earlier result, {}: {}. Enter runs these settings again{}.", clock_of(*past),
                       what_changed(lab, *past), has_newer ? ", Esc returns to the newest" : "");
}

}  // namespace sawtooth
