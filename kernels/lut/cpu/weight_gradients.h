#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <utility>

#include "kernels/core/grid.h"
#include "kernels/lut/cpu/job.h"
#include "kernels/lut/cpu/scratch.h"

namespace sawtooth::lut {

// The gradient of a row is the sum over the items that chose it, written once. So the items of each detector
// are sorted by their rows; an item may choose several.
template <class Sums>
class WeightGradients {
    using Sum = typename Sums::Sum;

  public:
    // `choices`: how often items choose a row of each detector. Null memory without a backward pass.
    WeightGradients(PlanBuilder& builder, const CpuJob& job, const Sums& sums, int64_t choices)
        : job_(job),
          sums_(sums),
          choices_(job.dweights ? choices : 0),
          streams_(4 * job.weights_count >= streamed_bytes),
          sorted_rows_(builder.take<int32_t>(job.detectors * choices_)),
          sorted_items_(builder.take<int32_t>(job.detectors * choices_)) {}

    // A counting sort: items that chose the same row keep their order. `for_choices(act)` calls
    // act(row, item) for all choices of the detector.
    template <class ForChoices>
    void sort(int64_t t, ForChoices for_choices) const {
        int64_t* const starts = cpu::at_least(Scratch<Sum>::of_thread().starts, job_.rows);
        std::fill_n(starts, job_.rows, 0);
        for_choices([&](int64_t row, int64_t) { ++starts[row]; });
        for (int64_t row = 0, start = 0; row < job_.rows; ++row) start += std::exchange(starts[row], start);
        for_choices([&](int64_t row, int64_t item) {
            const int64_t at = t * choices_ + starts[row]++;
            sorted_rows_[at] = static_cast<int32_t>(row);
            sorted_items_[at] = static_cast<int32_t>(item);
        });
    }

    Side tiles() const { return side("T", job_.detectors) * pieces("rows", job_.rows, rows_a_tile); }

    void write(int64_t tile) const {
        const int64_t row_tiles = ceil_divide(job_.rows, rows_a_tile), t = tile / row_tiles;
        const Range rows = tile_at(tile % row_tiles, rows_a_tile, job_.rows);
        const int32_t *const first = sorted_rows_ + t * choices_, *const last = first + choices_;
        const int32_t* at = std::lower_bound(first, last, rows.first);
        Range part{rows.first, rows.first};
        while (part.last < rows.last) {
            part = {part.last, part.last + 1};
            while (part.last < rows.last && weights_of(t, {part.first, part.last + 1}).count() <= together)
                ++part.last;
            const Range weights = weights_of(t, part);
            Sum* const gradients = Scratch<Sum>::of_thread().zeros(weights.count());
            while (at < last && *at < part.last) {
                const int32_t* const start = at;
                while (at < last && *at == *start) ++at;
                const int64_t neuron = t * job_.rows + *start;
                add(neuron, sorted_items_ + (start - sorted_rows_), at - start,
                    gradients + (job_.weights_of(neuron).first - weights.first));
            }
            put(gradients, weights);
        }
        if (streams_) hwy::FlushStream();
    }

  private:
    static constexpr int64_t rows_a_tile = 256;
    // Weights whose gradients are summed before they are written, so that short rows cost no calls.
    static constexpr int64_t together = 2048;
    // Larger arrays do not fit into the last cache.
    static constexpr int64_t streamed_bytes = 16 << 20;

    // Of some rows of a detector.
    Range weights_of(int64_t t, Range rows) const {
        return {job_.weights_of(t * job_.rows + rows.first).first,
                job_.weights_of(t * job_.rows + rows.last - 1).last};
    }

    // The gradients of a neuron that these items chose.
    void add(int64_t neuron, const int32_t* items, int64_t count, Sum* gradients) const {
        const float** const rows = cpu::at_least(Scratch<Sum>::of_thread().rows, count);
        for (int64_t i = 0; i < count; ++i) rows[i] = job_.dy_of(items[i]);
        if (!job_.sparse) sums_.add_rows(rows, count, job_.outputs, job_.lr, gradients);
        const Range range = job_.weights_of(neuron);
        for (int64_t i = 0; job_.sparse && i < count; ++i)
            for (int64_t s = range.first; s < range.last; ++s)
                gradients[s - range.first] += job_.synapse_gradient(sums_, s, rows[i]);
    }

    void put(const Sum* gradients, Range range) const {
        float* const floats = cpu::at_least(Scratch<Sum>::of_thread().floats, range.count());
        sums_.finish(gradients, range.count(), fault_dweights, floats);
        put_row(floats, range.count(), job_.dweights + range.first, streams_);
        if (!job_.weights_after) return;
        for (int64_t i = 0; i < range.count(); ++i) floats[i] = job_.weights[range.first + i] - floats[i];
        put_row(floats, range.count(), job_.weights_after + range.first, streams_);
    }

    const CpuJob& job_;
    Sums sums_;
    int64_t choices_;
    bool streams_;
    int32_t *sorted_rows_, *sorted_items_;  // [T, choices]
};

}  // namespace sawtooth::lut
