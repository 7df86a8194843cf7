#pragma once

#include <stop_token>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::scan {

// The parts of the family, one file each; family.cpp assembles them.
std::vector<Variant> variants();
Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
Outcome<Arrays> definition(const DefinitionRequest& request);
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);
// The longest chain of dependent combines of a variant, with blocks of that size. Absent for tiles on a GPU,
// which threads and warps share in ways that depend on the shape.
std::optional<int64_t> depth_of(const Variant& variant, const Parameters& parameters, Backend backend,
                                int64_t block_size);
std::vector<StoryRow> story();
About about();

}  // namespace sawtooth::scan
