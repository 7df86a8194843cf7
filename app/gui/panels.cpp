#include "app/gui/panels.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth {

const std::vector<Panel>& panels() {
    static const std::vector<Panel> all{
        {"Parameters", Dock::left, draw_parameters},
        {"Story", Dock::centre, draw_story},
        {"More", Dock::centre, draw_more, Place::views},
        {"Outputs", Dock::centre, draw_outputs, Place::outputs},
        {"Error", Dock::centre, draw_error, Place::error},
        {"Times", Dock::right_top, draw_times, Place::times},
        {"Numbers", Dock::right_middle, draw_numbers},
        {"Occupancy", Dock::right_middle, draw_occupancy, Place::occupancy},
        {"About", Dock::right_bottom, draw_about},
        {"Timeline", Dock::bottom, draw_timeline, Place::timeline},
        {"Log", Dock::bottom, draw_log},
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
    if (lab.result) return fmt::format("This result has no figure of {}.", shows);
    if (lab.pending.ticket)
        return fmt::format("Running{}{}. When it is done, {} will be drawn here.",
                           lab.pending.progress.words.empty() ? "" : ": ", lab.pending.progress.words, shows);
    if (lab.problem)
        return fmt::format("Nothing could run yet: {}. Here {} would be drawn.", lab.problem->error.text,
                           shows);
    return fmt::format("Nothing was run yet: F5 runs what is set. Here {} will be drawn.", shows);
}

}  // namespace sawtooth
