#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/btp/sizes.h"
#include "kernels/figures/figures.h"

namespace sawtooth::btp {

// Helpers of the figures, and the functions that make them, with one file per subject.

// The parts of a result that figures show. An index beyond its dimension means the last one.
struct Drawn : Sizes {
    explicit Drawn(const Parameters& parameters);

    Order order;
    int64_t batch = 0, head = 0, channel = 0;
    int64_t head_index = 0;  // among the heads of all sequences
    int64_t block_index = 0;

    Range block_positions() const { return positions(block_index); }
    // The gates of the head, the gates of the block, and u of a channel of the head.
    std::span<const float> gates(const Result& result) const;
    std::span<const float> gates_of_block(const Result& result) const;
    std::span<const float> inputs(const Result& result, int64_t channel) const;
    // carry0 of the head, by channel; zeros if it is absent.
    std::vector<float> first_carries(const Result& result) const;
    std::string words() const;           // "sequence 0, head 1"
    std::string words_of_block() const;  // "positions 16 to 31"
};

// Returns the block lengths that figures compare: those of tensor cores, and that of the result.
std::vector<int64_t> compared_lengths(const Sizes& sizes);
// Returns the median of the first 65,536 gates, which are enough to judge by.
double median_gate(std::span<const float> gates);
// Marks the starts of blocks if there is room.
void add_borders(Figure& figure, const Sizes& sizes, const View& view);

// outputs.cpp: outputs and gradients over the reference, carries along the blocks, errors.
std::vector<Figure> output_figures(const Result& result, const View& view);
// truncation.cpp: "truncation", the errors of orders 1 and 2 against the exact recurrence, by position.
Figure truncation_figure(const Result& result, const View& view);
// truncation_by_gate.cpp: the error of order 2 with a constant gate, for every block length.
Figure truncation_by_gate_figure(const Result& result);
// transfer.cpp: "transfer-matrix", Lmat of the drawn block.
Figure transfer_figure(const Result& result);
// constructions.cpp: errors of the constructions of Lmat, by gate and by block length.
std::vector<Figure> construction_figures(const Result& result);
// rank_one.cpp: the update of the second pass in the drawn block, g c^T.
std::vector<Figure> rank_one_figures(const Result& result);
// speed.cpp: the rate of every variant beside that of a copy, and the time per token of variants that go
// token by token and of fused.
std::vector<Figure> speed_figures(const Result& result);

}  // namespace sawtooth::btp
