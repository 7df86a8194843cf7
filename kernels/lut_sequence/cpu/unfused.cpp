// Every kernel of the document (lut_table::source) is a launch. Every sum has one owner, and one order: a
// position owns its y, dx and events, a detector the gradients of its table, a distance its dpositional.
// Slots of the hash table are claimed in any order, as each has one sum.

#include <algorithm>
#include <utility>

#include "kernels/lut_sequence/cpu/events.h"
#include "kernels/lut_sequence/cpu/gradient_table.h"
#include "kernels/lut_sequence/cpu/plan.h"
#include "kernels/lut_sequence/describe.h"
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
    Sum *y, *dx, *dpositional, *dweights;
    HashEntry* entries;  // [B, width]
    int32_t* high;

    GradientTable table_of(int64_t item) const {
        const int64_t first = item * job.sizes.hash_width();
        return {entries + first, high + first, HashStart(job.sizes)};
    }

    void fill_outputs_by_sparse_firings(int64_t index, cpu::Scratch scratch) const {
        const int64_t position = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks),
                    fired = events.main.events_of(position);
        Sum* const to = y + position * job.outputs;
        const float** const rows =
            cpu::take_rooms<lut_table::RowRooms>(scratch, lut_table::rows_at_once).rows;
        int64_t count = 0;
        const auto add_collected = [&] {
            sums.add_rows(rows, std::exchange(count, 0), outputs.count(), 1, to + outputs.first);
        };
        for (int64_t e = fired.first; e < fired.last; ++e) {
            const Event& event = events.main.events[e];
            const Range range = job.weights_of(event.neuron);
            for (int32_t i = 0; !job.sparse && i < event.count; ++i) {
                if (count == lut_table::rows_at_once) add_collected();
                rows[count++] = job.weights + range.first + outputs.first;
            }
            for (int64_t s = range.first; job.sparse && s < range.last; ++s)
                if (job.targets[s] >= outputs.first && job.targets[s] < outputs.last)
                    to[job.targets[s]] += static_cast<Sum>(event.count) * sums.term(job.weights[s]);
        }
        add_collected();
    }

    // The first event of a neuron at a position gives the sum.
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
            table.store(slot, number, job.gather(sums, event.neuron, job.dy_of(position)));
        }
    }

    void gather_w_gradients(int64_t index, cpu::Scratch scratch) const {
        const float** const rows =
            cpu::take_rooms<lut_table::RowRooms>(scratch, lut_table::rows_at_once).rows;
        const int64_t t = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks);
        for (int64_t position = 0; position < job.positions(); ++position) {
            const Range fired = events.main.events_of(position, t);
            for (int64_t e = fired.first; e < fired.last; ++e)
                add_gradient(events.main.events[e], outputs, rows);
        }
        for (int64_t row = t * job.rows; row < (t + 1) * job.rows; ++row) subtract_gradients(row, outputs);
    }

    void add_gradient(const Event& event, Range outputs, const float** rows) const {
        const float* const dy = job.dy_of(event.position);
        const Range range = job.weights_of(event.neuron);
        if (!job.sparse) {
            std::fill_n(rows, std::min<int64_t>(event.count, lut_table::rows_at_once), dy + outputs.first);
            for (int64_t left = event.count; left > 0; left -= lut_table::rows_at_once)
                sums.add_rows(rows, std::min(left, lut_table::rows_at_once), outputs.count(), job.lr,
                              dweights + range.first + outputs.first);
            return;
        }
        for (int64_t s = range.first; s < range.last; ++s)
            if (job.targets[s] >= outputs.first && job.targets[s] < outputs.last)
                dweights[s] += static_cast<Sum>(event.count) * job.synapse_gradient(sums, s, dy);
    }

    // Floats are final when they are summed, integers when they are converted.
    void subtract_gradients(int64_t neuron, Range outputs) const {
        if (job.integer || !job.weights_after) return;
        const Range range = job.weights_of(neuron);
        for (int64_t at = range.first; at < range.last; ++at) {
            const int64_t output = job.sparse ? job.targets[at] : at - range.first;
            if (output >= outputs.first && output < outputs.last) job.subtract_gradients({at, at + 1});
        }
    }

    void propagate_through_detectors(int64_t index) const {
        if (index < job.positions())
            propagate_to_position(index);
        else
            propagate_to_distance(index - job.positions());
    }

    // Of the pairs with all other positions, those in which the bit of this one is the weaker.
    void propagate_to_position(int64_t position) const {
        const int64_t item = position / job.sizes.length, own = position % job.sizes.length;
        const GradientTable table = table_of(item);
        for (int64_t t = 0; t < job.detectors; ++t)
            for (int64_t other = 0; other < job.sizes.length; ++other) {
                const Pair pair = {item, std::min(own, other), std::max(own, other), t};
                if (other == own || job.flips_query(pair) != (own > other)) continue;
                const int64_t main = job.neuron_of(pair), flipped = job.alternative_of(pair, main);
                if (flipped < 0) continue;
                job.propagate(sums, position, t, table.find<Sum>(main, pair.j),
                              table.find<Sum>(flipped, pair.j), dx + position * job.inputs);
            }
    }

    void propagate_to_distance(int64_t distance) const {
        for (int64_t item = 0; item < job.sizes.batch; ++item) {
            const GradientTable table = table_of(item);
            for (int64_t i = 0; i + distance + 1 < job.sizes.length; ++i)
                for (int64_t t = 0; t < job.detectors; ++t) {
                    const Pair pair = {item, i, i + distance + 1, t};
                    const int64_t main = job.neuron_of(pair);
                    const int64_t flipped = job.positional_alternative_of(pair, main);
                    if (flipped < 0) continue;
                    const int64_t at = job.distance_at(pair);
                    dpositional[at * job.sizes.positional + job.positional_min_delta_index[at]] +=
                        job.gradient(sums, job.positional_min_delta[at], table.find<Sum>(main, pair.j),
                                     table.find<Sum>(flipped, pair.j));
                }
        }
    }
};

