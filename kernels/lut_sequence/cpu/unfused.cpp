// Every kernel of the document (lut_table::source) is a launch. Every sum has one owner and one order: a
// position owns its y, dx and events, a detector owns the gradients of its table, a distance its dpositional.
// Slots of the hash table may be claimed in any order, because the sum of a slot does not depend on it.

#include <algorithm>
#include <utility>

#include "kernels/lut_sequence/cpu/events.h"
#include "kernels/lut_sequence/cpu/gradient_table.h"
#include "kernels/lut_sequence/cpu/plan.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/cpu/launches.h"
#include "kernels/lut_table/cpu/scratch.h"

namespace sawtooth::lut_sequence {
namespace {

template <class Sums>
struct Unfused {
    using Sum = typename Sums::Sum;
    using Real = typename Sums::Real;
    const CpuJob& job;
    const EventJob& events;
    Sums sums;
    Sum* dweights;

    GradientTable table_of(int64_t item) const {
        const int64_t first = item * job.sizes.hash_width();
        const Passed& passed = events.passed;
        return {passed.hash_table.as<HashEntry>() + first, passed.hash_table_high.as<int32_t>() + first,
                HashStart(job.sizes)};
    }

    void fill_outputs_by_sparse_firings(int64_t index, cpu::Scratch scratch) const {
        const int64_t position = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks),
                    fired = events.main.events_of(position);
        Sum* const to = events.passed.y.as<Sum>() + position * job.outputs;
        const float** const rows = cpu::take_rooms<RowRooms>(scratch, rows_at_once).rows;
        int64_t count = 0;
        const auto add_collected = [&] {
            sums.add_rows(rows, std::exchange(count, 0), outputs.count(), 1, to + outputs.first);
        };
        for (int64_t e = fired.first; e < fired.last; ++e) {
            const Event& event = events.main.events[e];
            const Range range = job.weights_of(event.neuron);
            for (int32_t i = 0; !job.sparse && i < event.count; ++i) {
                if (count == rows_at_once) add_collected();
                rows[count++] = job.table.weights + range.first + outputs.first;
            }
            for (int64_t s = range.first; job.sparse && s < range.last; ++s)
                if (job.table.targets[s] >= outputs.first && job.table.targets[s] < outputs.last)
                    to[job.table.targets[s]] +=
                        static_cast<Sum>(event.count) * sums.term(job.table.weights[s]);
        }
        add_collected();
    }

    // The first event of a neuron at a position computes the sum.
    void gather_x_gradients(const EventBuffer& buffer, int64_t position) const {
        const GradientTable table = table_of(position / job.sizes.length);
        const Range fired = buffer.events_of(position);
        for (int64_t e = fired.first; e < fired.last; ++e) {
            const Event& event = buffer.events[e];
            int64_t slot = 0;
            const auto claim = table.claim(event.neuron, position % job.sizes.length, slot);
            if (claim == GradientTable::Claim::full) note_full(events, room_hash_table, position);
            if (claim != GradientTable::Claim::claimed) continue;
            const auto number = static_cast<int32_t>(event.count > 0 ? e + 1 : -(e + 1));
            table.store(slot, number, gather(job, sums, event.neuron, job.dy_of(position)));
        }
    }

    void gather_w_gradients(int64_t index, cpu::Scratch scratch) const {
        const float** const rows = cpu::take_rooms<RowRooms>(scratch, rows_at_once).rows;
        const int64_t t = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks);
        for (int64_t position = 0; position < job.items; ++position) {
            const Range fired = events.main.events_of(position, t);
            for (int64_t e = fired.first; e < fired.last; ++e)
                add_gradient(events.main.events[e], outputs, rows);
        }
        for (int64_t row = t * job.rows; row < (t + 1) * job.rows; ++row) subtract(row, outputs);
    }

    void add_gradient(const Event& event, Range outputs, const float** rows) const {
        const float* const dy = job.dy_of(event.position);
        const Range range = job.weights_of(event.neuron);
        if (!job.sparse) {
            std::fill_n(rows, std::min<int64_t>(event.count, rows_at_once), dy + outputs.first);
            for (int64_t left = event.count; left > 0; left -= rows_at_once)
                sums.add_rows(rows, std::min(left, rows_at_once), outputs.count(), job.lr,
                              dweights + range.first + outputs.first);
            return;
        }
        for (int64_t s = range.first; s < range.last; ++s)
            if (job.table.targets[s] >= outputs.first && job.table.targets[s] < outputs.last)
                dweights[s] += static_cast<Sum>(event.count) * synapse_gradient(job, sums, s, dy);
    }

    // Float gradients are final here; integer ones are subtracted after their conversion.
    void subtract(int64_t neuron, Range outputs) const {
        if (!job.subtracts()) return;
        const Range range = job.weights_of(neuron);
        for (int64_t at = range.first; at < range.last; ++at) {
            const int64_t output = job.sparse ? job.table.targets[at] : at - range.first;
            if (output >= outputs.first && output < outputs.last) subtract_gradients(job, {at, at + 1});
        }
    }

    void propagate_through_detectors(int64_t index) const {
        if (index < job.items)
            propagate_to_position(index);
        else
            propagate_to_distance(index - job.items);
    }

