#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <utility>

#include "kernels/core/grid.h"
#include "kernels/lut_table/cpu/gradients.h"
#include "kernels/lut_table/cpu/scratch.h"

namespace sawtooth::lut_table {

// Computes the gradient of each row as the sum over the items that chose it, and writes it once. For this the
// items of each detector are sorted by the rows that they chose; an item may have chosen several.
template <class Sums>
class WeightGradients {
    using Sum = typename Sums::Sum;

  public:
    // `sorted` is absent without a backward pass.
    WeightGradients(const Tensors& job, const Sums& sums, const Sorted& sorted)
        : job_(job),
          sums_(sums),
          choices_(sorted.rows ? sorted.rows.shape.back() : 0),
          most_weights_(job.sparse ? together : std::max(together, job.outputs)),
          streams_(job.weights.bytes() >= streamed_bytes),
          sorted_rows_(sorted.rows.as<int32_t>()),
          sorted_items_(sorted.items.as<int32_t>()) {}

    // A counting sort: items that chose the same row keep their order. `for_choices(act)` calls
    // act(row, item) for all choices of the detector.
    template <class ForChoices>
    void sort(int64_t t, cpu::Scratch scratch, ForChoices for_choices) const {
        int64_t* const starts = cpu::take_rooms<SortRooms>(scratch, job_.rows).starts;
        std::fill_n(starts, job_.rows, 0);
        for_choices([&](int64_t row, int64_t) { ++starts[row]; });
        for (int64_t row = 0, start = 0; row < job_.rows; ++row) start += std::exchange(starts[row], start);
        for_choices([&](int64_t row, int64_t item) {
            const int64_t at = t * choices_ + starts[row]++;
            sorted_rows_[at] = static_cast<int32_t>(row);
            sorted_items_[at] = static_cast<int32_t>(item);
        });
    }
    int64_t sort_bytes() const { return cpu::scratch_bytes<SortRooms>(job_.rows); }

    Side tiles() const { return side("T", job_.detectors) * pieces("rows", job_.rows, rows_a_tile); }

    void write(int64_t tile, cpu::Scratch scratch) const {
        const auto rooms = cpu::take_rooms<WriteRooms>(scratch, most_weights_);
        const int64_t row_tiles = ceil_divide(job_.rows, rows_a_tile), t = tile / row_tiles;
        const Range rows = tile_at(tile % row_tiles, rows_a_tile, job_.rows);
        const int32_t *const first = sorted_rows_ + t * choices_, *const last = first + choices_;
        const int32_t* at = std::lower_bound(first, last, rows.first);
        Range some{rows.first, rows.first};
        while (some.last < rows.last) {
            some = {some.last, some.last + 1};
            while (some.last < rows.last && weights_of(t, {some.first, some.last + 1}).count() <= together)
                ++some.last;
            const int32_t* const end = std::lower_bound(at, last, some.last);
            const Range weights = weights_of(t, some);
            for (int64_t from = weights.first; from < weights.last; from += most_weights_)
                write_gradients(t, at, end, {from, std::min(from + most_weights_, weights.last)}, rooms);
            at = end;
        }
        if (streams_) hwy::FlushStream();
    }
    int64_t write_bytes() const { return cpu::scratch_bytes<WriteRooms>(most_weights_); }

  private:
    struct SortRooms {
        int64_t* starts;  // [rows]: where each begins

        SortRooms(cpu::Scratch& scratch, int64_t rows) : starts(scratch.take<int64_t>(rows)) {}
    };
    struct WriteRooms {
        const float** rows;
        Sum* gradients;
        float* floats;

        WriteRooms(cpu::Scratch& scratch, int64_t weights)
            : rows(scratch.take<const float*>(rows_at_once)),
              gradients(scratch.take<Sum>(weights)),
              floats(scratch.take<float>(weights)) {}
    };

    static constexpr int64_t rows_a_tile = 256;
    // The number of weights whose gradients are summed before they are written, so that short rows do not
    // cost a call each.
    static constexpr int64_t together = 2048;
    // Larger arrays do not fit into the last cache.
    static constexpr double streamed_bytes = 16 << 20;

    // The weights of several rows of a detector.
    Range weights_of(int64_t t, Range rows) const {
        return {job_.weights_of(t * job_.rows + rows.first).first,
                job_.weights_of(t * job_.rows + rows.last - 1).last};
    }

    // Writes the gradients of at most most_weights_ weights, from the choices of their rows.
    void write_gradients(int64_t t, const int32_t* at, const int32_t* end, Range weights,
                         const WriteRooms& rooms) const {
        Sum* const gradients = rooms.gradients;
        std::fill_n(gradients, weights.count(), Sum{0});
        while (at < end) {
            const int32_t* const start = at;
            while (at < end && *at == *start) ++at;
            const int64_t neuron = t * job_.rows + *start;
            const int32_t* const items = sorted_items_ + (start - sorted_rows_);
            if (job_.sparse)
                add_synapses(neuron, items, at - start, weights, gradients);
            else
                add_rows(items, at - start, rooms.rows,
                         gradients + (job_.weights_of(neuron).first - weights.first));
        }
        put(gradients, weights, rooms.floats);
    }

    // Adds the gradients of a neuron that these items chose.
    void add_rows(const int32_t* items, int64_t count, const float** rows, Sum* gradients) const {
        for (; count > 0; items += rows_at_once, count -= rows_at_once) {
            const int64_t some = std::min(count, rows_at_once);
            for (int64_t i = 0; i < some; ++i) rows[i] = job_.dy_of(items[i]);
            sums_.add_rows(rows, some, job_.outputs, job_.lr, gradients);
        }
    }

    // The same for the synapses of the neuron that are among `weights`.
    void add_synapses(int64_t neuron, const int32_t* items, int64_t count, Range weights,
                      Sum* gradients) const {
        const Range all = job_.weights_of(neuron);
        const Range range{std::max(all.first, weights.first), std::min(all.last, weights.last)};
        for (int64_t i = 0; i < count; ++i) {
            const float* const dy = job_.dy_of(items[i]);
            for (int64_t s = range.first; s < range.last; ++s)
                gradients[s - weights.first] += synapse_gradient(job_, sums_, s, dy);
        }
    }

    void put(const Sum* gradients, Range range, float* floats) const {
        sums_.finish(gradients, range.count(), fault_dweights, floats);
        put_row(floats, range.count(), job_.dweights.as<float>() + range.first, streams_);
        if (!job_.weights_after) return;
        for (int64_t i = 0; i < range.count(); ++i)
            floats[i] = job_.table.weights[range.first + i] - floats[i];
        put_row(floats, range.count(), job_.weights_after.as<float>() + range.first, streams_);
    }

    const Tensors& job_;
    Sums sums_;
    int64_t choices_;
    // The most weights whose gradients are summed at once. A plan does not know how long sparse rows are, so
    // longer rows are split.
    int64_t most_weights_;
    bool streams_;
    int32_t *sorted_rows_, *sorted_items_;  // [T, choices]
};

}  // namespace sawtooth::lut_table
