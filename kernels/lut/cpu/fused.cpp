// Every sum has one owner, and there are as few launches as that allows. An item of the batch owns its y and
// dx. A row of a table owns its gradient, which is summed over the items that chose the row and written once.

#include <algorithm>

#include "kernels/lut/cpu/plan.h"
#include "kernels/lut_table/cpu/scratch.h"
#include "kernels/lut_table/cpu/weight_gradients.h"

namespace sawtooth::lut {
namespace {

template <class Sum>
struct LookUpRooms {
    CheckRooms check;
    const float** rows;
    Sum* y;

    LookUpRooms(cpu::Scratch& scratch, const Tensors& job)
        : check(scratch, job),
          rows(scratch.take<const float*>(job.sparse ? 0 : job.detectors)),
          y(scratch.take<Sum>(job.outputs)) {}
};

template <class Sums>
struct Fused {
    using Sum = typename Sums::Sum;
    const Tensors& job;
    Sums sums;
    WeightGradients<Sums> gradients;

    void look_up(int64_t tile, cpu::Scratch scratch) const {
        const auto rooms = cpu::take_rooms<LookUpRooms<Sum>>(scratch, job);
        Sum* const y = rooms.y;
        float* const to = job.y.as<float>();
        const Range items = tile_at(tile, items_a_tile, job.batch);
        check_detectors(job, items, rooms.check);
        for (int64_t b = items.first; b < items.last; ++b) {
            std::fill_n(y, job.outputs, Sum{0});
            job.sparse ? add_synapses(b, y) : add_rows(b, rooms.rows, y);
            sums.finish(y, job.outputs, fault_y, to + b * job.outputs);
        }
    }

    void add_rows(int64_t b, const float** rows, Sum* y) const {
        for (int64_t t = 0; t < job.detectors; ++t)
            rows[t] = job.table.weights + job.weights_of(job.neuron(b, t)).first;
        sums.add_rows(rows, job.detectors, job.outputs, 1, y);
    }

    void add_synapses(int64_t b, Sum* y) const {
        for (int64_t t = 0; t < job.detectors; ++t) {
            const Range synapses = job.weights_of(job.neuron(b, t));
            for (int64_t s = synapses.first; s < synapses.last; ++s)
                y[job.table.targets[s]] += sums.term(job.table.weights[s]);
        }
    }

    int64_t sums_a_tile() const { return std::min(job.batch, items_a_tile) * job.inputs; }

    // A tile has several items, so that all but the first find the table of a detector in the cache.
    void input_gradients(int64_t tile, cpu::Scratch scratch) const {
        const Range items = tile_at(tile, items_a_tile, job.batch);
        Sum* const dx = cpu::take_rooms<SumRooms<Sum>>(scratch, sums_a_tile()).sums;
        std::fill_n(dx, items.count() * job.inputs, Sum{0});
        const auto dx_of = [&](int64_t b) { return dx + (b - items.first) * job.inputs; };
        for (int64_t t = 0; t < job.detectors; ++t)
            for (int64_t b = items.first; b < items.last; ++b) {
                const int64_t alternative = job.alternative(b, t);
                if (alternative < 0) continue;
                const float* const dy = job.dy_of(b);
                propagate(job, sums, b, t, gather(job, sums, job.neuron(b, t), dy),
                          gather(job, sums, alternative, dy), dx_of(b));
            }
        for (int64_t b = items.first; b < items.last; ++b)
            sums.finish(dx_of(b), job.inputs, fault_dx, job.dx.as<float>() + b * job.inputs);
    }

    void sort_by_neuron(int64_t t, cpu::Scratch scratch) const {
        gradients.sort(t, scratch, [&](auto act) {
            for (int64_t b = 0; b < job.batch; ++b) act(job.bits.lookup_index[job.found_at(b, t)], b);
        });
    }

    void weight_gradients(int64_t tile, cpu::Scratch scratch) const { gradients.write(tile, scratch); }
};

template <class Sums>
void add_launches(cpu::PlanBuilder& builder, const Tensors& job) {
    using Kernels = Fused<Sums>;
    using Sum = typename Sums::Sum;
    const Sums sums(builder);
    const Sorted sorted = job.take_sorted(builder, "sorted_items", job.batch);
    const Kernels& kernels = builder.keep(Kernels{job, sums, WeightGradients<Sums>(job, sums, sorted)});
    const auto add = [&](LaunchInfo info, int64_t scratch, const Side& items, auto kernel) {
        builder.launch(with_scratch(std::move(info), scratch), items, calls(kernels, kernel));
    };
    const Side tiles = pieces("B", job.batch, items_a_tile);
    add(look_up(job), cpu::scratch_bytes<LookUpRooms<Sum>>(job), tiles, &Kernels::look_up);
    if (!job.dx) return;
    add(input_gradients(job), cpu::scratch_bytes<SumRooms<Sum>>(kernels.sums_a_tile()), tiles,
        &Kernels::input_gradients);
    add(sort_by_neuron(job, sorted), kernels.gradients.sort_bytes(), side("T", job.detectors),
        &Kernels::sort_by_neuron);
    add(weight_gradients(job, sorted), kernels.gradients.write_bytes(), kernels.gradients.tiles(),
        &Kernels::weight_gradients);
}

}  // namespace

Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request) {
    return plan_of(request, add_launches<FloatSums>, add_launches<IntegerSums>);
}

}  // namespace sawtooth::lut
