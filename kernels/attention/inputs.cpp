// Generated inputs, and the minimum of work.

#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/fill.h"
#include "kernels/core/storage.h"

namespace sawtooth::attention {

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    Array array = Array::uninitialised(spec.name, Dtype::f32, spec.shape_for(parameters, so_far));
    fill(array.as<float>(), stop, [&] { return random.normal(); });
    return array;
}

// Inputs read and outputs written once; per pair that the mask allows two products of a row forward, five
// backward. The encoding that a pair does not use is no work.
Work work(const Parameters& parameters) {
    const double n = static_cast<double>(parameters.integer("N"));
    const double heads = static_cast<double>(parameters.integer("Z") * parameters.integer("H"));
    const double d = static_cast<double>(parameters.integer("D"));
    const double numbers = heads * n * d;
    const auto element = static_cast<double>(bytes_of(storage_named(parameters.text("dtype"))));
    const bool qkv = parameters.is("form", "qkv"), backward = runs_backward(parameters);
    const double pairs = heads * (parameters.flag("causal") ? n * (n + 1) / 2 : n * n);
    Work work;
    work.bytes = numbers * element * ((qkv ? 3 : 5) + 1) + heads * n * 4;
    work.operations = 4 * pairs * d;
    if (!backward) return work;
    work.bytes += numbers * (element + 4 * (qkv ? 7 : 5)) + heads * n * 4;
    work.operations += 10 * pairs * d;
    return work;
}

}  // namespace sawtooth::attention
