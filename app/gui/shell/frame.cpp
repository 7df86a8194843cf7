#include "app/gui/shell/frame.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/actions.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/dock_layout.h"
#include "app/gui/shell/palette.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/history.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/sweeps.h"

namespace sawtooth {
namespace {

// After a key has brought a panel to the front, no item of it has the focus, and Dear ImGui would not find
// the next one.
void begin_tabbing() {
    const ImGuiContext& context = *ImGui::GetCurrentContext();
    if (context.NavWindow && context.NavId == 0 && ImGui::IsKeyPressed(ImGuiKey_Tab))
        ImGui::NavInitWindow(context.NavWindow, true);
}

constexpr ImGuiWindowFlags fixed = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking |
                                   ImGuiWindowFlags_NoBringToFrontOnFocus;

// Draws a row across the window.
void draw_row(LabState& lab, const char* name, float top, float height, ImVec4 ground,
              void (*draw)(LabState&), ImGuiWindowFlags more = 0) {
    const ImGuiViewport& viewport = *ImGui::GetMainViewport();
    ImGui::SetNextWindowPos({viewport.WorkPos.x, viewport.WorkPos.y + top});
    ImGui::SetNextWindowSize({viewport.WorkSize.x, height});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {units(12), units(4)});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ground);
    if (ImGui::Begin(name, nullptr, fixed | ImGuiWindowFlags_NoScrollWithMouse | more)) draw(lab);
    ImGui::End();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(3);
}

// A colour that is strong enough to be noticed and pale enough to read on.
ImVec4 tinted_ground(ImVec4 colour) {
    constexpr float share = 0.16f;
    return ImLerp(ImGui::GetStyleColorVec4(ImGuiCol_MenuBarBg), colour, share);
}

// Draws the space between the rows, where panels dock. The layout is that of a space without notices below
// it, because they come and go.
void draw_dock_space(LabState& lab, float top, float whole_height, float notices) {
    const ImGuiViewport& viewport = *ImGui::GetMainViewport();
    const ImVec2 size{viewport.WorkSize.x, std::max(whole_height - notices, 1.0f)};
    ImGui::SetNextWindowPos({viewport.WorkPos.x, viewport.WorkPos.y + top});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin("dock space", nullptr, fixed | ImGuiWindowFlags_NoNavFocus | ImGuiWindowFlags_NoBackground);
    ImGui::PopStyleVar(2);
    const ImGuiID dock_space = ImGui::GetID("panels");
    build_layout_if_due(lab, dock_space, {size.x, std::max(whole_height, 1.0f)});
    ImGui::DockSpace(dock_space, {0, 0},
                     ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
    follow_layout(lab, size);
    ImGui::End();
}

// Returns whether the panel is docked. DockIsActive is not reliable: before Begin it is not set for a panel
// that is alone in its node.
bool is_docked(const ImGuiWindow& window) {
    return window.DockNode && ImGui::DockNodeGetRootNode(window.DockNode)->IsDockSpace();
}

// A docked panel is drawn on the cleared frame, which has its background colour: filling it again would take
// most of the time of a frame in a software renderer.
void draw_panel(LabState& lab, const Panel& panel, ImGuiWindowFlags flags) {
    const ImGuiWindow* const window = ImGui::FindWindowByName(panel.name);
    if (window && is_docked(*window)) flags |= ImGuiWindowFlags_NoBackground;
    if (ImGui::Begin(panel.name, nullptr, flags | ImGuiWindowFlags_NoCollapse)) panel.draw(lab);
    offer_help(panel.name, panel.help, ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows), true);
    ImGui::End();
}

// What is in this frame is not the newest result. It lies in front of the panels and behind tooltips, and
// would cross menus and dialogs.
void draw_frame_of_earlier(float top, float bottom, ImVec4 colour) {
    if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) return;
    const ImGuiViewport& viewport = *ImGui::GetMainViewport();
    const ImVec2 begin{viewport.WorkPos.x, viewport.WorkPos.y + top};
    const ImVec2 end{begin.x + viewport.WorkSize.x, viewport.WorkPos.y + bottom};
    ImGui::SetNextWindowPos(begin);
    ImGui::SetNextWindowSize({end.x - begin.x, end.y - begin.y});
    ImGui::Begin("##frame of an earlier result", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoBackground |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking |
                     ImGuiWindowFlags_NoFocusOnAppearing);
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ImDrawList& lines = *ImGui::GetWindowDrawList();
    lines.PushClipRectFullScreen();
    lines.AddRect(begin, end, ImGui::GetColorU32(colour), 0, 0, units(2));
    lines.PopClipRect();
    ImGui::End();
}

// A new layout takes a few frames to settle.
void show_story(LabState& lab) {
    if (!lab.shows_story) return;
    const ImGuiWindow* const window = ImGui::FindWindowByName("Story");
    lab.shows_story = window && !window->DockTabIsVisible;
    if (lab.shows_story) ImGui::SetWindowFocus("Story");
}

