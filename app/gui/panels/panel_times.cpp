#include <fmt/format.h>
#include <imgui.h>

#include "app/engine/tables/tables.h"
#include "app/gui/figures/figure_view.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/kept_times.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

float clocks_line_height(const LabState& lab) {
    return lab.result && lab.result->clocks ? ImGui::GetTextLineHeightWithSpacing() : 0;
}

// Draws the clocks in a muted line; draws nothing if they are unknown.
void draw_clocks_line(const LabState& lab) {
    if (!lab.result || !lab.result->clocks) return;
    const Clocks& clocks = *lab.result->clocks;
    if (clocks.throttled.empty()) {
        ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    } else {
        problem_mark(lab);
        ImGui::SameLine(0, units(4));
        ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
    }
    elided_text(short_words_of(clocks), ImGui::GetContentRegionAvail().x);
    ImGui::PopStyleColor();
    tooltip(sentence_of(clocks) + ", before and after the timed repeats.");
}

}  // namespace

void draw_times(LabState& lab) {
    draw_figure_grid(lab, "Times", shown_figures(lab, Place::times),
                     "the time of every variant beside the limit of the machine", clocks_line_height(lab));
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, why_times_outdated(lab).empty() ? 1.0f : 0.5f);
    draw_clocks_line(lab);
    ImGui::PopStyleVar();
}

}  // namespace sawtooth
