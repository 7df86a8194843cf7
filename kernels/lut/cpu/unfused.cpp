// Every kernel of the document (lut_table::source) is a launch. Every sum has one owner: an item of the batch
// owns its y, dx and gradient sums, a detector owns the gradients of its table. Events are therefore grouped,
// by item in the forward pass and by detector in the backward pass; each group has its own place and count.

#include <algorithm>

#include "kernels/lut/cpu/plan.h"
#include "kernels/lut_table/cpu/scratch.h"

namespace sawtooth::lut {
namespace {

template <class Sums>
struct Unfused {
    using Sum = typename Sums::Sum;
    const Tensors& job;
    Sums sums;
    Passed passed;
    Sum* gradient_sums;
    // Group g has count[g] events. Groups begin as far apart as the largest possible group is long.
    Events<Event> events, alternative;

    Sum& gradient_sum(int64_t item, int64_t detector, bool main) const {
        return gradient_sums[(2 * item + (main ? 0 : 1)) * job.detectors + detector];
    }
    void fire(const Events<Event>& to, int64_t group, int64_t room, int64_t item, int64_t neuron) const {
        if (neuron >= 0 && job.weights_of(neuron).count() > 0)
            to.events[group * room + to.count[group]++] = {static_cast<int32_t>(item),
                                                           static_cast<int32_t>(neuron)};
    }

    void check_detectors(int64_t tile, cpu::Scratch scratch) const {
        lut_table::check_detectors(job, tile_at(tile, items_a_tile, job.batch),
                                   cpu::take_rooms<CheckRooms>(scratch, job));
    }

    void fire_detectors(int64_t tile, cpu::Scratch scratch) const {
        check_detectors(tile, scratch);
        const Range items = tile_at(tile, items_a_tile, job.batch);
        for (int64_t b = items.first; b < items.last; ++b)
            for (int64_t t = 0; t < job.detectors; ++t) fire(events, b, job.detectors, b, job.neuron(b, t));
    }

    void fill_outputs_by_forward_groups(int64_t index) const {
        const int64_t b = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks);
        const Event* const fired = events.events + b * job.detectors;
        Sum* const to = passed.y.as<Sum>() + b * job.outputs;
        for (int64_t e = 0; e < events.count[b]; ++e) {
            const Range synapses = job.weights_of(fired[e].neuron);
            for (int64_t s = synapses.first; s < synapses.last; ++s)
                if (job.table.targets[s] >= outputs.first && job.table.targets[s] < outputs.last)
                    to[job.table.targets[s]] += sums.term(job.table.weights[s]);
        }
    }

    void fill_outputs_fully_connected(int64_t index, cpu::Scratch scratch) const {
        const int64_t b = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks);
        const float** const rows = cpu::take_rooms<RowRooms>(scratch, job.detectors).rows;
        for (int64_t t = 0; t < job.detectors; ++t)
            rows[t] = job.table.weights + job.weights_of(job.neuron(b, t)).first + outputs.first;
        sums.add_rows(rows, job.detectors, outputs.count(), 1,
                      passed.y.as<Sum>() + b * job.outputs + outputs.first);
    }

    void fire_detectors_by_lookup_indices(int64_t t) const {
        for (int64_t b = 0; b < job.batch; ++b) {
            fire(events, t, job.batch, b, job.neuron(b, t));
            fire(alternative, t, job.batch, b, job.alternative(b, t));
        }
    }

    void gather_gradients(int64_t t) const {
        const Event* const fired = events.events + t * job.batch;
        Sum* const dweights = passed.dweights.as<Sum>();
        for (int64_t e = 0; e < events.count[t]; ++e) {
            const float* const dy = job.dy_of(fired[e].item);
            gradient_sum(fired[e].item, t, true) += gather(job, sums, fired[e].neuron, dy);
            const Range synapses = job.weights_of(fired[e].neuron);
            for (int64_t s = synapses.first; s < synapses.last; ++s)
                dweights[s] += synapse_gradient(job, sums, s, dy);
        }
        const int64_t first = t * job.rows, last = first + job.rows;
        subtract({job.table.offsets[first], job.table.offsets[last]});
    }

    void gather_alternative_gradients(int64_t t) const {
        const Event* const fired = alternative.events + t * job.batch;
        for (int64_t e = 0; e < alternative.count[t]; ++e)
            gradient_sum(fired[e].item, t, false) +=
                gather(job, sums, fired[e].neuron, job.dy_of(fired[e].item));
    }

    template <bool main>
    void gather_x_gradients_fully_connected(int64_t b) const {
        for (int64_t t = 0; t < job.detectors; ++t) {
            const int64_t neuron = main ? job.neuron(b, t) : job.alternative(b, t);
            if (neuron >= 0) gradient_sum(b, t, main) += gather(job, sums, neuron, job.dy_of(b));
        }
    }

