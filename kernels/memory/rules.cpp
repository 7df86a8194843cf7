#include "kernels/memory/rules.h"

#include <algorithm>

namespace sawtooth::memory {

// A product with a matrix takes 2 operations for each of its numbers, an update with decay 3, momentum 2
// more.
const std::vector<UpdateRule>& rules() {
    static const std::vector<UpdateRule> all = {
        {.name = "titans", .has_momentum = true, .operations = 9, .least_chunk = 64, .most_chunk = 512},
        {.name = "delta", .operations = 7},
        {.name = "hebbian", .has_step = false, .reads_memory = false, .operations = 5},
        {.name = "atlas",
         .has_momentum = true,
         .reads_memory = false,
         .reads_w_omega = true,
         .operations = 11},
        {.name = "atlas_omega",
         .has_momentum = true,
         .is_windowed = true,
         .operations = 5,
         .operations_of_windows = 4},
        {.name = "lattice",
         .state = State::slots,
         .forgets = false,
         .has_step = false,
         .operations = 13,
         .least_chunk = 16,
         .most_chunk = 256},
        {.name = "trellis", .state = State::trellis, .reads_x = true, .operations = 16},
    };
    return all;
}

std::vector<std::string> names_of_rules(bool (*has)(const UpdateRule&)) {
    std::vector<std::string> names;
    for (const UpdateRule& rule : rules())
        if (has(rule)) names.push_back(rule.name);
    return names;
}

const UpdateRule& rule_of(const Parameters& parameters) {
    const std::string& name = parameters.text("rule");
    return *std::find_if(rules().begin(), rules().end(),
                         [&](const UpdateRule& rule) { return rule.name == name; });
}

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
