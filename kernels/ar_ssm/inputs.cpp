// Generated inputs.

#include <cmath>

#include "kernels/ar_ssm/parts.h"
#include "kernels/core/fill.h"

namespace sawtooth::ar_ssm {

// x and dy have a variance of 1, weights of 1 / fan_in, the size of their last dimension; biases are 0.
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    const Shape shape = spec.shape_for(parameters, so_far);
    if (shape.size() == 1) return Array::zeros(spec.name, Dtype::f32, shape);
    const bool is_weight = shape.size() == 2;
    const double scale = is_weight ? 1 / std::sqrt(static_cast<double>(shape.back())) : 1;
    Array array = Array::uninitialised(spec.name, Dtype::f32, shape);
    fill(array.as<float>(), stop, [&] { return scale * random.normal(); });
    return array;
}

}  // namespace sawtooth::ar_ssm
