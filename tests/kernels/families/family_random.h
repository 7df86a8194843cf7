#pragma once

#include <functional>
#include <string>

#include "kernels/core/chip.h"
#include "kernels/core/family.h"
#include "tests/kit/random_seed.h"
#include "tests/kit/run_family.h"

// Random settings and inputs of any family, generated from its schema only.
namespace sawtooth {

// One setting with its inputs, and its description for failed tests.
struct RandomCase {
    const Family& family;
    const Variant& variant;
    Parameters parameters;  // settled; accepted by the family and by the variant on the chip
    Arrays inputs;          // optional ones in half of the cases
    std::string words;      // "memory tnt, SAWTOOTH_RANDOM_SEED=7 (inputs 3): length=17 rule=titans"
    Random random;          // for further choices of the test
};

// Whether the reference accepts the inputs; it fails where integer sums overflow.
bool has_reference(const RandomCase& drawn, const Arrays& inputs);

// The settings that a test wants; empty: all.
using Accepts = std::function<bool(const Family&, const Variant&, const Parameters&)>;

// Calls each(case) for random_settings() settings per seed and variant of the family on the backend of the
// chip (on a GPU, in all): settings that the variant and `accepts` allow, that have a reference and that cost
// a few milliseconds. The name of the draws and the seed determine the settings. A variant without any is
// skipped.
void for_random_cases(const std::string& draws, const Family& family, const Chip& chip,
                      const Accepts& accepts, const std::function<void(RandomCase&)>& each);

// The parameters that differ from their defaults: "length=17 rule=titans".
std::string words_of(const Family& family, const Parameters& parameters);

}  // namespace sawtooth
