#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/families.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_judge.h"

// Properties of every family that hold on both backends.
namespace sawtooth {

// Returns the dimension of independent sequences: "batch", or "" if no input and output have it.
std::string batch_axis(const Family& family);

// Calls check(case), which returns how many numbers it compared, for random cases of every family selected by
// the property (null: all). Every family must have compared something; prints the counts in one line.
void for_every_family(const std::string& property, const Chip& chip, bool (*concerned)(const Family&),
                      const Accepts& accepts, const std::function<int64_t(RandomCase&)>& check);

// Judges the outputs of a case for these inputs. Returns how many numbers are right.
int64_t check_right(const Chip& chip, const RandomCase& drawn, const Arrays& inputs);

// Checks that with one non-finite input, all that is finite in the definition is finite and right.
void check_strange_numbers(const Chip& chip);
// Checks that one non-finite input does not change a bit of the other sequences of the batch.
void check_separate_sequences(const Chip& chip);
// Checks that a sequence gives the same bits alone as in a batch.
void check_lone_sequences(const Chip& chip);
// Checks that other numbers, NaN or infinity from some position on do not change earlier positions, to the
// last bit, or if `by_rounding`, up to rounding.
void check_causal_prefixes(const Chip& chip, bool by_rounding);

// Checks that every launch is described, that it only reads inputs or what was written before, in the size
// that it reads, and that every output is written, completely unless the plan is dry. Returns the number of
// arrays checked.
int64_t check_described(const Plan& plan, const Arrays& inputs, const Arrays& outputs);
Arrays without_data(Arrays arrays);

}  // namespace sawtooth
