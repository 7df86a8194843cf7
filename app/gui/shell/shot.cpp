#include "app/gui/shell/shot.h"

#include "app/engine/files/files.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/offscreen.h"
#include "app/gui/state/headless.h"
#include "kernels/core/nearest.h"

namespace sawtooth {
namespace {

std::optional<Error> check_options(const ShotOptions& options) {
    if (!options.panel.empty() && !find_panel(options.panel))
        return Error::usage(
            Refusal{"--panel", options.panel, not_one_of(options.panel, names_of_rows(panels()))});
    return check_writable(options.path);
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
    auto window = OffscreenWindow::open(lab, options.width, options.height);
    if (!window) return window.error();
    (*session)->wait_until_done(options.stop);
    if (options.stop.stop_requested()) return Error::cancelled();
    if (lab.problem) return lab.problem->error;
    for (int i = 0; i < frames_to_settle; ++i) (*window)->draw(lab, 1.0 / 60, options.panel);
    const auto picture = (*window)->read();
    if (!picture) return picture.error();
    return write_png(options.path, *picture);
}

}  // namespace sawtooth
