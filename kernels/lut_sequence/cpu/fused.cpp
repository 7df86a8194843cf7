// Pairs are added to sums without events in between. Every sum has one owner: a position owns its y, its dx
// and the du of its pairs with earlier positions, a distance owns its dpositional, and a row of a table its
// gradient.

#include <algorithm>

#include "kernels/lut_sequence/cpu/plan.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/cpu/launches.h"
#include "kernels/lut_table/cpu/scratch.h"
#include "kernels/lut_table/cpu/weight_gradients.h"

namespace sawtooth::lut_sequence {
namespace {

template <class Sum>
struct LookUpRooms {
    const float** rows;  // the rows of one table that the pairs of a position choose
    Sum* y;

    LookUpRooms(cpu::Scratch& scratch, const CpuJob& job)
        : rows(scratch.take<const float*>(job.sparse ? 0 : job.sizes.distances())),
          y(scratch.take<Sum>(job.outputs)) {}
};

template <class Sums>
struct Fused {
    using Sum = typename Sums::Sum;
    const CpuJob& job;
    Sums sums;
    WeightGradients<Sums> gradients;
    Sum *du, *positional_du;  // [T, B, pairs]

    int64_t du_at(const Pair& p) const {
        const int64_t sequence = p.detector * job.sizes.batch + p.item;
        return sequence * job.sizes.pairs() + p.j * (p.j - 1) / 2 + p.i;
    }

    // The rows that a position chooses from one table have the same query bits, so they lie close together.
    void look_up_pairs(int64_t position, cpu::Scratch scratch) const {
        const auto rooms = cpu::take_rooms<LookUpRooms<Sum>>(scratch, job);
        Sum* const y = rooms.y;
        std::fill_n(y, job.outputs, Sum{0});
        for (int64_t t = 0; t < job.detectors; ++t)
            job.sparse ? add_synapses(position, t, y) : add_rows(position, t, rooms.rows, y);
        sums.finish(y, job.outputs, fault_y, job.y.as<float>() + position * job.outputs);
    }

    // Calls act(pair) for the pairs of a position with all earlier ones.
    template <class Act>
    void for_earlier(int64_t position, int64_t t, Act act) const {
        const int64_t item = position / job.sizes.length, j = position % job.sizes.length;
        for (int64_t i = 0; i < j; ++i) act(Pair{item, i, j, t});
    }

    void add_rows(int64_t position, int64_t t, const float** rows, Sum* y) const {
        int64_t count = 0;
        for_earlier(position, t, [&](const Pair& pair) {
            rows[count++] = job.table.weights + job.weights_of(job.neuron_of(pair)).first;
        });
        sums.add_rows(rows, count, job.outputs, 1, y);
    }

    void add_synapses(int64_t position, int64_t t, Sum* y) const {
        for_earlier(position, t, [&](const Pair& pair) {
            const Range synapses = job.weights_of(job.neuron_of(pair));
            for (int64_t s = synapses.first; s < synapses.last; ++s)
                y[job.table.targets[s]] += sums.term(job.table.weights[s]);
        });
    }

    // Items are in the order of the tables, so that a table stays in the caches.
    void pair_gradients(int64_t index) const {
        const int64_t position = index % job.items;
        for_earlier(position, index / job.items,
                    [&](const Pair& pair) { put_pair(pair, job.dy_of(position)); });
    }

    void put_pair(const Pair& pair, const float* dy) const {
        const int64_t at = du_at(pair), neuron = job.neuron_of(pair);
        const int64_t alternative = job.alternative_of(pair, neuron);
        const int64_t positional = job.positional_alternative_of(pair, neuron);
        du[at] = 0;
        if (job.sizes.positional > 0) positional_du[at] = 0;
        if (alternative < 0 && positional < 0) return;
        const Sum main = gather(job, sums, neuron, dy);
        if (alternative >= 0)
            du[at] = gradient(job, sums, job.weaker_delta(pair), main, gather(job, sums, alternative, dy));
        if (positional >= 0)
            positional_du[at] = gradient(job, sums, job.distance_bits.min_delta[job.distance_at(pair)], main,
                                         gather(job, sums, positional, dy));
    }

