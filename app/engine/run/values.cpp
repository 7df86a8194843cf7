#include "app/engine/run/values.h"

#include <algorithm>
#include <cmath>

namespace sawtooth {
namespace {

constexpr double share_of_zeros = 0.5, share_of_others = 1.0 / 16;
// The most huge numbers in an array: a product of many gates would leave the range of any float.
constexpr double most_huge = 4;

// The numbers of a float array; a complex number is two of them.
std::span<float> floats_of(Array& input) {
    const bool has_floats = input.dtype == Dtype::f32 || input.dtype == Dtype::complex64;
    return has_floats ? input.as<float>() : std::span<float>();
}

void scale_some(std::span<float> numbers, double share, float factor, Random& random) {
    for (float& number : numbers)
        if (random.uniform() < share) number *= factor;
}

}  // namespace

void place_values(Values values, Array& input, bool chosen, Storage storage, Random random) {
    const std::span<float> numbers = floats_of(input);
    if (numbers.empty()) return;
    switch (values) {
        case Values::usual:
            return;
        case Values::zeros:
            return scale_some(numbers, share_of_zeros, 0, random);
        case Values::denormals:  // the denormals of the storage
            return scale_some(numbers, share_of_others, storage == Storage::f16 ? 0x1p-18f : 0x1p-130f,
                              random);
        case Values::huge:
            return scale_some(numbers,
                              std::min(share_of_others, most_huge / static_cast<double>(numbers.size())),
                              storage == Storage::f16 ? 0x1p6f : 0x1p10f, random);
        case Values::infinity:
        case Values::nan:
            if (!chosen) return;
            numbers[static_cast<size_t>(random.uniform() * static_cast<double>(numbers.size()))] =
                values == Values::nan ? NAN : INFINITY;
            return;
    }
}

}  // namespace sawtooth
