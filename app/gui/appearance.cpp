#include "app/gui/appearance.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/engine/files.h"
#include "app/gui/lab.h"
#include "app/gui/system_theme.h"
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
    static const bool system_dark = system_prefers_dark();
    const ThemeChoice choice = lab.settings.theme;
    lab.dark = choice == ThemeChoice::dark || (choice == ThemeChoice::system && system_dark);
    ImGuiStyle& style = ImGui::GetStyle();
    const auto scale = static_cast<float>(scale_of(lab));
    apply_theme(theme_of(lab), scale);
    if (!lab.dark) style.FrameBorderSize = scale;  // fields are hardly darker than the background
    style.FontSizeBase = text_size;
    style.FontScaleMain = scale;
}

const Theme& theme_of(const LabState& lab) { return lab.dark ? dark_theme() : light_theme(); }

double scale_of(const LabState& lab) {
    return lab.settings.scale > 0 ? std::clamp(lab.settings.scale, smallest_scale, largest_scale) : 1;
}

float units(float length) { return std::round(length * ImGui::GetStyle().FontScaleMain); }

ImVec4 colour_of(uint32_t rgb) {
    const auto share = [rgb](int shift) { return static_cast<float>(rgb >> shift & 255) / 255; };
    return {share(16), share(8), share(0), 1};
}

ImVec4 problem_colour(const LabState& lab) { return colour_of(lab.dark ? 0xFF7B72 : 0xB3261E); }

}  // namespace sawtooth
