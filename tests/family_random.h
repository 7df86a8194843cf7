#pragma once

#include <functional>
#include <string>

#include "kernels/core/chip.h"
#include "kernels/core/family.h"
#include "tests/run_family.h"

// Random settings and inputs of any family, made of its schema alone.
namespace sawtooth {

// SAWTOOTH_RANDOM_SEED, or a new one a process; it is printed when it is first asked for.
uint64_t random_seed();
// How many settings a variant is tried with: SAWTOOTH_RANDOM_SETTINGS, or a few.
int random_settings();

int64_t below(Random& random, int64_t limit);  // 0 to limit - 1
// From `least` to `most`, small ones as often as large ones; at times `least`, or around a power of two.
int64_t random_integer(Random& random, int64_t least, int64_t most);
// A value that the row accepts; integers at most `most`.
Value random_value(Random& random, const Parameter& row, int64_t most);

// Every parameter at random, settled; the family may refuse them. Dimensions are at most `widest`, but for
// the sequence axis.
Parameters random_parameters(Random& random, const Family& family, Backend backend, int64_t widest);

// One setting with its inputs, and what a test says when it fails with them.
struct RandomCase {
    const Family& family;
    const Variant& variant;
    Parameters parameters;  // settled; accepted by the family and by the variant on the chip
    Arrays inputs;          // optional ones in half of the cases
    std::string words;      // "memory tnt, SAWTOOTH_RANDOM_SEED=7 (inputs 3): length=17 rule=titans"
    Random random;          // for what the test chooses beside it
};

// What a test wants of a setting; empty: anything.
using Accepts = std::function<bool(const Family&, const Variant&, const Parameters&)>;

// Calls each(case) for so many settings of every variant of the family that runs on the chip's backend: all
// that the variant and `accepts` do not refuse and that cost a few milliseconds. The name of the draws
// decides, with the seed, which settings these are. A variant for which none is found is left out.
void for_random_cases(const std::string& draws, const Family& family, const Chip& chip,
                      const Accepts& accepts, const std::function<void(RandomCase&)>& each);

// The parameters that differ from their defaults: "length=17 rule=titans".
std::string words_of(const Family& family, const Parameters& parameters);

}  // namespace sawtooth
