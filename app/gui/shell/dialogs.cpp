#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/gui/figures/saving.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/notes.h"
#include "app/gui/state/session_file.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"
#include "kernels/core/typed_values.h"
#include "kernels/figures/comparison.h"

namespace sawtooth {
namespace {

namespace fs = std::filesystem;

void draw_problem(const LabState& lab, const std::string& problem) {
    if (problem.empty()) return;
    problem_mark(lab);
    ImGui::SameLine(0, units(4));
    ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
    ImGui::TextWrapped("%s", problem.c_str());
    ImGui::PopStyleColor();
}

bool begin_dialog(const char* name) {
    const ImVec2 whole = ImGui::GetMainViewport()->WorkSize;
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(units(560), whole.x * 0.9f), 0});
    return ImGui::BeginPopupModal(name, nullptr, ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove);
}

const char* title_of(Saving::Format format) {
    return format == Saving::Format::trace     ? "Save trace"
           : format == Saving::Format::session ? "Save session"
                                               : "Save figure";
}

using Entry = FolderListing::Entry;

bool can_be_opened(const fs::path& path) {
    return path.extension() == ".npz" || is_session_file(path.string());
}

// The folders, sessions and .npz files beside the typed path, sorted by name.
std::vector<Entry> entries_of(const fs::path& folder) {
    std::vector<Entry> entries;
    std::error_code problem;
    for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, problem), end;
         !problem && at != end; at.increment(problem)) {
        const std::string name = at->path().filename().string();
        std::error_code ignored;
        const bool directory = at->is_directory(ignored);
        if (name.starts_with('.') || (!directory && !can_be_opened(at->path()))) continue;
        entries.push_back({name, directory});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.folder != b.folder ? a.folder : a.name < b.name;
    });
    return entries;
}

fs::path folder_of(const std::string& typed) {
    const fs::path path = typed.empty() ? fs::path(".") : fs::path(typed);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return path.has_filename() ? path : path.parent_path();
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The folder is read when the dialog opens or moves to another folder, and from time to time. It is not read
// in every frame, because a folder may be large or far away.
const FolderListing& listed(LabState& lab) {
    constexpr double long_ago = 1;  // seconds
    auto& listing = lab.listing;
    const bool fresh = listing && lab.now - listing->at < long_ago;
    if (fresh && listing->typed == lab.open_path) return *listing;
    const std::string folder = folder_of(lab.open_path).string();
    if (fresh && listing->folder == folder)
        listing->typed = lab.open_path;
    else
        listing = FolderListing{lab.open_path, folder, entries_of(folder), lab.now};
    return *listing;
}

// Returns true if a file was chosen.
bool draw_file_list(LabState& lab) {
    bool chosen = false;
    const FolderListing& listing = listed(lab);
    const fs::path folder = listing.folder;
    if (ImGui::BeginChild("files", {0, units(200)}, ImGuiChildFlags_Borders)) {
        if (ImGui::Selectable("../"))
            lab.open_path = (fs::absolute(folder).lexically_normal() / "..").lexically_normal().string();
        for (const Entry& entry : listing.entries) {
            const std::string path = (folder / entry.name).string();
            const std::string shown = entry.folder ? entry.name + "/" : entry.name;
            if (!ImGui::Selectable(shown.c_str(), path == lab.open_path,
                                   ImGuiSelectableFlags_AllowDoubleClick))
                continue;
            lab.open_path = entry.folder ? path + "/" : path;
            chosen = !entry.folder && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
        }
    }
    ImGui::EndChild();
    return chosen;
}

// A sweep in words: "25 points: 16, 32, 64, 128, 256 by 16, 32, 64, 128, 256".
std::string words_of(const Sweep& sweep) {
    constexpr size_t most_named = 12;
    std::string axes;
    for (const SweepAxis& axis : sweep.axes) {
        axes += axes.empty() ? "" : " by ";
        for (size_t i = 0; i < std::min(axis.values.size(), most_named); ++i)
            axes += (i ? ", " : "") + to_text(axis.values[i]);
        if (axis.values.size() > most_named) axes += ", …, " + to_text(axis.values.back());
    }
    return fmt::format("{} point{}: {}", sweep.cells(), sweep.cells() == 1 ? "" : "s", axes);
}

// Draws one axis of a sweep: the parameters that move, and their values.
bool draw_axis(const char* label, std::string& over, std::string& values, bool starts_here) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    ImGui::SameLine(units(64));
    ImGui::SetNextItemWidth(units(152));
    input_text(fmt::format("##over {}", label).c_str(), over, 0, "none");
    tooltip("A parameter, or several that take the same values: chunk,C_G");
    ImGui::SameLine();
    if (starts_here) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    const bool entered =
        input_text(fmt::format("##values {}", label).c_str(), values, ImGuiInputTextFlags_EnterReturnsTrue);
    tooltip("16,64 or 16..256 (powers of two or even steps), 16..256x2, 64..512+64, or a mixture");
    if (entered) ImGui::SetKeyboardFocusHere(-1);  // Enter ends the typing, also where it is refused
    return entered;
}

}  // namespace

