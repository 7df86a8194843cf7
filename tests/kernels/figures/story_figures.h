#pragma once

#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// Returns a figure with that id and a caption of usual length. A sawtooth and its zoom have the largest
// number of rows, with utilisation and samples.
inline Figure story_figure(const std::string& id) {
    Figure figure;
    figure.id = id;
    figure.place = id.starts_with("output-")  ? Place::outputs
                   : id.starts_with("error-") ? Place::error
                   : id == "timeline"         ? Place::timeline
                                              : Place::views;
    figure.title = "A title of usual length";
    figure.caption = "A caption that says in a sentence what to look at and what it means, with the number.";
    figure.x.label = "x";
    figure.y.label = "y";
    const bool is_zoom = id.ends_with("-zoom");
    if (id == "sawtooth" || id == "launches" || id == "timeline" || is_zoom) {
        if (is_zoom) figure.caption.clear();
        Tracks tracks;
        for (int i = 0; i < (is_zoom || id == "timeline" ? 6 : 3); ++i)
            tracks.tracks.push_back({"track", {Ink::Role::variant, i / 2}, {{0, 1, "launch"}}, {}, {}, ""});
        figure.marks.push_back(std::move(tracks));
        return figure;
    }
    for (int i = 0; i < 5; ++i)
        figure.marks.push_back(Line{"variant", {Ink::Role::variant, i}, {0, 1}, {0, 1}});
    return figure;
}

// Returns the figures of the story, and those of the main output and its error.
inline std::vector<Figure> story_figures(const Family& family) {
    std::vector<std::string> ids{"output-" + family.main_output, "error-" + family.main_output};
    for (const StoryRow& row : family.story)
        for (const std::string& id : row.figures)
            if (id != ids[0] && id != ids[1]) ids.push_back(id);
    std::vector<Figure> figures;
    for (const std::string& id : ids) figures.push_back(story_figure(id));
    return figures;
}

}  // namespace sawtooth
