#pragma once

#include <stop_token>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::scan {

// What family.cpp puts together; one file each.
Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);

}  // namespace sawtooth::scan