void draw_sweep_dialog(LabState& lab) {
    constexpr const char* name = "Sweep";
    if (!lab.sweep_form) return;
    if (!ImGui::IsPopupOpen(name)) ImGui::OpenPopup(name);
    if (!begin_dialog(name)) return;
    SweepForm& form = *lab.sweep_form;
    bool wanted = draw_axis("over", form.over, form.values, ImGui::IsWindowAppearing());
    const std::string before = form.second;
    wanted = draw_axis("and", form.second, form.second_values, false) || wanted;
    if (form.second != before)
        if (const Parameter* const row = find_parameter(*lab.family, form.second))
            form.second_values = range_text(*row, sweep_values(*row, present_value(lab, *row)));
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("repeats");
    ImGui::SameLine(units(64));
    ImGui::SetNextItemWidth(units(152));
    ImGui::SliderInt("##repeats", &form.repeats, 1, 99, "%d", ImGuiSliderFlags_AlwaysClamp);
    if (const std::string few = few_repeats_words(form.repeats); !few.empty() && !form.search) tooltip(few);
    ImGui::SameLine();
    ImGui::Checkbox("Search for the best", &form.search);
    tooltip("Few repeats for all points, then more in turns for those that may be the fastest.");
    const auto sweep = sweep_of(lab, form);
    if (sweep) {
        ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
        ImGui::TextWrapped("%s", words_of(*sweep).c_str());
        ImGui::PopStyleColor();
    } else {
        draw_problem(lab, sweep.error().text);
    }
    ImGui::BeginDisabled(!sweep);
    wanted = ImGui::Button("Start", {units(96), 0}) || wanted;
    ImGui::EndDisabled();
    ImGui::SameLine();
    const bool cancelled = ImGui::Button("Cancel", {units(96), 0}) || ImGui::IsKeyPressed(ImGuiKey_Escape);
    if (wanted) start_sweep(lab);
    if (cancelled) lab.sweep_form.reset();
    if (!lab.sweep_form) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

void draw_open_dialog(LabState& lab) {
    constexpr const char* name = "Open";
    if (lab.show_open && !ImGui::IsPopupOpen(name)) ImGui::OpenPopup(name);
    if (!begin_dialog(name)) return;
    ImGui::TextWrapped(
        "A .sawtooth file is a saved session: it opens without a run. An .npz file provides inputs by name; "
        "the "
        "others are generated.");
    if (ImGui::IsWindowAppearing()) {
        ImGui::SetKeyboardFocusHere();
        lab.listing.reset();
    }
    ImGui::SetNextItemWidth(-1);
    bool chosen = input_text("##path", lab.open_path, ImGuiInputTextFlags_EnterReturnsTrue);
    chosen = draw_file_list(lab) || chosen;
    draw_problem(lab, lab.open_problem);
    const bool is_reading = lab.opening || lab.session.opening;
    ImGui::BeginDisabled(is_reading || lab.open_path.empty());
    chosen = ImGui::Button(is_reading ? "Reading…###open" : "Open###open", {units(96), 0}) || chosen;
    ImGui::EndDisabled();
    ImGui::SameLine();
    const bool cancelled = ImGui::Button("Cancel", {units(96), 0}) || ImGui::IsKeyPressed(ImGuiKey_Escape);
    if (chosen && !lab.open_path.empty()) open_any_file(lab, lab.open_path);
    if (cancelled) lab.show_open = false;
    if (!lab.show_open) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

void draw_save_dialog(LabState& lab) {
    if (!lab.saving) return;
    const char* const name = title_of(lab.saving->format);
    if (!ImGui::IsPopupOpen(name)) ImGui::OpenPopup(name);
    if (!begin_dialog(name)) return;
    Saving& saving = *lab.saving;
    const bool is_busy = saving.step != Saving::Step::asking;
    ImGui::TextWrapped("%s", saving.figure.title.c_str());
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::BeginDisabled(is_busy);
    ImGui::SetNextItemWidth(-1);
    bool wanted = input_text("##path", saving.path, ImGuiInputTextFlags_EnterReturnsTrue);
    std::error_code ignored;
    const std::string place =
        fs::absolute(saving.path.empty() ? "." : saving.path, ignored).lexically_normal().string();
    const bool exists = !is_busy && fs::is_regular_file(place, ignored);
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    ImGui::TextWrapped("%s%s", place.c_str(), exists ? " exists and will be overwritten" : "");
    ImGui::PopStyleColor();
    draw_problem(lab, saving.problem);
    wanted = ImGui::Button(is_busy ? "Saving…###save" : "Save###save", {units(96), 0}) || wanted;
    ImGui::EndDisabled();
    ImGui::SameLine();
    const bool cancelled = ImGui::Button("Cancel", {units(96), 0}) || ImGui::IsKeyPressed(ImGuiKey_Escape);
    if (wanted) save(lab);
    if (cancelled || saving.step == Saving::Step::saved) {
        lab.saving.reset();
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

void draw_note_dialog(LabState& lab) {
    constexpr const char* name = "Note";
    if (!lab.note_form && !ImGui::IsPopupOpen(name)) return;
    if (!ImGui::IsPopupOpen(name)) ImGui::OpenPopup(name);
    if (!begin_dialog(name)) return;
    if (!lab.note_form) {  // another session was opened
        ImGui::CloseCurrentPopup();
        ImGui::EndPopup();
        return;
    }
    NoteForm& form = *lab.note_form;
    ImGui::TextWrapped("On %s", form.where.c_str());
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    bool wanted = input_text("##text", form.note.note.text, ImGuiInputTextFlags_EnterReturnsTrue, "text");
    const bool is_empty = form.note.note.text.empty();
    ImGui::BeginDisabled(is_empty);
    wanted = ImGui::Button("Keep", {units(96), 0}) || wanted;
    ImGui::EndDisabled();
    ImGui::SameLine();
    const bool cancelled = ImGui::Button("Cancel", {units(96), 0}) || ImGui::IsKeyPressed(ImGuiKey_Escape);
    bool removed = false;
    if (form.index) {
        ImGui::SameLine();
        removed = ImGui::Button("Remove", {units(96), 0});
    }
    if (wanted && !is_empty) finish_note(lab);
    if (removed && lab.note_form) remove_note(lab);
    if (cancelled) lab.note_form.reset();
    if (!lab.note_form) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

}  // namespace sawtooth