    // Sums du of a position. All pairs in which a detector's bit of this position flips have the same two
    // anchors.
    void position_gradients(int64_t position, cpu::Scratch scratch) const {
        Sum* const dx = cpu::take_rooms<SumRooms<Sum>>(scratch, job.inputs).sums;
        std::fill_n(dx, job.inputs, Sum{0});
        for (int64_t t = 0; t < job.detectors; ++t) {
            const int32_t bit = job.bits.min_delta_index[job.found_at(position, t)];
            if (bit < 0) continue;
            const Sum total = position_gradient(position, t);
            const int32_t* const anchors = job.pairs + (t * job.anchors + bit) * 2;
            dx[anchors[0]] += total;
            dx[anchors[1]] -= total;
        }
        sums.finish(dx, job.inputs, fault_dx, job.dx.as<float>() + position * job.inputs);
    }

    Sum position_gradient(int64_t position, int64_t t) const {
        const int64_t item = position / job.sizes.length, own = position % job.sizes.length;
        Sum total = 0;
        for_earlier(position, t, [&](const Pair& pair) {
            if (job.flips_query(pair)) total += du[du_at(pair)];
        });
        for (int64_t j = own + 1; j < job.sizes.length; ++j)
            if (const Pair pair = {item, own, j, t}; !job.flips_query(pair)) total += du[du_at(pair)];
        return total;
    }

    // Sums positional_du over all pairs of every distance of a detector, in the order of du.
    void distance_gradients(int64_t t, cpu::Scratch scratch) const {
        const int64_t bits = job.sizes.positional, distances = job.sizes.distances();
        Sum* const totals = cpu::take_rooms<SumRooms<Sum>>(scratch, distances).sums;
        std::fill_n(totals, distances, Sum{0});
        for (int64_t position = 0; position < job.items; ++position)
            for_earlier(position, t,
                        [&](const Pair& pair) { totals[pair.j - pair.i - 1] += positional_du[du_at(pair)]; });
        for (int64_t distance = 0; distance < distances; ++distance) {
            const int64_t at = distance * job.detectors + t;
            float* const to = job.dpositional.as<float>() + at * bits;
            std::fill_n(to, bits, 0.0f);
            sums.finish(totals + distance, 1, fault_dpositional, to + job.distance_bits.min_delta_index[at]);
        }
    }

    void sort_by_neuron(int64_t t, cpu::Scratch scratch) const {
        gradients.sort(t, scratch, [&](auto act) {
            for (int64_t position = 0; position < job.items; ++position)
                for_earlier(position, t,
                            [&](const Pair& pair) { act(job.neuron_of(pair) - t * job.rows, position); });
        });
    }

    void weight_gradients(int64_t tile, cpu::Scratch scratch) const { gradients.write(tile, scratch); }
};

template <class Sums>
void add_launches(cpu::PlanBuilder& builder, const CpuJob& job) {
    using Kernels = Fused<Sums>;
    using Sum = typename Sums::Sum;
    const Sizes& s = job.sizes;
    const Sums sums(builder);
    const Sorted sorted = job.take_sorted(builder, "sorted_positions", s.batch * s.pairs());
    const PairGradients to(builder, job, {job.dx ? s.detectors : 0, s.batch, s.pairs()});
    const Kernels& kernels =
        builder.keep(Kernels{job, sums, WeightGradients<Sums>(job, sums, sorted), to.du.template as<Sum>(),
                             to.positional_du.template as<Sum>()});
    // Later positions have more pairs, so positions are dealt to the workers in turn.
    const auto add = [&](LaunchInfo info, int64_t scratch, const Side& items, auto kernel) {
        builder.launch(with_scratch(std::move(info), scratch), items, cpu::Split::cyclic,
                       calls(kernels, kernel));
    };
    const Side positions = side("B", s.batch) * side("S", s.length), tables = side("T", s.detectors);
    const auto sums_bytes = [](int64_t count) { return cpu::scratch_bytes<SumRooms<Sum>>(count); };
    add(look_up_pairs(job), cpu::scratch_bytes<LookUpRooms<Sum>>(job), positions, &Kernels::look_up_pairs);
    if (!job.dx) return;
    add(pair_gradients(job, to), 0, tables * positions, &Kernels::pair_gradients);
    add(position_gradients(job, to.du), sums_bytes(job.inputs), positions, &Kernels::position_gradients);
    if (s.positional > 0)
        add(distance_gradients(job, to.positional_du), sums_bytes(s.distances()), tables,
            &Kernels::distance_gradients);
    add(sort_by_neuron(job, sorted), kernels.gradients.sort_bytes(), tables, &Kernels::sort_by_neuron);
    add(weight_gradients(job, sorted), kernels.gradients.write_bytes(), kernels.gradients.tiles(),
        &Kernels::weight_gradients);
}

}  // namespace

Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request) {
    return plan_of(request, add_launches<FloatSums>, add_launches<IntegerSums>);
}

}  // namespace sawtooth::lut_sequence
