#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/families.h"
#include "tests/catch.h"
#include "tests/family_compare.h"
#include "tests/family_random.h"

// Properties of every family that hold on both backends.
namespace sawtooth {

// Where cases run.
struct Runs {
    Chip chip;
    std::function<Arrays(const RandomCase&, const Arrays& inputs)>
        run;  // the outputs, with data of their own
};
Runs on_cpu();

// Calls check(case), which returns how many numbers it compared, for random cases of every family that the
// property concerns (null: all). Each of them must have been compared; what was is printed in one line.
void for_every_family(const std::string& property, const Chip& chip, bool (*concerned)(const Family&),
                      const Accepts& accepts, const std::function<int64_t(RandomCase&)>& check);

bool is_exact(const Family&, const Variant& variant, const Parameters& parameters);

// Every output of which `wanted` holds what is right; returns how many numbers were compared.
int64_t check_outputs(const RandomCase& drawn, const Chip& chip, const Arrays& outputs, const Wanted& wanted,
                      const std::vector<bool>& wild);

// One number that is not finite leaves finite and right what is finite in the reference.
void check_strange_numbers(const Runs& runs);
// ... and leaves the other sequences of the batch as they were, to the last bit.
void check_separate_sequences(const Runs& runs);
// A sequence has the same bits alone as in a batch.
void check_lone_sequences(const Runs& runs);
// Other numbers, NaN or infinity from some position on leave what stands before as it was: to the last bit,
// or where `by_rounding`, but for roundings.
void check_causal_prefixes(const Runs& runs, bool by_rounding);

// Every launch says what it is; what it reads is an input or was written before, as large as it is read, and
// every output is written: whole, unless the plan is dry. Returns how many arrays of launches were looked at.
int64_t check_described(const Plan& plan, const Arrays& inputs, const Arrays& outputs);
Arrays without_data(Arrays arrays);

}  // namespace sawtooth
