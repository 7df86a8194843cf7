#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/figures/figure_view.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/selection.h"

namespace sawtooth {
namespace {

// The architecture that buttons offer if none is chosen.
constexpr const char* offered_architecture = "sm_90a";

std::string name_of_chip(const Chip& chip) { return fmt::format("{}, {}", chip.architecture, chip.name); }

// Finds a chip by its architecture, with or without the letter at the end.
const Chip* find_chip(const std::vector<Chip>& known, const std::string& architecture) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const Chip& chip) {
        return chip.architecture == architecture || chip.architecture == architecture + "a";
    });
    return found == known.end() ? nullptr : &*found;
}

void draw_chip_chooser(LabState& lab, const std::vector<Chip>& known, float width) {
    const std::string reason = reason_not_compiled(lab);
    const Chip* chosen = find_chip(known, lab.request.arch);
    ImGui::BeginDisabled(!reason.empty());
    ImGui::SetNextItemWidth(width);
    const bool on_cpu = (lab.result ? lab.result->backend : backend_in_force(lab)) == Backend::cpu;
    const char* const none = on_cpu ? "none" : "GPU of the run";
    if (ImGui::BeginCombo("##chip", chosen ? name_of_chip(*chosen).c_str() : none,
                          ImGuiComboFlags_HeightLarge)) {
        if (ImGui::Selectable(none, !chosen) && chosen) choose_chip(lab, "");
        tooltip(on_cpu ? "Only the utilisation of the workers." : "The GPU that runs.");
        for (const Chip& chip : known)
            if (ImGui::Selectable(name_of_chip(chip).c_str(), &chip == chosen) && &chip != chosen)
                choose_chip(lab, chip.architecture);
        ImGui::EndCombo();
    }
    ImGui::EndDisabled();
    tooltip(reason.empty() ? "Also compile the kernels for this chip and show what limits them there. The "
                             "chip does not have to be in this machine."
                           : reason);
}

bool has_marks(const LabState& lab) {
    const auto shown = shown_figures(lab, Place::occupancy);
    return std::any_of(shown.begin(), shown.end(),
                       [](const ShownFigure& each) { return !each.figure->marks.empty(); });
}

constexpr const char* measure_achieved = "Measure achieved";

// Returns whether this is a GPU run whose counters were not read.
bool offers_counters(const LabState& lab) {
    return lab.result && lab.result->backend != Backend::cpu && lab.result->request.recording.empty() &&
           !lab.told.has_achieved;
}

void draw_counters_button(LabState& lab) {
    ImGui::SameLine();
    const bool asked = lab.request.profile == Profile::counters;
    ImGui::BeginDisabled(asked);
    if (ImGui::Button(measure_achieved)) set_profile(lab, Profile::counters);
    ImGui::EndDisabled();
    std::string why = "Counters could not be read:";
    for (const std::string& words : lab.result->notes) why += "\n" + words;
    tooltip(asked ? why : "Run again with profile = counters to measure how many warps were resident.");
}

// One sentence: "Launch 2: fold kept 1 of 2 workers busy. "
std::string sentence_of_selected(const LabState& lab) {
    const std::string workers = workers_of_selected(lab);
    return workers.empty() ? "" : fmt::format("{} kept {} busy. ", title_of_selected(lab), workers);
}

// The reason why there is no figure yet.
std::string sentence(const LabState& lab, const Chip* chosen) {
    const std::string shows = "theoretical and achieved occupancy, and what limits it";
    if (const std::string reason = reason_not_compiled(lab); !reason.empty())
        return fmt::format("{}No {}. {}", sentence_of_selected(lab), shows, reason);
    if (lab.pending.ticket || lab.problem || !lab.result) return empty_sentence(lab, shows);
    std::string notes;
    for (const std::string& words : lab.result->notes) notes += " " + words + ".";
    if (chosen) return fmt::format("Nothing could be compiled for {}.{}", name_of_chip(*chosen), notes);
    if (const std::string& recording = lab.result->request.recording; !recording.empty())
        return recording_words(recording) + " has no occupancy for these settings.";
    if (lab.result->backend == Backend::cuda)
        return "No launch was recorded. Set profile to timeline and run (press F5).";
    return sentence_of_selected(lab) +
           "CPU kernels have no occupancy. Compile for a chip, which does not have to be in this machine, or "
           "run on a GPU.";
}

