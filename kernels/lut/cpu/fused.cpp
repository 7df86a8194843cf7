// As few launches as sums with one owner allow: an item of the batch owns its y and dx; a row of a table
// its gradient, which is the sum over the items that chose the row, written once.

#include <hwy/cache_control.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/scratch.h"
#include "kernels/lut/cpu/job.h"
#include "kernels/lut/describe.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

constexpr int64_t rows_a_tile = 256;
// Larger arrays do not fit into the last cache.
constexpr int64_t streamed_bytes = 16 << 20;

template <class Sum>
struct Scratch {
    std::vector<const float*> rows;
    std::vector<Sum> sums;
    std::vector<float> floats;
    std::vector<int32_t> starts;

    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
};

template <class Sums>
struct Fused {
    using Sum = typename Sums::Sum;
    const CpuJob& job;
    Sums sums;
    int32_t *sorted_rows, *sorted_items;  // [T, B]
    bool streams;

    static Scratch<Sum>& scratch() { return Scratch<Sum>::of_thread(); }
    static Sum* zeros(int64_t count) {
        Sum* const values = cpu::at_least(scratch().sums, count);
        std::fill_n(values, count, Sum{0});
        return values;
    }
    int64_t row_tiles() const { return ceil_divide(job.rows, rows_a_tile); }

    void look_up(int64_t tile) const {
        const Range items = tile_at(tile, items_a_tile, job.batch);
        check_detectors(job.check, items);
        for (int64_t b = items.first; b < items.last; ++b) {
            Sum* const y = zeros(job.outputs);
            job.sparse ? add_synapses(b, y) : add_rows(b, y);
            sums.finish(y, job.outputs, SumArray::y, job.y + b * job.outputs);
        }
    }

    void add_rows(int64_t b, Sum* y) const {
        const float** const rows = cpu::at_least(scratch().rows, job.detectors);
        for (int64_t t = 0; t < job.detectors; ++t)
            rows[t] = job.weights + job.weights_of(job.neuron(b, t)).first;
        sums.add_rows(rows, job.detectors, job.outputs, 1, y);
    }

    void add_synapses(int64_t b, Sum* y) const {
        for (int64_t t = 0; t < job.detectors; ++t) {
            const Range synapses = job.weights_of(job.neuron(b, t));
            for (int64_t s = synapses.first; s < synapses.last; ++s)
                y[job.targets[s]] += sums.term(job.weights[s]);
        }
    }

    void input_gradients(int64_t b) const {
        Sum* const dx = zeros(job.inputs);
        const float* const dy = job.dy_of(b);
        for (int64_t t = 0; t < job.detectors; ++t) {
            const int64_t alternative = job.alternative(b, t);
            if (alternative < 0) continue;
            job.propagate(sums, b, t, job.gather(sums, job.neuron(b, t), dy),
                          job.gather(sums, alternative, dy), dx);
        }
        sums.finish(dx, job.inputs, SumArray::dx, job.dx + b * job.inputs);
    }

    // A counting sort: items that chose the same row keep their order.
    void sort_by_neuron(int64_t t) const {
        int32_t* const starts = cpu::at_least(scratch().starts, job.rows);
        std::fill_n(starts, job.rows, 0);
        const auto row = [&](int64_t b) { return job.check.lookup_index[job.found_at(b, t)]; };
        for (int64_t b = 0; b < job.batch; ++b) ++starts[row(b)];
        for (int32_t r = 0, start = 0; r < job.rows; ++r) start += std::exchange(starts[r], start);
        for (int64_t b = 0; b < job.batch; ++b) {
            const int64_t at = t * job.batch + starts[row(b)]++;
            sorted_rows[at] = row(b);
            sorted_items[at] = static_cast<int32_t>(b);
        }
    }

    void weight_gradients(int64_t index) const {
        const int64_t t = index / row_tiles();
        const Range rows = tile_at(index % row_tiles(), rows_a_tile, job.rows);
        const int32_t* const first = sorted_rows + t * job.batch;
        const int32_t* at = std::lower_bound(first, first + job.batch, rows.first);
        for (int64_t row = rows.first; row < rows.last; ++row) {
            const int32_t* const start = at;
            while (at < first + job.batch && *at == row) ++at;
            put_gradients(t * job.rows + row, sorted_items + (start - sorted_rows), at - start);
        }
        if (streams) hwy::FlushStream();
    }

    // Of a neuron that these items chose.
    void put_gradients(int64_t neuron, const int32_t* items, int64_t count) const {
        const Range range = job.weights_of(neuron);
        const float** const rows = cpu::at_least(scratch().rows, count);
        for (int64_t i = 0; i < count; ++i) rows[i] = job.dy_of(items[i]);
        Sum* const gradients = zeros(range.count());
        if (!job.sparse) sums.add_rows(rows, count, job.outputs, job.lr, gradients);
        for (int64_t i = 0; job.sparse && i < count; ++i)
            for (int64_t s = range.first; s < range.last; ++s)
                gradients[s - range.first] += job.synapse_gradient(sums, s, rows[i]);
        float* const floats = cpu::at_least(scratch().floats, range.count());
        sums.finish(gradients, range.count(), SumArray::dweights, floats);
        put_row(floats, range.count(), job.dweights + range.first, streams);
        if (!job.weights_after) return;
        for (int64_t i = 0; i < range.count(); ++i) floats[i] = job.weights[range.first + i] - floats[i];
        put_row(floats, range.count(), job.weights_after + range.first, streams);
    }
};

template <class Sums>
void add_launches(cpu::PlanBuilder& builder, const CpuJob& job) {
    using Pass = Fused<Sums>;
    const int64_t sorted = job.dx ? job.batch * job.detectors : 0;
    const Pass& pass =
        builder.keep(Pass{job, Sums(builder), builder.take<int32_t>(sorted), builder.take<int32_t>(sorted),
                          4 * job.weights_count >= streamed_bytes});
    const auto add = [&](LaunchInfo info, const Side& items, void (Pass::*act)(int64_t) const) {
        builder.launch(std::move(info), items,
                       [&pass, act](const cpu::Item& item) { (pass.*act)(item.index); });
    };
    const PlanRequest& request = builder.request();
    const Side tables = side("T", job.detectors);
    add(describe::look_up(request), pieces("B", job.batch, items_a_tile), &Pass::look_up);
    if (!job.dx) return;
    add(describe::input_gradients(request), side("B", job.batch), &Pass::input_gradients);
    add(describe::sort_by_neuron(request), tables, &Pass::sort_by_neuron);
    add(describe::weight_gradients(request), tables * pieces("rows", job.rows, rows_a_tile),
        &Pass::weight_gradients);
}

}  // namespace

Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const CpuJob& job = builder.keep(CpuJob(builder));
    job.integer ? add_launches<IntegerSums>(builder, job) : add_launches<FloatSums>(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::lut
