#include "app/engine/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace sawtooth {
namespace {

bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(std::complex<double> value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
}

template <class Wide, class Out, class Reference>
OutputError compare_as(const Array& output, const Array& reference, int axis) {
    const auto out = output.as<Out>();
    const auto wanted = reference.as<Reference>();
    OutputError error;
    error.output = output.name;
    int64_t inner = 1, length = 1;
    if (axis >= 0) {
        length = output.shape[static_cast<size_t>(axis)];
        for (size_t a = static_cast<size_t>(axis) + 1; a < output.shape.size(); ++a) inner *= output.shape[a];
        error.by_position.assign(static_cast<size_t>(length), 0.0f);
    }
    double largest = -1, square = 0, reference_square = 0;
    const int64_t count = output.count();
    int64_t i = 0;
    for (int64_t row = 0; i < count; ++row) {  // `inner` values of one position
        float at_position = 0;
        for (int64_t end = std::min(i + inner, count); i < end; ++i) {
            const Wide got(out[static_cast<size_t>(i)]), want(wanted[static_cast<size_t>(i)]);
            if (!is_finite(got) || !is_finite(want)) {
                ++error.nonfinite;
                if (!error.first_nonfinite) error.first_nonfinite = i;
                continue;
            }
            const double distance = std::abs(got - want);
            largest = std::max(largest, distance);
            square += distance * distance;
            reference_square += std::norm(want);
            at_position = std::max(at_position, static_cast<float>(distance));
        }
        if (axis >= 0) {
            float& position = error.by_position[static_cast<size_t>(row % length)];
            position = std::max(position, at_position);
        }
    }
    if (largest >= 0) error.max_abs = largest;
    if (reference_square > 0) error.rel_l2 = std::sqrt(square / reference_square);
    return error;
}

}  // namespace

OutputError compare(const Array& output, const Array& reference, int axis) {
    using Complex = std::complex<double>;
    if (output.dtype == Dtype::complex64)
        return compare_as<Complex, std::complex<float>, Complex>(output, reference, axis);
    if (output.dtype == Dtype::int32) return compare_as<double, int32_t, int32_t>(output, reference, axis);
    return compare_as<double, float, double>(output, reference, axis);
}

}  // namespace sawtooth
