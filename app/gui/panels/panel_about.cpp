#include <imgui.h>

#include <utility>

#include "app/engine/identity.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

void heading(const char* words) {
    ImGui::Spacing();
    ImGui::PushFont(bold_font(), 0);
    ImGui::TextUnformatted(words);
    ImGui::PopFont();
}

void quiet(const std::string& words) {
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    text_with_terms(words);
    ImGui::PopStyleColor();
}

// Draws the claim of an example, and whether it holds once a run has shown that.
void draw_claim(const LabState& lab, const Try& example) {
    const bool is_known =
        lab.result && lab.result->complete && why_outdated(lab).empty() && !lab.pending.ticket;
    if (lab.looking_back) return quiet(example.look);
    if (!is_known) return quiet(lab.problem ? problem_words(*lab.problem) : "Running.");
    quiet(example.look);
    // A recording has times of the settings that were recorded alone.
    if (!lab.nearest_recorded.values.empty()) {
        ImGui::TextWrapped(
            "These settings have no recorded times: choose another backend to see all of this.");
        return;
    }
    if (!example.holds || example.holds(*lab.result)) return;
    ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
    ImGui::TextWrapped("This run does not show it.");
    ImGui::PopStyleColor();
}

void draw_tries(LabState& lab) {
    heading("Try");
    for (const Try& example : lab.family->about.tries) {
        if (ImGui::TextLink(example.words.c_str())) try_out(lab, example);
        std::string values;
        for (const auto& [name, value] : example.values)
            values += (values.empty() ? "Sets " : ", ") + name + " = " + to_text(value);
        tooltip(values + "; everything else returns to its default.\n\n" + example.look);
        if (lab.tried == example.words) draw_claim(lab, example);
    }
}

void draw_variants(LabState& lab) {
    heading("Variants");
    for (size_t i = 0; i < lab.family->variants.size(); ++i) {
        const Variant& variant = lab.family->variants[i];
        swatch(lab, static_cast<int>(i), units(24));
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::TextUnformatted(variant.name.c_str());
        quiet(variant.idea);
    }
}

}  // namespace

void draw_about(LabState& lab) {
    const About& about = lab.family->about;
    if (std::exchange(lab.shows_top_of_about, false)) ImGui::SetScrollY(0);
    heading(lab.family->title.c_str());
    text_with_terms(about.text.empty() ? lab.family->summary : about.text);
    if (!about.tries.empty()) draw_tries(lab);
    if (!about.formula.empty()) {
        heading("Formula");
        ImGui::PushFont(number_font(), 0);
        ImGui::TextWrapped("%s", about.formula.c_str());
        ImGui::PopFont();
    }
    draw_variants(lab);
    heading("Source");
    quiet(lab.family->source);
    ImGui::Spacing();
    quiet(std::string("Sawtooth ") + build_identity());
}

}  // namespace sawtooth
