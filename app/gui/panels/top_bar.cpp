#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/actions.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/dock_layout.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/checking.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/sweeps.h"

namespace sawtooth {
namespace {

// Widths in units; a narrower bar leaves out words, then key names.
constexpr float fair = 800, roomy = 1000, very_roomy = 1240;

void draw_family_chooser(LabState& lab, float width) {
    ImGui::SetNextItemWidth(width);
    if (ImGui::BeginCombo("##family", lab.family->title.c_str())) {
        for (const Family* family : lab.families) {
            if (ImGui::Selectable(family->title.c_str(), family == lab.family)) choose_family(lab, *family);
            tooltip(family->summary);
        }
        ImGui::EndCombo();
    }
    tooltip(fmt::format("Family: the kernels to run.\n\n{}", lab.family->summary));
}

void draw_backend_chooser(LabState& lab, float width) {
    const BackendOption present = present_backend(lab);
    ImGui::SetNextItemWidth(width);
    const float room = width - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().FramePadding.x;
    if (ImGui::BeginCombo("##backend", elided_to(present.name, room).c_str(), ImGuiComboFlags_HeightLarge)) {
        for (const BackendOption& option : backend_options(lab)) {
            const bool chosen = option.is_same(present);
            const auto flags = option.reason.empty() ? 0 : ImGuiSelectableFlags_Disabled;
            if (ImGui::Selectable(option.name.c_str(), chosen, flags))
                choose_backend(lab, option.backend, option.device, option.recording);
            tooltip(option.reason.empty() ? option.meaning : option.reason);
            if (chosen) ImGui::SetItemDefaultFocus();
        }
        ImGui::EndCombo();
    }
    std::string text =
        fmt::format("Backend: where the variants run.\n\n{}: {}", present.name, present.meaning);
    if (!present.reason.empty()) text += fmt::format("\n\nCannot run now: {}", present.reason);
    if (!lab.request.on.empty()) text += fmt::format("\n\nWorker command: {}", lab.request.on);
    tooltip(text);
}

void draw_run_buttons(LabState& lab, bool keys) {
    ImGui::Checkbox("Live", &lab.live);
    tooltip("Run automatically on every change. When off, press F5.");
    ImGui::SameLine();
    if (ImGui::Button(keys ? "Run  F5###run" : "Run###run")) submit(lab);
    tooltip("Runs the current parameters (F5).");
    ImGui::SameLine();
    if (ImGui::Button("Check")) start_check(lab);
    tooltip(
        "Tries settings that make wrong kernels fail, and judges every output of the selected variants "
        "against "
        "their definitions. Takes seconds to minutes; the panel Check shows what it finds.");
    ImGui::SameLine();
    const std::string reason = reason_against(lab, action("Stop"));
    ImGui::BeginDisabled(!reason.empty());
    if (ImGui::Button(keys ? "Stop  Shift+F5###stop" : "Stop###stop")) stop(lab);
    ImGui::EndDisabled();
    tooltip(reason.empty() ? "Stops the run, the background sweeps and the check (Shift+F5)." : reason);
}

struct SweepProgress {
    size_t done = 0, total = 0;
    std::string words;
};

SweepProgress sweep_progress(const LabState& lab) {
    SweepProgress progress;
    for (const BackgroundSweep& sweep : lab.sweeps) {
        if (!sweep.ticket) continue;
        if (progress.words.empty()) progress.words = sweep.title;
        progress.done += sweep.done;
        progress.total += sweep.sweep.cells();
    }
    progress.words += fmt::format(": {} of {}", progress.done, progress.total);
    return progress;
}

void draw_bar(float fraction, const std::string& words, float width) {
    // The words stand beside the bar, not over its colour, and have priority if there is little room.
    const float wanted = ImGui::CalcTextSize(words.c_str()).x + units(8);
    const float bar = std::clamp(width - wanted, std::min(units(40), width), units(120));
    const float top = ImGui::GetCursorPosY();
    ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - units(8)) / 2);
    ImGui::ProgressBar(std::clamp(fraction, 0.0f, 1.0f), {bar, units(8)}, "");
    tooltip(words);
    if (width < bar + units(48)) return;
    ImGui::SameLine();
    ImGui::SetCursorPosY(top);
    ImGui::AlignTextToFramePadding();
    elided_text(words, width - bar - units(8));
}

