// The variant unfused: every kernel of the document (lut_table::source) is a launch with its grid.

#include "kernels/core/common_parameters.h"
#include "kernels/lut_sequence/cuda/job.h"
#include "kernels/lut_sequence/describe.h"
#include "kernels/lut_sequence/faults.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut_sequence {
namespace {

using describe::Events;

class Unfused {
  public:
    Unfused(cuda::PlanBuilder& builder, CudaJob& job)
        : builder_(builder),
          request_(builder.request()),
          job_(job),
          block_(builder.parameters().integer("block_size")) {
        given().room = take_room_faults(builder);
    }

    void add_forward() {
        add_events();
        const Buffer y = describe::y(request_);
        given().y = lut_table::add_sums(builder_, y, block_);
        launch(describe::fill_outputs_by_sparse_firings(request_), by_event(given().main, main_events),
               on_events("fill_outputs_by_sparse_firings"));
        convert(y, given().y, lut_table::fault_y);
    }

    void add_backward() {
        const Buffer dx = describe::dx(request_), dpositional = describe::dpositional(request_),
                     dweights = describe::dweights(request_), hash = describe::hash_table(request_);
        given().width = job_.hash_width();
        given().hash = builder_.take<HashEntry>(count_of(hash.shape));
        lut_table::add_clear(builder_, hash, given().hash, block_);
        if (job_.integer) {
            const Buffer high = describe::hash_table_high(request_);
            given().hash_high = builder_.take<int32_t>(count_of(high.shape));
            lut_table::add_clear(builder_, high, given().hash_high, block_);
        }
        given().dx = lut_table::add_sums(builder_, dx, block_);
        given().dpositional = lut_table::add_sums(builder_, dpositional, block_);
        given().dweights = lut_table::add_sums(builder_, dweights, block_);
        given().weights_after = lut_table::take_weights_after(builder_, dweights, given().table);
        gather_x(Events::main, given().main, main_events);
        gather_x(Events::alternative, given().alternative, alternative_events);
        launch(describe::gather_w_gradients_for_sequence(request_), by_event(given().main, main_events),
               on_events("gather_w_gradients_for_sequence"));
        launch(describe::propagate_through_detectors_for_sequence(request_), by_tile(),
               on_tiles("propagate.cu", "propagate_through_detectors_for_sequence"));
        convert(dx, given().dx, lut_table::fault_dx);
        convert(dpositional, given().dpositional, lut_table::fault_dpositional);
        convert(dweights, given().dweights, lut_table::fault_dweights);
    }

  private:
    Arguments& given() { return job_.given; }

    void take_buffer(lut_table::Events<Event>& events, int64_t a_pair, const Buffer& count) {
        events.capacity = most_events(job_, a_pair);
        events.events = builder_.take<Event>(events.capacity);
        events.count = builder_.take<int32_t>(1);
        lut_table::add_clear(builder_, count, events.count, block_);
    }

    void add_events() {
        take_buffer(given().main, main_events, describe::event_count(request_));
        if (job_.backward())
            take_buffer(given().alternative, alternative_events, describe::alternative_event_count(request_));
        if (job_.statistic) {
            given().statistic = builder_.take_zeroed<float>(job_.positions() * job_.neurons());
            given().share = alternative_share(job_);
        }
        launch(describe::fill_after_detectors_firing_stat(request_), by_tile(),
               on_tiles("fill.cu", "fill_after_detectors_firing_stat"));
        if (!job_.statistic) return;
        launch(
            describe::densify_firing_stat(request_),
            {pieces("T 2^(2C+P)", job_.neurons(), "(4 block_size)", 4 * block_),
             lut_table::side_y("B S", job_.positions())},
            with(job_.source("densify.cu", "densify_firing_stat", block_), {{"BACKWARD", job_.backward()}}));
    }

    static cuda::KernelSource with(cuda::KernelSource source, const cuda::Defines& more) {
        source.defines.insert(source.defines.end(), more.begin(), more.end());
        return source;
    }
    cuda::KernelSource on_tiles(const char* file, const char* entry) const {
        return with(job_.source(file, entry, job_.tile * job_.tile), {{"TILE", job_.tile},
                                                                      {"BACKWARD", job_.backward()},
                                                                      {"STATISTIC", job_.statistic},
                                                                      {"MIXED", job_.mixed_hash}});
    }
    Grid by_tile() const {
        return {side("tiles", job_.tiles()) * side("T", job_.detectors), lut_table::side_y("B", job_.batch)};
    }
    cuda::KernelSource on_events(const char* entry, Events events = Events::main) const {
        return with(job_.source("firings.cu", entry, block_),
                    {{"MIXED", job_.mixed_hash}, {"ALTERNATIVE", events == Events::alternative}});
    }
    Grid by_event(const lut_table::Events<Event>& events, int64_t a_pair) const {
        return {pieces(a_pair == main_events ? "events" : "alternative events", events.capacity, "block_size",
                       block_),
                lut_table::side_y("output_blocks", job_.given.output_blocks)};
    }
    void launch(LaunchInfo info, const Grid& grid, const cuda::KernelSource& source) {
        builder_.launch(std::move(info), grid, source, given());
    }
    void gather_x(Events events, const lut_table::Events<Event>& buffer, int64_t a_pair) {
        launch(describe::gather_x_gradients_for_sequence(request_, events), by_event(buffer, a_pair),
               on_events("gather_x_gradients_for_sequence", events));
    }
    void convert(const Buffer& sums, const void* from, lut_table::Fault fault) {
        lut_table::add_convert(builder_, sums, from, fault, given(), block_);
    }

    cuda::PlanBuilder& builder_;
    const PlanRequest& request_;
    CudaJob& job_;
    int64_t block_;
};

void add_launches(cuda::PlanBuilder& builder, CudaJob& job) {
    Unfused plan(builder, job);
    plan.add_forward();
    if (job.backward()) plan.add_backward();
}

}  // namespace

Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request) { return plan_of(request, add_launches); }

}  // namespace sawtooth::lut_sequence
