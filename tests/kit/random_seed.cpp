#include "tests/kit/random_seed.h"

#include <cstdlib>
#include <iostream>
#include <optional>

namespace sawtooth {
namespace {

std::optional<uint64_t> number_in_environment(const char* name) {
    const char* const text = std::getenv(name);
    if (!text) return {};
    return std::strtoull(text, nullptr, 10);
}

}  // namespace

const std::vector<uint64_t>& random_seeds() {
    static const std::vector<uint64_t> seeds = [] {
        const auto chosen = number_in_environment("SAWTOOTH_RANDOM_SEED");
        const std::vector<uint64_t> all = chosen ? std::vector{*chosen} : std::vector<uint64_t>{1, 4};
        std::cout << "random settings:";
        for (const uint64_t seed : all) std::cout << " SAWTOOTH_RANDOM_SEED=" << seed;
        std::cout << std::endl;
        return all;
    }();
    return seeds;
}

uint64_t random_seed() { return random_seeds().front(); }

int random_settings() {
    static const int settings =
        static_cast<int>(number_in_environment("SAWTOOTH_RANDOM_SETTINGS").value_or(5));
    return settings;
}

}  // namespace sawtooth
