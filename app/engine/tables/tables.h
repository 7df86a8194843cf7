#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"
#include "kernels/core/sweep.h"
#include "kernels/core/table.h"

namespace sawtooth {

// One row per variant with time and spread, rate, errors, launches, memory and metrics, or why it was
// refused.
Table numbers_table(const Result& result);
// The same table without refused variants, for places that print skipped_lines.
Table measured_table(const Result& result);
// One line for each variant that did not run: "lattice_gla skipped: needs rule lattice".
std::vector<std::string> skipped_lines(const Result& result);
// The notes that no skipped line repeats, and one if there are too few repeats to compare the variants.
std::vector<std::string> other_notes(const Result& result);
// One row per variant and output with the distance to the reference.
Table errors_table(const Result& result);
// One row per launch with name, grid, start, duration and bytes per second; on a GPU also its resources and
// occupancy.
Table launches_table(const VariantResult& variant, int processors);
// One row per variant and kind of launch with compiler resources and theoretical occupancy, for a chip that
// need not be present. Empty if nothing was compiled.
Table compiled_table(const Result& result);

// One row's words on all launches compiled for a variant: the most registers of a thread, bytes of shared
// memory of a block and spilled bytes of a thread, and the lowest theoretical occupancy with what limits it.
// Without launches all are "".
std::vector<Table::Column> compiled_columns();
std::vector<std::string> compiled_words(const std::vector<CompiledLaunch>& launches);
std::string compiled_legend(const std::string& architecture);
// One row per cell and variant with time, speed-up over the first variant of the cell, launches and errors;
// wrong results are marked, and refused cells give their reason.
Table sweep_table(const SweepResult& result);

// The measured limits of the machine in a sentence.
std::string words_of(const Ceilings& ceilings);

// The clock of a GPU around the timed repeats: "1980 MHz of 1980, not throttled" for narrow panels, or a full
// sentence.
std::string short_words_of(const Clocks& clocks);
std::string sentence_of(const Clocks& clocks);

}  // namespace sawtooth