void draw_alone(LabState& lab, const Panel& panel, bool scrolls) {
    const ImGuiViewport& viewport = *ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(viewport.WorkPos);
    ImGui::SetNextWindowSize(viewport.WorkSize);
    draw_panel(lab, panel, scrolls ? fixed & ~ImGuiWindowFlags_NoScrollbar : fixed);
}

// A control beside a figure may replace the figures while they are drawn, so the frame shares them.
std::vector<Figures> figures_of_frame(const LabState& lab) {
    std::vector<Figures> figures{lab.figures};
    for (const Pin& pin : lab.pins) figures.push_back(pin.figures);
    for (const BackgroundSweep& sweep : lab.sweeps) figures.push_back(sweep.figures);
    return figures;
}

}  // namespace

Context::Context(LabState& lab) {
    // Dear ImGui does not check allocations and cannot continue after an exception, so without memory the
    // program ends here with a message.
    ImGui::SetAllocatorFunctions([](size_t bytes, void*) noexcept { return ::operator new(bytes); },
                                 [](void* memory, void*) { ::operator delete(memory); });
    ImGui::CreateContext();
    ImPlot::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard | ImGuiConfigFlags_DockingEnable;
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    io.IniFilename = nullptr;  // none, because settings.cpp saves the layout
    load_fonts(lab);
}

Context::~Context() {
    ImPlot::DestroyContext();
    ImGui::DestroyContext();
}

void draw_frame(LabState& lab, const std::string& only_panel, bool panel_scrolls) {
    ImGui::GetIO().UserData = &lab;  // offer_help finds it there
    const std::vector<Figures> drawn = figures_of_frame(lab);
    begin_tooltips(lab);
    take_keys(lab);
    begin_tabbing();
    lab.cursor = std::move(lab.next_cursor);
    lab.next_cursor.clear();
    if (const Panel* panel = find_panel(only_panel)) {
        draw_alone(lab, *panel, panel_scrolls);
    } else {
        const float whole = ImGui::GetMainViewport()->WorkSize.y;
        const float bar_height = ImGui::GetFrameHeight() + units(8), pins = pins_row_height(lab);
        const float top = bar_height + pins, bottom = ImGui::GetTextLineHeight() + units(8);
        const float failure = failure_row_height(lab), crash = crash_row_height(lab);
        const float restore = restore_row_height(lab);
        const ImVec4 bar = ImGui::GetStyleColorVec4(ImGuiCol_MenuBarBg);
        draw_row(lab, "top bar", 0, bar_height, bar, draw_top_bar);
        if (pins > 0)
            draw_row(lab, "pins", bar_height, pins, bar, draw_pins_row, ImGuiWindowFlags_NoFocusOnAppearing);
        draw_dock_space(lab, top, whole - top - bottom, failure + crash + restore);
        for (const Panel& row : panels()) draw_panel(lab, row, 0);
        show_story(lab);
        if (std::exchange(lab.checking.to_front, false)) ImGui::SetWindowFocus("Check");
        if (lab.failure)
            draw_row(lab, "failure", whole - bottom - failure, failure, tinted_ground(problem_colour(lab)),
                     draw_failure_row);
        if (lab.crash)
            draw_row(lab, "crash", whole - bottom - failure - crash, crash,
                     tinted_ground(ImGui::GetStyleColorVec4(ImGuiCol_CheckMark)), draw_crash_row,
                     ImGuiWindowFlags_NoFocusOnAppearing);
        if (lab.session.offer)
            draw_row(lab, "restore", whole - bottom - failure - crash - restore, restore,
                     tinted_ground(ImGui::GetStyleColorVec4(ImGuiCol_CheckMark)), draw_restore_row,
                     ImGuiWindowFlags_NoFocusOnAppearing);
        const ImVec4 accent = ImGui::GetStyleColorVec4(ImGuiCol_CheckMark);
        draw_row(lab, "status bar", whole - bottom, bottom, lab.looking_back ? tinted_ground(accent) : bar,
                 draw_status_bar);
        if (lab.looking_back) draw_frame_of_earlier(top, whole - bottom, accent);
    }
    if (const std::string removed = std::exchange(lab.removed_sweep, ""); !removed.empty())
        remove_sweep(lab, removed);
    draw_palette(lab);
    draw_crash_dialog(lab);
    draw_open_dialog(lab);
    draw_save_dialog(lab);
    draw_sweep_dialog(lab);
    draw_note_dialog(lab);
    draw_help(lab);
    end_tooltips(lab);
    follow_changes(lab, ImGui::IsAnyItemActive());
    if (lab.widest_plot > 0) fit_columns(lab, lab.widest_plot);
    lab.widest_plot = 0;
}

}  // namespace sawtooth
