#include "app/gui/shell/layout_trial.h"

#include <imgui.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/gui/shell/appearance.h"
#include "app/gui/shell/frame.h"
#include "app/gui/state/settings.h"

namespace sawtooth {
namespace {

// A limit on processor time does not depend on what else runs. A trial takes a hundredth of it.
constexpr rlim_t most_processor_seconds = 2;
constexpr double longest_trial = 10;               // seconds, in case the process waits for something
constexpr rlim_t most_growth = rlim_t{500} << 20;  // bytes of address space

// Writes while the process reads.
void write_all(int pipe, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(pipe, text.data(), text.size());
        if (count > 0) text.remove_prefix(static_cast<size_t>(count));
        if (count >= 0 || errno == EINTR) continue;
        pollfd end{pipe, POLLOUT, 0};
        if (errno != EAGAIN || ::poll(&end, 1, static_cast<int>(longest_trial * 1e3)) <= 0) return;
    }
}

void limit(int resource, rlim_t most) {
    const rlimit limits{most, most};
    ::setrlimit(resource, &limits);
}

void limit_process() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    limit(RLIMIT_AS, pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + most_growth);
    limit(RLIMIT_CPU, most_processor_seconds);
    limit(RLIMIT_CORE, 0);
}

// A lab with the first family and without an engine.
LabState idle_lab(const WindowSettings& settings) {
    LabState lab;
    lab.engine = {[](const Request&, const View&) { return 0; },
                  [](const Sweep&) { return 0; },
                  [](const std::string&, const View&, const Parameters&) {},
                  [](const std::vector<Kept>&) {},
                  [] {},
                  [](uint64_t) {},
                  [](const CheckRequest&) { return 0; },
                  [] {},
                  [] { return std::vector<Event>(); },
                  [] {},
                  [](std::stop_token) { return Devices(); }};
    lab.families = offered_families();
    lab.family = lab.families.front();
    lab.request.family = lab.family->name;
    lab.parameters = lab.family->defaults();
    lab.settings = settings;
    return lab;
}

// Accepts the font textures without drawing them.
void take_textures() {
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures)
        texture->SetStatus(texture->Status == ImTextureStatus_WantDestroy ? ImTextureStatus_Destroyed
                                                                          : ImTextureStatus_OK);
}

void draw_without_display(LabState& lab, ImVec2 size) {
    ImGui::GetIO().DisplaySize = size;
    apply_appearance(lab);
    ImGui::NewFrame();
    draw_frame(lab);
    ImGui::Render();
    take_textures();
}

// Draws a window of that size, then another size to which its user changes it.
void try_at(const WindowSettings& settings, const std::string& layout, ImVec2 size, ImVec2 then) {
    LabState lab = idle_lab(settings);
    const Context context(lab);
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
    use_layout(lab, layout);
    for (int i = 0; i < frames_to_settle; ++i) draw_without_display(lab, size);
    for (int i = 0; i < frames_to_settle; ++i) draw_without_display(lab, then);
    ImGui::SaveIniSettingsToMemory();
}

}  // namespace

SavedLayout::SavedLayout(LabState& lab, const std::string& directory)
    : directory_(directory), text_(load_layout(lab, directory)) {
    if (text_.empty()) return;
    auto started = WorkerProcess::start({"/proc/self/exe", try_layout_command, settings_text(lab.settings)});
    if (!started) {
        set_layout_aside(lab, directory_, "cannot be tried: " + started.error().text);
        text_.clear();
        return;
    }
    trial_ = std::move(*started);
    write_all(trial_->input(), text_);
    trial_->close_input();
}

std::string SavedLayout::tried(LabState& lab) {
    if (text_.empty()) return "";
    if (trial_->end(longest_trial) == "exit code 0") return text_;
    set_layout_aside(lab, directory_, "is invalid");
    return "";
}

void use_layout(LabState& lab, const std::string& layout) {
    ImGui::LoadIniSettingsFromMemory(layout.data(), layout.size());
    lab.rebuild_layout = lab.shows_story = false;
    lab.settings.own_layout = true;
}

int try_layout(const std::string& argument) {
    WindowSettings settings;
    if (!read_settings(argument, settings).skipped.empty()) return 2;
    limit_process();
    const std::string layout(std::istreambuf_iterator<char>(std::cin), {});
    const ImVec2 saved{static_cast<float>(settings.width), static_cast<float>(settings.height)};
    // Some layouts crash only at another size, and a display need not provide the saved one.
    for (const ImVec2 size : {saved, ImVec2(640, 400), ImVec2(3840, 2160)})
        try_at(settings, layout, size, saved);
    return 0;
}

}  // namespace sawtooth
