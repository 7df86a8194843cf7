// Every kernel of the document (lut_table::source) is a launch. Every sum has one owner: an item of the batch
// owns its y, dx and gradient sums, a detector the gradients of its table. So events lie in groups, forward
// by item, backward by detector, and each group has a place and a count of its own.

#include <algorithm>

#include "kernels/lut/cpu/plan.h"
#include "kernels/lut/describe.h"
#include "kernels/lut/records.cuh"
#include "kernels/lut_table/cpu/scratch.h"

namespace sawtooth::lut {
namespace {

// Group g has counts[g] events from events[g * room] on.
struct EventList {
    Event* events;
    int32_t* counts;

    void add(int64_t group, int64_t room, Event event) const {
        events[group * room + counts[group]++] = event;
    }
};

template <class Sums>
struct Unfused {
    using Sum = typename Sums::Sum;
    const CpuJob& job;
    Sums sums;
    Sum *y, *dx, *dweights, *gradient_sums;  // [B, 2, T]: of the chosen rows, of the alternative ones
    EventList events, alternative_events;

    Sum& gradient_sum(int64_t item, int64_t detector, bool main) const {
        return gradient_sums[(2 * item + (main ? 0 : 1)) * job.detectors + detector];
    }
    void fire(const EventList& list, int64_t group, int64_t room, int64_t item, int64_t neuron) const {
        if (neuron >= 0 && job.weights_of(neuron).count() > 0)
            list.add(group, room, {static_cast<int32_t>(item), static_cast<int32_t>(neuron)});
    }

    void check_detectors(int64_t tile, cpu::Scratch scratch) const {
        lut_table::check_detectors(job.check, tile_at(tile, items_a_tile, job.batch),
                                   cpu::take_rooms<CheckRooms>(scratch, job.check));
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
        Sum* const to = y + b * job.outputs;
        for (int64_t e = 0; e < events.counts[b]; ++e) {
            const Range synapses = job.weights_of(fired[e].neuron);
            for (int64_t s = synapses.first; s < synapses.last; ++s)
                if (job.targets[s] >= outputs.first && job.targets[s] < outputs.last)
                    to[job.targets[s]] += sums.term(job.weights[s]);
        }
    }

    void fill_outputs_fully_connected(int64_t index, cpu::Scratch scratch) const {
        const int64_t b = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks);
        const float** const rows = cpu::take_rooms<RowRooms>(scratch, job.detectors).rows;
        for (int64_t t = 0; t < job.detectors; ++t)
            rows[t] = job.weights + job.weights_of(job.neuron(b, t)).first + outputs.first;
        sums.add_rows(rows, job.detectors, outputs.count(), 1, y + b * job.outputs + outputs.first);
    }

    void fire_detectors_by_lookup_indices(int64_t t) const {
        for (int64_t b = 0; b < job.batch; ++b) {
            fire(events, t, job.batch, b, job.neuron(b, t));
            fire(alternative_events, t, job.batch, b, job.alternative(b, t));
        }
    }

    void gather_gradients(int64_t t) const {
        const Event* const fired = events.events + t * job.batch;
        for (int64_t e = 0; e < events.counts[t]; ++e) {
            const float* const dy = job.dy_of(fired[e].item);
            gradient_sum(fired[e].item, t, true) += job.gather(sums, fired[e].neuron, dy);
            const Range synapses = job.weights_of(fired[e].neuron);
            for (int64_t s = synapses.first; s < synapses.last; ++s)
                dweights[s] += job.synapse_gradient(sums, s, dy);
        }
        const int64_t first = t * job.rows, last = first + job.rows;
        subtract_gradients({job.offsets[first], job.offsets[last]});
    }

    void gather_alternative_gradients(int64_t t) const {
        const Event* const fired = alternative_events.events + t * job.batch;
        for (int64_t e = 0; e < alternative_events.counts[t]; ++e)
            gradient_sum(fired[e].item, t, false) +=
                job.gather(sums, fired[e].neuron, job.dy_of(fired[e].item));
    }

    template <bool main>
    void gather_x_gradients_fully_connected(int64_t b) const {
        for (int64_t t = 0; t < job.detectors; ++t) {
            const int64_t neuron = main ? job.neuron(b, t) : job.alternative(b, t);
            if (neuron >= 0) gradient_sum(b, t, main) += job.gather(sums, neuron, job.dy_of(b));
        }
    }

    void gather_w_gradients_fully_connected(int64_t index) const {
        const int64_t t = index / job.output_blocks;
        const Range outputs = job.outputs_of(index % job.output_blocks);
        for (int64_t b = 0; b < job.batch; ++b) {
            const float* const dy = job.dy_of(b) + outputs.first;
            const int64_t at = job.weights_of(job.neuron(b, t)).first + outputs.first;
            sums.add_rows(&dy, 1, outputs.count(), job.lr, dweights + at);
        }
        for (int64_t row = 0; row < job.rows; ++row) {
            const int64_t at = job.weights_of(t * job.rows + row).first;
            subtract_gradients({at + outputs.first, at + outputs.last});
        }
    }

