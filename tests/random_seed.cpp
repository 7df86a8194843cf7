#include "tests/random_seed.h"

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

uint64_t random_seed() {
    static const uint64_t seed = [] {
        const uint64_t chosen = number_in_environment("SAWTOOTH_RANDOM_SEED").value_or(1);
        std::cout << "random settings: SAWTOOTH_RANDOM_SEED=" << chosen << std::endl;
        return chosen;
    }();
    return seed;
}

int random_settings() {
    static const int settings =
        static_cast<int>(number_in_environment("SAWTOOTH_RANDOM_SETTINGS").value_or(5));
    return settings;
}

int64_t below(Random& random, int64_t limit) {
    return static_cast<int64_t>(random.next() % static_cast<uint64_t>(limit));
}

}  // namespace sawtooth
