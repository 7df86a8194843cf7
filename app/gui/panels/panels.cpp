#include "app/gui/panels/panels.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth {

const std::vector<Panel>& panels() {
    static const std::vector<Panel> all{
        {"Parameters", Dock::left, draw_parameters,
         "Sets what is computed and how. Every change runs the variants again. Ctrl+click to type a value, "
         "right click to reset or sweep a parameter, click the dot before a name to reset it."},
        {"Story", Dock::centre, draw_story,
         "The most important figures of the family, in order. All others are in More."},
        {"More", Dock::centre, draw_more,
         "All other figures of the family, and figures of sweeps started from Parameters.", Place::views},
        {"Outputs", Dock::centre, draw_outputs, "The outputs of every variant over the float64 reference.",
         Place::outputs},
        {"Error", Dock::centre, draw_error, "The distance of every variant to the float64 reference.",
         Place::error},
        {"Check", Dock::centre, draw_check,
         "Tries settings that make wrong kernels fail. Each wrong variant appears with the smallest setting "
         "that shows it."},
        {"Times", Dock::times, draw_times,
         "The median time of every variant, stacked by launch, with quartiles as whiskers. The dashed "
         "line is the time to copy the same number of bytes. A red badge marks a wrong result or an unstable "
         "time. Repeats shows every timed repeat.",
         Place::times},
        {"Occupancy", Dock::occupancy, draw_occupancy,
         "Theoretical occupancy of each kernel, the achieved occupancy as a tick, and what limits it. The "
         "rows of the selected launch are highlighted. On the CPU: the utilisation of the workers.",
         Place::occupancy},
        {"Numbers", Dock::numbers, draw_numbers,
         "Times, speed-ups and errors as a table, and the selected launch. Right click to copy the table. A "
         "red badge marks a wrong result or an unstable time."},
        {"About", Dock::about, draw_about,
         "What the family computes, the idea of each variant, and experiments to try with a click."},
        {"Timeline", Dock::bottom, draw_timeline,
         "Every launch of one repeat of each variant on one time axis, with the utilisation below. "
         "Click a launch to select it, Shift+drag to measure a range of time.",
         Place::timeline},
        {"Log", Dock::bottom, draw_log, "Runs with time and device, and all messages."},
    };
    return all;
}

namespace {

template <class Fits>
const Panel* first_panel(Fits&& fits) {
    const auto found = std::find_if(panels().begin(), panels().end(), fits);
    return found == panels().end() ? nullptr : &*found;
}

}  // namespace

const Panel* find_panel(std::string_view name) {
    return first_panel([&](const Panel& panel) { return name == panel.name; });
}

const Panel* find_panel(Place place) {
    return first_panel([&](const Panel& panel) { return panel.place == place; });
}

std::string empty_sentence(const LabState& lab, const std::string& shows) {
    if (lab.result)
        return fmt::format("This run has no figure of {}. Press F5 to run it again, or change the variants.",
                           shows);
    if (lab.pending.ticket)
        return fmt::format("Running{}{}. When done, {} will appear here.",
                           lab.pending.progress.words.empty() ? "" : ": ", lab.pending.progress.words, shows);
    if (lab.problem)
        return fmt::format("Cannot run: {}. When fixed, {} will appear here.", lab.problem->error.text,
                           shows);
    return fmt::format("Nothing was run yet. Press F5: {} will appear here.", shows);
}

}  // namespace sawtooth
