#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {

// What the figures share, and their subjects, one file each.

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline Ink ink_of(const VariantResult& variant) { return {Ink::Role::variant, variant.index}; }
// Not the two that walk token by token.
inline bool has_chunks(const VariantResult& variant) { return !strategy_named(variant.name).walks_by_token(); }

Figure new_figure(std::string id, Place place, std::string title, std::string caption, Axis x, Axis y);
Axis token_axis(int64_t length);
Axis chunk_axis();

// The sequence, channel, strategy and boundary that the plots show; the last one where there are fewer.
struct Drawn {
    int64_t batch = 0, channel = 0, length = 0, width = 0;
    std::string strategy;
    int64_t chunk = 1;     // of the strategy
    int64_t boundary = 0;  // which one
    int64_t token = 0;     // that the boundary stands before

    explicit Drawn(const Parameters& parameters);
    std::string boundary_words() const;  // "chunkwise_gd, boundary 1, before token 64"
};

// figures_sawtooth.cpp: launches of sequential and of the drawn strategy on one axis of time.
Figure sawtooth_figure(const Result& result, const View& view);
// The same of sequential alone, for every way to launch on a GPU.
std::vector<Figure> launch_figures(const SweepResult& sweep);
// figures_tokens.cpp: y, its error and the boundaries' by token; levels.
std::vector<Figure> token_figures(const Result& result, const View& view);
std::vector<Figure> level_figures(const Result& result, const View& view);
// figures_states.cpp: the drawn boundary as heat maps, the gates of the chunk that follows it.
std::vector<Figure> state_figures(const Result& result);
// figures_table.cpp: rules and strategies, the exact ones marked.
Figure table_figure(const Parameters& parameters);

// figures_tradeoff.cpp: error and time against chunk, and each other; how the error grows until it diverges.
std::vector<Figure> tradeoff_figures(const SweepResult& sweep);
std::vector<Figure> growth_figures(const SweepResult& sweep);
// figures_utilisation.cpp
std::vector<Figure> utilisation_figures(const SweepResult& sweep);
// figures_prediction.cpp: time from launch cost, work and ceilings alone, beside what was measured.
Figure prediction_figure(const SweepResult& sweep);

// A curve a variant, in the family's order, of a number against the sweep's chunks; NaN is a gap. A click on
// a point sets the chunk, of tnt the shard, where the strategy has any.
std::vector<Line> curves_of(const SweepResult& sweep, double (*number)(const Result&, const VariantResult&));

// The lines of a figure, or that they are still to come.
void add_lines(Figure& figure, std::vector<Line> lines);
// Least and largest y of the lines that a logarithmic axis shows.
View::Range range_of(const std::vector<Line>& lines);

}  // namespace sawtooth::memory
