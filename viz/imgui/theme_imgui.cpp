#include "viz/imgui/theme_imgui.h"

#include <imgui.h>
#include <implot.h>

#include "viz/imgui/canvas_imgui.h"

namespace sawtooth {
namespace {

void set_spacing(ImGuiStyle& style) {
    style.WindowPadding = {12, 8};
    style.FramePadding = {8, 4};
    style.CellPadding = {8, 4};
    style.ItemSpacing = {8, 8};
    style.ItemInnerSpacing = {8, 4};
    style.IndentSpacing = 16;
    style.ScrollbarSize = 12;
    style.GrabMinSize = 8;
    style.WindowRounding = style.ChildRounding = 0;
    style.FrameRounding = style.PopupRounding = style.GrabRounding = style.ScrollbarRounding = 4;
    style.TabRounding = 0;
    style.WindowBorderSize = style.PopupBorderSize = 1;
    style.ChildBorderSize = style.FrameBorderSize = 0;
    style.TabBarBorderSize = 1;
    style.SeparatorTextBorderSize = 1;
    style.WindowMenuButtonPosition = ImGuiDir_None;
    style.DockingSeparatorSize = 2;
}

void set_colours(ImGuiStyle& style, const Theme& theme) {
    theme.dark ? ImGui::StyleColorsDark(&style) : ImGui::StyleColorsLight(&style);
    const auto set = [&](std::initializer_list<ImGuiCol> targets, Colour colour) {
        for (ImGuiCol target : targets) style.Colors[target] = as_vector(colour);
    };
    const uint32_t field_hovered = blend(theme.field, {theme.text, 0.08f}),
                   field_active = blend(theme.field, {theme.text, 0.16f});
    set({ImGuiCol_Text, ImGuiCol_InputTextCursor}, {theme.text});
    set({ImGuiCol_TextDisabled}, {theme.quiet_text});
    set({ImGuiCol_WindowBg, ImGuiCol_PopupBg, ImGuiCol_DockingEmptyBg}, {theme.ground});
    set({ImGuiCol_ChildBg}, {theme.ground, 0});
    set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed, ImGuiCol_MenuBarBg,
         ImGuiCol_ScrollbarBg},
        {theme.bar});
    set({ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight},
        {theme.line});
    set({ImGuiCol_BorderShadow, ImGuiCol_TableRowBg}, {theme.line, 0});
    set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_TableHeaderBg, ImGuiCol_Header}, {theme.field});
    set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_ScrollbarGrab},
        {field_hovered});
    set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive, ImGuiCol_ScrollbarGrabHovered},
        {field_active});
    set({ImGuiCol_Tab, ImGuiCol_TabDimmed}, {theme.bar});
    set({ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected}, {theme.ground});
    set({ImGuiCol_TabHovered}, {field_hovered});
    set({ImGuiCol_TabDimmedSelectedOverline}, {theme.line});
    set({ImGuiCol_CheckMark, ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive, ImGuiCol_ScrollbarGrabActive,
         ImGuiCol_PlotHistogram, ImGuiCol_NavCursor, ImGuiCol_SeparatorHovered, ImGuiCol_SeparatorActive,
         ImGuiCol_ResizeGripHovered, ImGuiCol_ResizeGripActive, ImGuiCol_TabSelectedOverline,
         ImGuiCol_TextLink, ImGuiCol_DragDropTarget},
        {theme.highlight});
    set({ImGuiCol_TextSelectedBg, ImGuiCol_DockingPreview}, {theme.highlight, 0.35f});
    set({ImGuiCol_ResizeGrip}, {theme.highlight, 0});
    set({ImGuiCol_TableRowBgAlt}, {theme.text, 0.03f});
    set({ImGuiCol_ModalWindowDimBg, ImGuiCol_NavWindowingDimBg}, {0x000000, 0.4f});
}

void set_plots(ImPlotStyle& style, const Theme& theme, float scale) {
    style = ImPlotStyle();
    style.PlotMinSize = {1, 1};
    style.PlotPadding = {0, 4 * scale};
    style.LabelPadding = {4 * scale, 4 * scale};
    style.PlotBorderSize = 1;
    style.MajorTickLen = style.MinorTickLen = {0, 0};
    style.MajorGridSize = {1, 1};
    const auto set = [&](ImPlotCol target, Colour colour) { style.Colors[target] = as_vector(colour); };
    set(ImPlotCol_FrameBg, {theme.ground, 0});
    set(ImPlotCol_PlotBg, {theme.ground, 0});
    set(ImPlotCol_PlotBorder, {theme.line});
    set(ImPlotCol_TitleText, {theme.text});
    set(ImPlotCol_InlayText, {theme.text});
    set(ImPlotCol_AxisText, {theme.text});
    set(ImPlotCol_AxisGrid, {theme.line});
    set(ImPlotCol_AxisTick, {theme.line});
    set(ImPlotCol_AxisBg, {theme.ground, 0});
    set(ImPlotCol_AxisBgHovered, {theme.text, 0.05f});
    set(ImPlotCol_AxisBgActive, {theme.text, 0.1f});
}

}  // namespace

void apply_theme(const Theme& theme, float scale) {
    // The caller sets the font scale; here only everything around the text is scaled.
    const float font_size = ImGui::GetStyle().FontSizeBase, font_scale = ImGui::GetStyle().FontScaleMain;
    const float dpi_scale = ImGui::GetStyle().FontScaleDpi;
    ImGuiStyle style;
    set_spacing(style);
    set_colours(style, theme);
    style.ScaleAllSizes(scale);
    style.FontSizeBase = font_size, style.FontScaleMain = font_scale, style.FontScaleDpi = dpi_scale;
    ImGui::GetStyle() = style;
    set_plots(ImPlot::GetStyle(), theme, scale);
}

}  // namespace sawtooth
