#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/figures/figures.h"

namespace sawtooth::memory {

// Helpers of the figures, then the figures by subject, one file each.

// True for all strategies except the two that walk token by token.
bool has_chunks(const std::string& strategy);

// The line of an output that plots show, token by token. The output must have an axis of tokens.
DrawnLine drawn_line(const Array& output, const Parameters& parameters);

// The sequence, strategy and boundary that plots show; the last sequence or boundary if there are fewer.
struct Drawn {
    int64_t batch = 0, length = 0;
    std::string strategy;
    int64_t chunk = 1;     // chunk of the strategy
    int64_t boundary = 0;  // index of the boundary
    int64_t token = 0;     // the first token after the boundary

    explicit Drawn(const Parameters& parameters);
    std::string boundary_words() const;  // "chunkwise_gd, boundary 1, before token 64"
};

// sawtooth.cpp: launches of sequential and of the drawn strategy on one time axis, and typical launches of
// sequential.
std::vector<Figure> sawtooth_figures(const Result& result, const View& view);
// Launches of sequential for every way to launch on a GPU.
std::vector<Figure> launch_figures(const SweepResult& sweep);
// tokens.cpp: y, its error and the error of boundaries by token; the error of both readouts; levels.
std::vector<Figure> token_figures(const Result& result, const View& view);
std::vector<Figure> readout_figures(const SweepResult& sweep);
std::vector<Figure> level_figures(const Result& result, const View& view);
// states.cpp: the drawn boundary as heat maps, and the gates of the chunk that follows it.
std::vector<Figure> state_figures(const Result& result);
// What is left of them if the result has no arrays.
std::vector<Figure> states_without_arrays(const Result& result);
// The matrix [t][s] = product of 1 - alpha_u for u from s + 1 to t, 1 on the diagonal, 0 above it; row-major,
// one row and column per alpha. It is computed without division, because alpha may be 1.
std::vector<float> decay_products(std::span<const float> alpha);
// sweeps.cpp: error, time, utilisation and predicted time against chunk; how the error grows until it
// diverges.
std::vector<Figure> chunk_figures(const SweepResult& sweep);
std::vector<Figure> growth_figures(const SweepResult& sweep);

}  // namespace sawtooth::memory