// Draws the progress of the run, or the countdown of its worker.
void draw_run_progress(LabState& lab, float width) {
    const Progress& progress = lab.pending.progress;
    const auto seconds = countdown(lab);
    const auto fraction = static_cast<float>(progress.fraction);
    if (!seconds) return draw_bar(fraction, progress.words.empty() ? "waiting" : progress.words, width);
    std::string words = countdown_words(*seconds);
    // A narrow bar gets a short text; the status bar has all of it.
    if (*seconds > 0 && ImGui::CalcTextSize(words.c_str()).x + units(56) > width)
        words = fmt::format("{} s left", *seconds);
    ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
    draw_bar(fraction, words, width);
    ImGui::PopStyleColor();
}

// Offers the settings whose times were recorded.
void draw_nearest_recorded(LabState& lab, float width) {
    const char* const set = "Set###set nearest";
    const float button = ImGui::CalcTextSize(set, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
    const std::string nearest = words_of(lab.nearest_recorded);
    ImGui::AlignTextToFramePadding();
    elided_text("not recorded; nearest: " + nearest, width - button - units(8));
    tooltip(fmt::format("{} has no times for these settings. The nearest ones that it has: {}.",
                        recording_words(lab.request.recording), nearest));
    ImGui::SameLine(0, units(8));
    if (ImGui::Button(set)) choose_nearest_recorded(lab);
    tooltip(fmt::format("Sets {}.", nearest));
}

void draw_device(LabState& lab, float width) {
    if (!lab.nearest_recorded.values.empty()) return draw_nearest_recorded(lab, width);
    const DeviceWords words = device_words(lab);
    ImGui::AlignTextToFramePadding();
    if (words.surprising) {
        problem_mark(lab);
        ImGui::SameLine(0, units(4));
        elided_text(words.text, width - ImGui::GetTextLineHeight() - units(4));
        std::string notes;
        for (const std::string& text : lab.result->notes) notes += "\n" + text;
        tooltip(words.text + notes);
        return;
    }
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    elided_text(words.text, width);
    ImGui::PopStyleColor();
}

void draw_progress(LabState& lab, float width) {
    const bool run = lab.pending.ticket && lab.now - lab.pending.since > patience;
    if (run) return draw_run_progress(lab, width);
    if (!sweeps_run(lab)) return draw_device(lab, width);
    const float button = ImGui::GetFrameHeight();
    const SweepProgress progress = sweep_progress(lab);
    const float share =
        static_cast<float>(progress.done) / static_cast<float>(std::max<size_t>(progress.total, 1));
    if (ImGui::Button("×###cancel sweeps", {button, 0})) cancel_sweeps(lab);
    tooltip("Cancels the background sweeps.");
    ImGui::SameLine();
    draw_bar(share, progress.words, width - button - units(8));
}

void draw_menu(LabState& lab) {
    if (ImGui::Button("Menu")) ImGui::OpenPopup("menu");
    ImGui::SetNextWindowPos({ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + units(4)},
                            ImGuiCond_Always, {1, 0});
    if (!ImGui::BeginPopup("menu")) return;
    draw_entry(lab, action("All actions"));
    ImGui::SeparatorText("File");
    for (const char* name : {"Open a session or inputs", "Save session", "Save session as…"})
        draw_entry(lab, action(name));
    if (ImGui::BeginMenu("Recent files", !lab.settings.recent.empty())) {
        for (const Action& each : recent_choices(lab)) draw_entry(lab, each);
        ImGui::EndMenu();
    }
    ImGui::SeparatorText("View");
    for (const char* name : {"Explore layout", "Compare layout", "History of results"})
        draw_entry(lab, action(name));
    ImGui::SeparatorText("Settings");
    draw_entry(lab, action("Undo"));
    draw_entry(lab, action("Redo"));
    ImGui::SeparatorText("Theme");
    for (const Action& each : theme_choices()) draw_entry(lab, each);
    ImGui::SeparatorText(
        fmt::format("Scale ({}, {})", keys_of(action("Larger")), keys_of(action("Smaller"))).c_str());
    draw_entry(lab, action("Scale of the monitor"));
    if (ImGui::BeginMenu("Other scales")) {
        for (const Action& each : scale_choices(lab)) draw_entry(lab, each);
        ImGui::EndMenu();
    }
    ImGui::SeparatorText("Window");
    draw_entry(lab, action("Full screen"));
    draw_entry(lab, action("Reset layout"));
    draw_entry(lab, action("Shortcuts"));
    ImGui::EndPopup();
}

// Draws the button in the colour of a switch that is on, if About is a tab behind others.
void draw_about_button() {
    const ImVec4 ground = ImGui::GetStyleColorVec4(ImGuiCol_CheckMark);
    const ImVec4 text = ImGui::GetStyleColorVec4(ImGuiCol_WindowBg);
    ImGui::PushStyleColor(ImGuiCol_Button, ground);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, ground);
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, ground);
    ImGui::PushStyleColor(ImGuiCol_Text, text);
    if (ImGui::Button("?###about", {ImGui::GetFrameHeight(), 0})) ImGui::SetWindowFocus("About");
    ImGui::PopStyleColor(4);
    tooltip("About this family: what it computes, the idea of each variant, and experiments to try.");
}

}  // namespace

