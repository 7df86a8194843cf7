#include "app/gui/shell/appearance.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/engine/files/files.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/system_theme.h"
#include "viz/imgui/theme_imgui.h"

namespace sawtooth {
namespace {

constexpr float text_size = 15;
enum FontIndex { regular, bold, numbers };

ImFont* font_at(FontIndex index) { return ImGui::GetIO().Fonts->Fonts[index]; }

}  // namespace

void load_fonts(LabState& lab) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    for (const char* name :
         {"fonts/Roboto-Regular.ttf", "fonts/Roboto-Bold.ttf", "fonts/Inconsolata-Medium.ttf"}) {
        const auto path = find_asset(name);
        if (path && atlas.AddFontFromFileTTF(path->c_str(), text_size)) continue;
        atlas.AddFontDefault();
        note(lab, LogLine::Kind::problem, std::string(name) + ": font not found; using a plain font");
    }
}

ImFont* bold_font() { return font_at(bold); }
ImFont* number_font() { return font_at(numbers); }

void apply_appearance(LabState& lab) {
    if (!lab.system_dark) lab.system_dark = system_prefers_dark({});
    const ThemeChoice choice = theme_choice(lab);
    lab.dark = choice == ThemeChoice::dark || (choice == ThemeChoice::system && *lab.system_dark);
    ImGuiStyle& style = ImGui::GetStyle();
    const auto scale = static_cast<float>(drawn_scale(lab));
    apply_theme(theme_of(lab), scale);
    if (!lab.dark) style.FrameBorderSize = scale;  // fields are hardly darker than the background
    style.FontSizeBase = text_size;
    style.FontScaleMain = scale;
}

const Theme& theme_of(const LabState& lab) { return lab.dark ? dark_theme() : light_theme(); }

ThemeChoice theme_choice(const LabState& lab) { return lab.once.theme.value_or(lab.settings.theme); }

void choose_theme(LabState& lab, ThemeChoice choice) {
    lab.once.theme.reset();
    lab.settings.theme = choice;
}

double scale_of(const LabState& lab) {
    const double chosen = lab.once.scale.value_or(lab.settings.scale);
    return std::clamp(chosen > 0 ? chosen : lab.monitor.scale, smallest_scale, largest_scale(lab));
}

double largest_scale(const LabState& lab) {
    constexpr double usual = 2, most = 4;
    return std::clamp(lab.monitor.scale, usual, most);
}

void choose_scale(LabState& lab, double scale) {
    lab.once.scale.reset();
    lab.settings.scale = scale > 0 ? std::clamp(scale, smallest_scale, largest_scale(lab)) : 0;
}

double drawn_scale(const LabState& lab) { return scale_of(lab) / lab.monitor.pixels; }

float units(float length) { return std::round(length * ImGui::GetStyle().FontScaleMain); }

ImVec4 colour_of(uint32_t rgb) {
    const auto share = [rgb](int shift) { return static_cast<float>(rgb >> shift & 255) / 255; };
    return {share(16), share(8), share(0), 1};
}

ImVec4 problem_colour(const LabState& lab) { return colour_of(lab.dark ? 0xFF7B72 : 0xB3261E); }

}  // namespace sawtooth
