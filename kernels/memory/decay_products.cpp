#include "kernels/memory/parts.h"

namespace sawtooth::memory {

std::vector<float> decay_products(std::span<const float> alpha) {
    const size_t count = alpha.size();
    std::vector<float> products(count * count, 0.0f);
    for (size_t t = 0; t < count; ++t) {
        for (size_t s = 0; s < t; ++s)
            products[t * count + s] = products[(t - 1) * count + s] * (1 - alpha[t]);
        products[t * count + t] = 1;
    }
    return products;
}

}  // namespace sawtooth::memory