    // Adds the gradients of the pairs with other positions in which the bit of this position is the weaker
    // one.
    void propagate_to_position(int64_t position) const {
        const int64_t item = position / job.sizes.length, own = position % job.sizes.length;
        const GradientTable table = table_of(item);
        Sum* const dx = events.passed.dx.as<Sum>();
        for (int64_t t = 0; t < job.detectors; ++t)
            for (int64_t other = 0; other < job.sizes.length; ++other) {
                const Pair pair = {item, std::min(own, other), std::max(own, other), t};
                if (other == own || job.flips_query(pair) != (own > other)) continue;
                const int64_t main = job.neuron_of(pair), flipped = job.alternative_of(pair, main);
                if (flipped < 0) continue;
                propagate(job, sums, position, t, table.find<Sum>(main, pair.j),
                          table.find<Sum>(flipped, pair.j), dx + position * job.inputs);
            }
    }

    void propagate_to_distance(int64_t distance) const {
        Sum* const dpositional = events.passed.dpositional.as<Sum>();
        for (int64_t item = 0; item < job.sizes.batch; ++item) {
            const GradientTable table = table_of(item);
            for (int64_t i = 0; i + distance + 1 < job.sizes.length; ++i)
                for (int64_t t = 0; t < job.detectors; ++t) {
                    const Pair pair = {item, i, i + distance + 1, t};
                    const int64_t main = job.neuron_of(pair);
                    const int64_t flipped = job.positional_alternative_of(pair, main);
                    if (flipped < 0) continue;
                    const int64_t at = job.distance_at(pair);
                    dpositional[at * job.sizes.positional + job.distance_bits.min_delta_index[at]] +=
                        gradient(job, sums, job.distance_bits.min_delta[at], table.find<Sum>(main, pair.j),
                                 table.find<Sum>(flipped, pair.j));
                }
        }
    }
};

// Adds the launches of the variant in their order.
template <class Sums>
class Launches {
    using Kernels = Unfused<Sums>;
    using Sum = typename Sums::Sum;

  public:
    Launches(cpu::PlanBuilder& builder, const CpuJob& job)
        : builder_(builder),
          job_(job),
          events_(builder.keep(EventJob(builder, job))),
          passed_(events_.passed),
          kernels_(builder.keep(Kernels{job, events_, Sums(builder), passed_.dweights.as<Sum>()})) {}

    void add_forward() {
        add_event_launches(builder_, events_);
        add_clear(builder_, passed_.y);
        add(with_scratch(fill_outputs_by_sparse_firings(job_, passed_), rows_bytes()), positions() * blocks(),
            &Kernels::fill_outputs_by_sparse_firings);
        convert(passed_.y, job_.y, fault_y);
    }

    void add_backward() {
        add_clear(builder_, passed_.hash_table);
        add_clear(builder_, passed_.dx);
        add_clear(builder_, passed_.dpositional);
        add_clear(builder_, passed_.dweights);
        gather_x(Choice::main, events_.main);
        gather_x(Choice::alternative, events_.alternative);
        LaunchInfo of_weights = with_scratch(gather_w_gradients_for_sequence(job_, passed_), rows_bytes());
        if (job_.subtracts()) of_weights.reads.push_back(job_.weights);
        add(std::move(of_weights), side("T", job_.detectors) * blocks(), &Kernels::gather_w_gradients);
        add(propagate_through_detectors_for_sequence(job_, passed_),
            positions() + side("S - 1", job_.sizes.distances()), &Kernels::propagate_through_detectors);
        convert(passed_.dx, job_.dx, fault_dx);
        convert(passed_.dpositional, job_.dpositional, fault_dpositional);
        convert(passed_.dweights, job_.dweights, fault_dweights);
    }

  private:
    Side positions() const { return side("B", job_.sizes.batch) * side("S", job_.sizes.length); }
    Side blocks() const { return side("output_blocks", job_.output_blocks); }

    static int64_t rows_bytes() { return cpu::scratch_bytes<RowRooms>(rows_at_once); }

    // Later positions have more events, so positions are dealt to the workers in turn.
    template <class Kernel>
    void add(LaunchInfo info, const Side& items, Kernel kernel) {
        builder_.launch(std::move(info), items, cpu::Split::cyclic, calls(kernels_, kernel));
    }

    void gather_x(Choice choice, const EventBuffer& buffer) {
        builder_.launch(gather_x_gradients_for_sequence(job_, passed_, choice), positions(),
                        cpu::Split::cyclic, [&kernels = kernels_, &buffer](const cpu::Item& item) {
                            kernels.gather_x_gradients(buffer, item.index);
                        });
    }

    void convert(const Buffer& from, const Buffer& output, Fault fault) {
        add_convert(builder_, job_, kernels_.sums, from, output, fault);
    }

    cpu::PlanBuilder& builder_;
    const CpuJob& job_;
    const EventJob& events_;
    const Passed& passed_;
    const Kernels& kernels_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request) {
    return plan_of(request, add_passes<Launches<FloatSums>, CpuJob>,
                   add_passes<Launches<IntegerSums>, CpuJob>);
}

}  // namespace sawtooth::lut_sequence
