#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::memory {

// The functions of the family, one file each; family.cpp assembles them.

// Computes y, m, s, sk and sv by the sequential rule.
Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
// Computes the outputs that depend on chunks and levels: pulse, level_y (the sequential memory at each
// level's last boundary, read with the query) and, with `extras`, boundaries at `chunk`, and tnt/boundaries
// at C_G if that differs.
Outcome<Arrays> reference_at_chunks(const Parameters& parameters, const Arrays& inputs, bool extras,
                                    std::stop_token stop);
// Computes the outputs of the strategy by its own rule.
Outcome<Arrays> definition(const DefinitionRequest& request);

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
Work work(const Parameters& parameters, const Arrays& inputs);
std::vector<BenchCase> bench_cases(Backend backend);

std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

}  // namespace sawtooth::memory