// Adds the launches in their order.
template <class Sums>
class Launches {
    using Pass = Unfused<Sums>;
    using Sum = typename Sums::Sum;

  public:
    Launches(cpu::PlanBuilder& builder, const CpuJob& job)
        : builder_(builder), request_(builder.request()), job_(job), pass_(builder.keep(made())) {}

    void add_forward() {
        add_event_launches(builder_, pass_.events);
        const Buffer y = describe::y(request_);
        lut_table::add_clear(builder_, y, pass_.y);
        add(with_scratch(describe::fill_outputs_by_sparse_firings(request_), rows_bytes()),
            positions() * blocks(), &Pass::fill_outputs_by_sparse_firings);
        convert(y, pass_.y, lut_table::fault_y, job_.y);
    }

    void add_backward() {
        const Buffer dx = describe::dx(request_), dpositional = describe::dpositional(request_),
                     dweights = describe::dweights(request_);
        lut_table::add_clear(builder_, describe::hash_table(request_), pass_.entries);
        lut_table::add_clear(builder_, dx, pass_.dx);
        lut_table::add_clear(builder_, dpositional, pass_.dpositional);
        lut_table::add_clear(builder_, dweights, pass_.dweights);
        gather_x(describe::Events::main, pass_.events.main);
        gather_x(describe::Events::alternative, *pass_.events.alternative);
        add(with_scratch(describe::gather_w_gradients_for_sequence(request_), rows_bytes()),
            side("T", job_.detectors) * blocks(), &Pass::gather_w_gradients);
        add(describe::propagate_through_detectors_for_sequence(request_),
            positions() + side("S - 1", job_.sizes.distances()), &Pass::propagate_through_detectors);
        convert(dx, pass_.dx, lut_table::fault_dx, job_.dx);
        convert(dpositional, pass_.dpositional, lut_table::fault_dpositional, job_.dpositional);
        convert(dweights, pass_.dweights, lut_table::fault_dweights, job_.dweights);
    }

  private:
    Pass made() const {
        const int64_t slots = job_.dx ? job_.sizes.batch * job_.sizes.hash_width() : 0;
        return {job_,
                builder_.keep(EventJob(builder_, job_)),
                Sums(builder_),
                lut_table::take_sums<Sum>(builder_, describe::y(request_), job_.y),
                lut_table::take_sums<Sum>(builder_, describe::dx(request_), job_.dx),
                lut_table::take_sums<Sum>(builder_, describe::dpositional(request_), job_.dpositional),
                lut_table::take_sums<Sum>(builder_, describe::dweights(request_), job_.dweights),
                builder_.take<HashEntry>(slots),
                builder_.take<int32_t>(job_.integer ? slots : 0)};
    }

    Side positions() const { return side("B", job_.sizes.batch) * side("S", job_.sizes.length); }
    Side blocks() const { return side("output_blocks", job_.output_blocks); }

    static int64_t rows_bytes() { return cpu::scratch_bytes<lut_table::RowRooms>(lut_table::rows_at_once); }

    // Later positions have more events: they go round the workers.
    template <class Kernel>
    void add(LaunchInfo info, const Side& items, Kernel kernel) {
        builder_.launch(std::move(info), items, cpu::Split::cyclic, lut_table::calls(pass_, kernel));
    }

    void gather_x(describe::Events events, const EventBuffer& buffer) {
        builder_.launch(
            describe::gather_x_gradients_for_sequence(request_, events), positions(), cpu::Split::cyclic,
            [&pass = pass_, &buffer](const cpu::Item& item) { pass.gather_x_gradients(buffer, item.index); });
    }

    void convert(const Buffer& array, const Sum* from, lut_table::Fault fault, float* to) {
        lut_table::add_convert(builder_, job_, pass_.sums, array, from, fault, to);
    }

    cpu::PlanBuilder& builder_;
    const PlanRequest& request_;
    const CpuJob& job_;
    const Pass& pass_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request) {
    return plan_of(request, lut_table::add_passes<Launches<lut_table::FloatSums>, CpuJob>,
                   lut_table::add_passes<Launches<lut_table::IntegerSums>, CpuJob>);
}

}  // namespace sawtooth::lut_sequence