    // Floats are final when they are summed, integers when they are converted.
    void subtract_gradients(Range range) const {
        if (!job.integer && job.weights_after) job.subtract_gradients(range);
    }

    void propagate_through_detectors(int64_t b) const {
        for (int64_t t = 0; t < job.detectors; ++t) {
            Sum &main = gradient_sum(b, t, true), &alternative = gradient_sum(b, t, false);
            job.propagate(sums, b, t, main, alternative, dx + b * job.inputs);
            main = alternative = 0;
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
        const Buffer y = describe::y(request_);
        add_clear(builder_, y, pass_.y);
        const Side tiles = pieces("B", job_.batch, items_a_tile);
        const int64_t check_bytes = cpu::scratch_bytes<CheckRooms>(job_.check);
        if (job_.sparse) {
            add_clear(builder_, {"event_count", {job_.batch}}, pass_.events.counts);
            add(with_scratch(describe::fire_detectors(request_), check_bytes), tiles, &Pass::fire_detectors);
            add(describe::fill_outputs_by_forward_groups(request_), items() * blocks(),
                &Pass::fill_outputs_by_forward_groups);
        } else {
            add(with_scratch(describe::check_detectors(request_), check_bytes), tiles,
                &Pass::check_detectors);
            add(with_scratch(describe::fill_outputs_fully_connected(request_),
                             cpu::scratch_bytes<RowRooms>(job_.detectors)),
                items() * blocks(), &Pass::fill_outputs_fully_connected);
        }
        add_convert(builder_, job_, pass_.sums, y, pass_.y, fault_y, job_.y);
    }

    void add_backward() {
        const Buffer dx = describe::dx(request_), dweights = describe::dweights(request_);
        add_clear(builder_, dx, pass_.dx);
        add_clear(builder_, dweights, pass_.dweights);
        job_.sparse ? gather_sparse() : gather_full();
        add(describe::propagate_through_detectors(request_), items(), &Pass::propagate_through_detectors);
        add_convert(builder_, job_, pass_.sums, dx, pass_.dx, fault_dx, job_.dx);
        add_convert(builder_, job_, pass_.sums, dweights, pass_.dweights, fault_dweights, job_.dweights);
    }

  private:
    Pass made() const {
        const bool backward = job_.dx;
        const int64_t pairs = job_.sparse ? job_.batch * job_.detectors : 0;
        const auto list = [&](bool used) {
            return EventList{
                builder_.take<Event>(used ? pairs : 0),
                builder_.take<int32_t>(used && pairs ? std::max(job_.batch, job_.detectors) : 0)};
        };
        return {job_,
                Sums(builder_),
                take_sums<Sum>(builder_, describe::y(request_), job_.y),
                take_sums<Sum>(builder_, describe::dx(request_), job_.dx),
                take_sums<Sum>(builder_, describe::dweights(request_), job_.dweights),
                builder_.take_zeroed<Sum>(backward ? 2 * job_.batch * job_.detectors : 0),
                list(true),
                list(backward)};
    }

    Side items() const { return side("B", job_.batch); }
    Side tables() const { return side("T", job_.detectors); }
    Side blocks() const { return side("output_blocks", job_.output_blocks); }

    template <class Kernel>
    void add(LaunchInfo info, const Side& items, Kernel kernel) {
        builder_.launch(std::move(info), items, calls(pass_, kernel));
    }

    void gather_sparse() {
        add_clear(builder_, {"event_count", {job_.detectors}}, pass_.events.counts);
        add_clear(builder_, {"alternative_event_count", {job_.detectors}}, pass_.alternative_events.counts);
        add(describe::fire_detectors_by_lookup_indices(request_), tables(),
            &Pass::fire_detectors_by_lookup_indices);
        add(describe::gather_gradients(request_, describe::Events::main), tables(), &Pass::gather_gradients);
        add(describe::gather_gradients(request_, describe::Events::alternative), tables(),
            &Pass::gather_alternative_gradients);
    }

    void gather_full() {
        add(describe::gather_x_gradients_fully_connected(request_, describe::Events::main), items(),
            &Pass::template gather_x_gradients_fully_connected<true>);
        add(describe::gather_x_gradients_fully_connected(request_, describe::Events::alternative), items(),
            &Pass::template gather_x_gradients_fully_connected<false>);
        add(describe::gather_w_gradients_fully_connected(request_), tables() * blocks(),
            &Pass::gather_w_gradients_fully_connected);
    }

    cpu::PlanBuilder& builder_;
    const PlanRequest& request_;
    const CpuJob& job_;
    const Pass& pass_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request) {
    return plan_of(request, add_passes<Launches<FloatSums>, CpuJob>,
                   add_passes<Launches<IntegerSums>, CpuJob>);
}

}  // namespace sawtooth::lut