    void gather_w_gradients_fully_connected(int64_t index) const {
        const int64_t t = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks);
        Sum* const dweights = passed.dweights.as<Sum>();
        for (int64_t b = 0; b < job.batch; ++b) {
            const float* const dy = job.dy_of(b) + outputs.first;
            const int64_t at = job.weights_of(job.neuron(b, t)).first + outputs.first;
            sums.add_rows(&dy, 1, outputs.count(), job.lr, dweights + at);
        }
        for (int64_t row = 0; row < job.rows; ++row) {
            const int64_t at = job.weights_of(t * job.rows + row).first;
            subtract({at + outputs.first, at + outputs.last});
        }
    }

    // Float gradients are final here; integer ones are subtracted after their conversion.
    void subtract(Range range) const {
        if (job.subtracts()) subtract_gradients(job, range);
    }

    void propagate_through_detectors(int64_t b) const {
        Sum* const dx = passed.dx.as<Sum>();
        for (int64_t t = 0; t < job.detectors; ++t) {
            Sum &chosen = gradient_sum(b, t, true), &other = gradient_sum(b, t, false);
            propagate(job, sums, b, t, chosen, other, dx + b * job.inputs);
            chosen = other = 0;
        }
    }
};

// Adds the launches of the variant in their order.
template <class Sums>
class Launches {
    using Kernels = Unfused<Sums>;
    using Sum = typename Sums::Sum;

  public:
    Launches(cpu::PlanBuilder& builder, const Tensors& job)
        : builder_(builder),
          job_(job),
          passed_(builder, job, std::max(job.batch, job.detectors)),
          kernels_(builder.keep(Kernels{job, Sums(builder), passed_, passed_.gradient_sums.as<Sum>(),
                                        passed_.events.pointers<Event>(),
                                        passed_.alternative.pointers<Event>()})) {}

    void add_forward() {
        add_clear(builder_, passed_.y);
        const Side tiles = pieces("B", job_.batch, items_a_tile);
        const int64_t check_bytes = cpu::scratch_bytes<CheckRooms>(job_);
        if (job_.sparse) {
            const EventArrays events = passed_.events.in_groups(job_.batch);
            add_clear(builder_, events.count);
            add(with_scratch(fire_detectors(job_, events), check_bytes), tiles, &Kernels::fire_detectors);
            add(fill_outputs_by_forward_groups(job_, events, passed_.y), items() * blocks(),
                &Kernels::fill_outputs_by_forward_groups);
        } else {
            add(with_scratch(check_detectors(job_), check_bytes), tiles, &Kernels::check_detectors);
            add(with_scratch(fill_outputs_fully_connected(job_, passed_.y),
                             cpu::scratch_bytes<RowRooms>(job_.detectors)),
                items() * blocks(), &Kernels::fill_outputs_fully_connected);
        }
        add_convert(builder_, job_, kernels_.sums, passed_.y, job_.y, fault_y);
    }

    void add_backward() {
        add_clear(builder_, passed_.dx);
        add_clear(builder_, passed_.dweights);
        job_.sparse ? gather_sparse() : gather_full();
        add(propagate_through_detectors(job_, passed_), items(), &Kernels::propagate_through_detectors);
        add_convert(builder_, job_, kernels_.sums, passed_.dx, job_.dx, fault_dx);
        add_convert(builder_, job_, kernels_.sums, passed_.dweights, job_.dweights, fault_dweights);
    }

  private:
    Side items() const { return side("B", job_.batch); }
    Side tables() const { return side("T", job_.detectors); }
    Side blocks() const { return side("output_blocks", job_.output_blocks); }

    template <class Kernel>
    void add(LaunchInfo info, const Side& items, Kernel kernel) {
        builder_.launch(std::move(info), items, calls(kernels_, kernel));
    }

    void gather_sparse() {
        const EventArrays events = passed_.events.in_groups(job_.detectors),
                          alternative = passed_.alternative.in_groups(job_.detectors);
        add_clear(builder_, events.count);
        add_clear(builder_, alternative.count);
        add(fire_detectors_by_lookup_indices(job_, events, alternative), tables(),
            &Kernels::fire_detectors_by_lookup_indices);
        add(gather_gradients(job_, passed_, events, Choice::main), tables(), &Kernels::gather_gradients);
        add(gather_gradients(job_, passed_, alternative, Choice::alternative), tables(),
            &Kernels::gather_alternative_gradients);
    }

    void gather_full() {
        add(gather_x_gradients_fully_connected(job_, passed_, Choice::main), items(),
            &Kernels::template gather_x_gradients_fully_connected<true>);
        add(gather_x_gradients_fully_connected(job_, passed_, Choice::alternative), items(),
            &Kernels::template gather_x_gradients_fully_connected<false>);
        LaunchInfo of_weights = gather_w_gradients_fully_connected(job_, passed_);
        if (job_.subtracts()) of_weights.reads.push_back(job_.weights);
        add(std::move(of_weights), tables() * blocks(), &Kernels::gather_w_gradients_fully_connected);
    }

    cpu::PlanBuilder& builder_;
    const Tensors& job_;
    const Passed passed_;
    const Kernels& kernels_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request) {
    return plan_of(request, add_passes<Launches<FloatSums>, Tensors>,
                   add_passes<Launches<IntegerSums>, Tensors>);
}

}  // namespace sawtooth::lut