// Draws the button beside the chips, if the CPU ran and no chip is chosen.
void draw_compile_button(LabState& lab, const Chip& offered) {
    ImGui::SameLine();
    const std::string reason = reason_not_compiled(lab);
    ImGui::BeginDisabled(!reason.empty());
    if (ImGui::Button(fmt::format("Compile for {}", offered.architecture).c_str()))
        choose_chip(lab, offered.architecture);
    ImGui::EndDisabled();
    tooltip(reason.empty() ? "Shows the theoretical occupancy of the CUDA kernels on " +
                                 name_of_chip(offered) + ", which does not have to be in this machine."
                           : reason);
}

void draw_offers(LabState& lab, const std::vector<Chip>& known) {
    const Chip* offered = find_chip(known, offered_architecture);
    const auto options = backend_options(lab);
    const auto gpu = std::find_if(options.begin(), options.end(), [](const BackendOption& option) {
        return option.backend == BackendChoice::cuda;
    });
    const std::string compile = "Compile for " + (offered ? offered->architecture : std::string());
    const std::string run = gpu == options.end() ? "" : "Run on " + gpu->name;
    const auto width = [](const std::string& words) {
        return ImGui::CalcTextSize(words.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
    };
    const float whole = width(compile) + units(8) + width(run);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                         std::max(0.0f, (ImGui::GetContentRegionAvail().x - whole) / 2));
    const auto button = [&](const std::string& words, const std::string& reason, const std::string& meaning) {
        ImGui::BeginDisabled(!reason.empty());
        const bool pressed = ImGui::Button(words.c_str());
        ImGui::EndDisabled();
        tooltip(reason.empty() ? meaning : reason);
        return pressed;
    };
    if (offered && button(compile, reason_not_compiled(lab), name_of_chip(*offered)))
        choose_chip(lab, offered->architecture);
    ImGui::SameLine(0, units(8));
    if (gpu != options.end() && button(run, gpu->reason, gpu->meaning))
        choose_backend(lab, gpu->backend, gpu->device);
}

}  // namespace

void draw_occupancy(LabState& lab) {
    static const std::vector<Chip> known = chips();
    const Chip* const chosen = find_chip(known, lab.request.arch);
    const Chip* const offered = find_chip(known, offered_architecture);
    const bool has_figure = has_marks(lab);
    const bool offers_chip =
        has_figure && !chosen && offered && lab.result && lab.result->backend == Backend::cpu;
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("Chip");
    ImGui::SameLine();
    const char* const button = offers_chip            ? "Compile for sm_90a"
                               : offers_counters(lab) ? measure_achieved
                                                      : "";
    const float beside = *button ? ImGui::CalcTextSize(button).x + units(24) : 0;
    draw_chip_chooser(lab, known, std::min(units(280), ImGui::GetContentRegionAvail().x - beside));
    if (offers_chip) draw_compile_button(lab, *offered);
    if (offers_counters(lab)) draw_counters_button(lab);
    if (has_figure) {
        draw_figure_grid(lab, "Occupancy", shown_figures(lab, Place::occupancy),
                         "theoretical and achieved occupancy");
        return;
    }
    const bool offers =
        !chosen && lab.result && !lab.pending.ticket && lab.request.backend != BackendChoice::cuda;
    centred_sentence(sentence(lab, chosen), offers ? ImGui::GetFrameHeightWithSpacing() : 0);
    if (offers) draw_offers(lab, known);
}

}  // namespace sawtooth
