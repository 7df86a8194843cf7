#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::memory {

// What family.cpp puts together; one file each.

// y, m, s, sk, sv of the sequential rule.
Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
// What of it depends on chunks and levels: pulse, level_y (the sequential memory at each level's last
// boundary, read with the query) and, as far as extras are wanted, boundaries at `chunk`, and tnt/boundaries
// at C_G where that is another chunk.
Outcome<Arrays> reference_at_chunks(const Parameters& parameters, const Arrays& inputs, bool extras,
                                    std::stop_token stop);

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
Work work(const Parameters& parameters);
std::vector<BenchCase> bench_cases(Backend backend);

std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

}  // namespace sawtooth::memory
