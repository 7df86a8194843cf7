#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"
#include "kernels/core/sweep.h"
#include "kernels/core/table.h"

namespace sawtooth {

// One row per variant: time with spread, rate, errors, launches, memory, metrics; why it was refused.
Table numbers_table(const Result& result);
// The same without refused variants, for places that print skipped_lines.
Table measured_table(const Result& result);
// "lattice_gla skipped: needs rule lattice" for each variant that did not run.
std::vector<std::string> skipped_lines(const Result& result);
// The notes that do not repeat a skipped line.
std::vector<std::string> other_notes(const Result& result);
// One row per variant and output: distance to the reference.
Table errors_table(const Result& result);
// One row per launch: name, grid, start, duration, bytes per second; on a GPU also resources and
// occupancy.
Table launches_table(const VariantResult& variant);
// One row per variant and kind of launch: compiler resources and theoretical occupancy for a chip that
// need not be present. Empty if nothing was compiled.
Table compiled_table(const Result& result);
// One row per cell and variant: time, speed-up over the first variant of the cell, launches, errors; wrong
// results are marked, refused cells give their reason.
Table sweep_table(const SweepResult& result);

// The measured limits of the machine in a sentence.
std::string words_of(const Ceilings& ceilings);

// "1980 MHz of 1980, not throttled": the clock of a GPU around the timed repeats, for narrow panels, and as a
// sentence.
std::string short_words_of(const Clocks& clocks);
std::string sentence_of(const Clocks& clocks);

// "sawtooth run scan --set length=8192 …", quoted for a shell: reproduces the numbers.
std::string command_of(const Request& request);
// "sawtooth sweep scan --over length=512,1024 …" likewise.
std::string command_of(const Sweep& sweep);

}  // namespace sawtooth
