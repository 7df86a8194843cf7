#include <imgui.h>

#include "app/gui/appearance.h"
#include "app/gui/lab.h"
#include "app/gui/panels.h"
#include "app/gui/widgets.h"

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
    ImGui::TextWrapped("%s", words.c_str());
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
        if (lab.tried == example.words) quiet(example.look);
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
    heading(lab.family->title.c_str());
    ImGui::TextWrapped("%s", (about.text.empty() ? lab.family->summary : about.text).c_str());
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
}

}  // namespace sawtooth
