#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"
#include "kernels/core/sweep.h"
#include "kernels/core/table.h"

namespace sawtooth {

// One row a variant: time with spread, rate, errors, launches, memory, metrics; refused variants say why.
Table numbers_table(const Result& result);
// The same of the variants that ran, for a page that tells the others in sentences of their own.
Table measured_table(const Result& result);
// "lattice_gla skipped: needs rule lattice" of every variant that did not run.
std::vector<std::string> skipped_lines(const Result& result);
// The notes that tell anything but such a variant.
std::vector<std::string> other_notes(const Result& result);
// One row a variant and output: how far from the reference.
Table errors_table(const Result& result);
// One row a launch: name, grid, start, duration, bytes a second; of a GPU also what it takes and its
// occupancy.
Table launches_table(const VariantResult& variant);
// One row a variant and kind of launch: what the compiler and the occupancy rules say of it, for a chip that
// need not be there. No rows where nothing was compiled.
Table compiled_table(const Result& result);
// One row a cell and variant, wrong results marked; refused cells are rows with their reason.
Table sweep_table(const SweepResult& result);

// What the machine can do at most, in a sentence.
std::string words_of(const Ceilings& ceilings);

// "1980 MHz of 1980, not throttled": the clock of a GPU around the timed repeats, for narrow panels; and in a
// sentence.
std::string short_words_of(const Clocks& clocks);
std::string sentence_of(const Clocks& clocks);

// "sawtooth run scan --set length=8192 …", quoted for a shell: makes the same numbers.
std::string command_of(const Request& request);
// "sawtooth sweep scan --over length=512,1024 …" likewise.
std::string command_of(const Sweep& sweep);

}  // namespace sawtooth
