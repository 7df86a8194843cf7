#include "app/gui/shell/shot.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/engine/files/files.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/offscreen.h"
#include "app/gui/state/headless.h"
#include "kernels/core/nearest.h"

namespace sawtooth {
namespace {

constexpr int usual_height = 900, most_height = 8192;

std::optional<Error> check_options(const ShotOptions& options) {
    if (!options.panel.empty() && !find_panel(options.panel))
        return Error::usage(
            Refusal{"--panel", options.panel, not_one_of(options.panel, names_of_rows(panels()))});
    return check_writable(options.path);
}

void settle(OffscreenWindow& window, LabState& lab, const std::string& panel, bool scrolls) {
    for (int i = 0; i < frames_to_settle; ++i) window.draw(lab, 1.0 / 60, panel, scrolls);
}

// Makes the picture as high as its panel, up to a limit that every driver supports. What is still hidden then
// needs less height.
std::optional<Error> fit_height(OffscreenWindow& window, LabState& lab, const ShotOptions& options) {
    constexpr int most_tries = 4;
    int height = usual_height;
    for (int i = 0; i < most_tries; ++i) {
        settle(window, lab, options.panel, true);
        const float hidden = ImGui::FindWindowByName(find_panel(options.panel)->name)->ScrollMax.y;
        if (hidden <= 0 || height == most_height) break;
        height = std::min(height + static_cast<int>(std::ceil(hidden)), most_height);
        if (auto problem = window.resize(options.width, height)) return problem;
    }
    return {};
}

// A picture must be the same on every machine, so saved settings and those of the desktop are ignored.
void settle_look(LabState& lab) {
    if (theme_choice(lab) == ThemeChoice::system) lab.once.theme = ThemeChoice::dark;
}

}  // namespace

std::optional<Error> shoot(const ShotOptions& options) {
    if (const auto problem = check_options(options)) return problem;
    auto session = Headless::open(options);
    if (!session) return session.error();
    LabState& lab = (*session)->lab();
    settle_look(lab);
    auto window = OffscreenWindow::open(lab, options.width, options.height.value_or(usual_height));
    if (!window) return window.error();
    (*session)->wait_until_done(options.stop);
    if (options.stop.stop_requested()) return Error::cancelled();
    if (lab.problem) return lab.problem->error;
    if (!options.height && !options.panel.empty())
        if (auto problem = fit_height(**window, lab, options)) return problem;
    settle(**window, lab, options.panel, false);
    const auto picture = (*window)->read();
    if (!picture) return picture.error();
    return write_png(options.path, *picture);
}

}  // namespace sawtooth
