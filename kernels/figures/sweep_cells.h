#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/sweep.h"
#include "kernels/figures/comparison.h"

namespace sawtooth {

// Compares the cells of a sweep.

// Whether a cell was not measured: it has neither a result nor a reason why it has none.
inline bool is_missing(const SweepCell& cell) { return !cell.result && cell.refused.empty(); }
// A sweep in which no cell was measured yet. It has all of them, so that they may be filled in any order.
SweepResult unmeasured(Sweep sweep);
// The number of cells that were measured or refused.
size_t count_of_measured(const SweepResult& sweep);
// "length 64; length 128; 3 more": the cells that are missing, or "".
std::string missing_words(const SweepResult& sweep);

// What to say of each cell about where it ran: those of device, host and worker (the command that started it)
// that are not the same for all cells. None if one machine ran them all.
struct PlaceColumn {
    const char* name;
    const std::string& (*text)(const Result& result);
};
std::vector<PlaceColumn> place_columns(const SweepResult& sweep);

// "chunk", "C_G": the parameters that take the values of the axis.
std::vector<std::string> names_of(const SweepAxis& axis);
// "chunk 64", "BLOCK_M 64, BLOCK_N 32", "chunk and C_G 64".
std::string cell_words(const Sweep& sweep, const std::vector<Value>& values);

// A parameter of the axes that changes the inputs or what is computed from them, so that the cells do
// different work; null if none does. A tiling does not, even where the inputs have its layout (BL of btp).
const Parameter* swept_inputs(const Sweep& sweep, const Family& family);
// Whether a cell may be called the fastest: all do the same work.
bool has_best(const Sweep& sweep, const Family& family);

// A search measures a cell several times: the samples of one visit follow those of the one before.
int repeats_of_visit(const Sweep& sweep, size_t visit);
// The median of every complete visit.
std::vector<double> visits_of(const Sweep& sweep, const TimeStatistics& time);

// Compares two cells of a sweep, which are measured apart. Cells that a search visited again took turns, so
// the medians of their visits are compared in turns, unless the repeats decide more.
Comparison compare_cells(const Sweep& sweep, const TimeStatistics& first, const TimeStatistics& second);
// The same as may_be_fastest for cells. In a search the first is the fastest of those visited most often.
std::vector<size_t> fastest_cells(const Sweep& sweep, const std::vector<const TimeStatistics*>& times);

// The indices of the cells that may be the fastest of those in which one variant is right, on one chip. The
// first has the least median, in a search among the cells visited most often.
struct BestCells {
    std::string variant;
    std::vector<size_t> cells;
    // The cells that a search did not visit again because their medians were longer.
    std::vector<size_t> left_out = {};
    std::string device = "";  // the chip, if the sweep ran on several: times of two chips are not compared
};
BestCells best_cells(const SweepResult& sweep, const std::string& variant, const std::string& device = "");
// The best cells of every variant that has right results in several cells (or in the only one), in the order
// of the family, on every chip.
std::vector<BestCells> best_cells(const SweepResult& sweep);
// The result of the variant in a cell if it is timed and right, otherwise null.
const VariantResult* right_in(const SweepCell& cell, const std::string& variant);

// "chunk 64", "chunk 64 or 128 (which of them cannot be told)", "BLOCK_M x BLOCK_N 64 x 32".
std::string fastest_words(const SweepResult& sweep, const BestCells& best);
// "fused: chunk 64, 12.3 us (quartiles 12.1 us to 12.6 us), 2.4x faster than 32, 1.8x faster than 128".
std::string best_words(const SweepResult& sweep, const BestCells& best);

}  // namespace sawtooth