void draw_top_bar(LabState& lab) {
    const float whole = ImGui::GetContentRegionAvail().x;
    const bool words = whole > units(roomy);
    if (words) {
        ImGui::AlignTextToFramePadding();
        ImGui::PushFont(bold_font(), 0);
        ImGui::TextUnformatted("Sawtooth");
        ImGui::PopFont();
        ImGui::SameLine(0, units(16));
    }
    draw_family_chooser(lab, units(words ? 200 : whole > units(fair) ? 192 : 128));
    ImGui::SameLine();
    draw_backend_chooser(lab, units(words ? 176 : 128));
    ImGui::SameLine();
    draw_run_buttons(lab, whole > units(very_roomy));
    ImGui::SameLine(0, units(16));
    const bool offers_about = !has_own_dock("About");
    const float right = button_width("Open…") + button_width("Menu") + units(16) +
                        (offers_about ? ImGui::GetFrameHeight() + units(8) : 0) +
                        (words ? button_width("Reset layout") + units(8) : 0);
    const float width = std::max(ImGui::GetContentRegionAvail().x - right, 1.0f);
    const float left = ImGui::GetCursorPosX(), top = ImGui::GetCursorPosY();
    draw_progress(lab, width);
    ImGui::SameLine();
    ImGui::SetCursorPos({left + width + units(8), top});
    if (ImGui::Button("Open…")) lab.show_open = true;
    tooltip(
        "Opens a saved session, or an .npz file as inputs (Ctrl+O). You can also drop the file on the "
        "window.");
    ImGui::SameLine();
    if (words) {
        if (ImGui::Button("Reset layout")) perform(lab, action("Reset layout"));
        tooltip(action("Reset layout").meaning);
        ImGui::SameLine();
    }
    draw_menu(lab);
    if (!offers_about) return;
    ImGui::SameLine();
    draw_about_button();
}

namespace {

// Says whether the plots are up to date, for the right end of the status bar.
std::string words_about_drawn(const LabState& lab) {
    if (lab.looking_back) return "";
    if (const auto seconds = countdown(lab)) {
        const std::string& words = lab.pending.progress.words;
        return fmt::format("{}{}", words.empty() ? "" : words + ": ", countdown_words(*seconds));
    }
    const std::string why = lab.problem ? "" : why_outdated(lab);
    if (!why.empty()) return "Plots out of date: " + why;
    const DeviceWords device = device_words(lab);
    return device.surprising ? device.text : "";
}

}  // namespace

// Draws the current problem, otherwise the last event. A failure has a row of its own.
void draw_status_bar(LabState& lab) {
    const std::string about = words_about_drawn(lab), earlier = words_of_earlier(lab);
    const float whole = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
    const float top = ImGui::GetCursorPosY();
    const float history = history_width(lab, whole * 0.4f);
    const float marks = history > 0 ? history + units(16) : 0;
    const float right = about.empty() ? 0 : ImGui::CalcTextSize(about.c_str()).x + units(16);
    const float room = whole - right - marks;
    if (history > 0) {
        ImGui::SetCursorPosX(left + whole - history);
        draw_history(lab, history);
        ImGui::SetCursorPos({left, top});
    }
    if (!earlier.empty()) return elided_text(earlier, room);
    const LogLine last =
        lab.log.empty() ? LogLine{"", LogLine::Kind::note,
                                  lab.pending.ticket ? "the first run is under way" : "nothing was run yet"}
                        : lab.log.back();
    if (!lab.failure && (lab.problem || last.kind == LogLine::Kind::problem)) {
        problem_mark(lab);
        ImGui::SameLine(0, units(4));
        ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
        elided_text(lab.problem ? problem_words(*lab.problem) : last.text, room - units(24));
    } else {
        ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
        elided_text(last.time + "  " + (lab.failure ? "failed; press F5 to run again" : last.text), room);
    }
    ImGui::PopStyleColor();
    if (about.empty()) return;
    ImGui::SameLine(left + room + units(16), 0);
    ImGui::TextUnformatted(about.c_str());
}

}  // namespace sawtooth
