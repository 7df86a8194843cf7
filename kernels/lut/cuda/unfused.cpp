// The variant unfused: every kernel of the document (lut_table::source) is a launch with its grid.

#include <algorithm>

#include "kernels/core/passes.h"
#include "kernels/lut/cuda/job.h"
#include "kernels/lut/describe.h"
#include "kernels/lut/parts.h"
#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut {
namespace {

using describe::Events;

class Unfused {
  public:
    explicit Unfused(cuda::PlanBuilder& builder)
        : builder_(builder), job_(builder), block_(builder.parameters().integer("block_size")) {}

    void add_forward() {
        const Buffer y = describe::y(request());
        given().y = add_sums(builder_, y, block_);
        if (job_.sparse) {
            add_events(given().main, "event_count");
            launch(describe::fire_detectors(request()), by_detector(),
                   source("fire_detectors.cu", "fire_detectors"));
            launch(describe::fill_outputs_by_forward_groups(request()), by_event(),
                   source("synapses.cu", "fill_outputs_by_forward_groups"));
        } else {
            const CommonArguments& common = given();
            cuda::KernelSource check = source("", "check_detectors");
            check.file = "kernels/lut_table/cuda/detectors.cu";
            builder_.launch(describe::check_detectors(request()), by_detector(), check, common);
            launch(describe::fill_outputs_fully_connected(request()), by_output_block(),
                   source("fully_connected.cu", "fill_outputs_fully_connected"));
        }
        add_convert(builder_, y, given().y, fault_y, given(), block_);
    }

    void add_backward() {
        const Buffer dx = describe::dx(request()), dweights = describe::dweights(request());
        given().gradient_sums =
            builder_.take_zeroed<std::byte>(2 * job_.batch * job_.detectors * job_.sum_bytes());
        given().dx = add_sums(builder_, dx, block_);
        given().dweights = add_sums(builder_, dweights, block_);
        given().weights_after = take_weights_after(builder_, dweights, given().table);
        if (job_.sparse) {
            clear_count(given().main, "event_count");
            add_events(given().alternative, "alternative_event_count");
            launch(describe::fire_detectors_by_lookup_indices(request()), by_detector(),
                   source("fire_detectors.cu", "fire_detectors_by_lookup_indices"));
        }
        gather(Events::main);
        gather(Events::alternative);
        if (!job_.sparse)
            launch(describe::gather_w_gradients_fully_connected(request()), by_output_block(),
                   source("fully_connected.cu", "gather_w_gradients_fully_connected"));
        cuda::KernelSource propagate = job_.source("propagate.cu", "propagate_through_detectors", block_);
        propagate.defines.push_back({"INPUTS", job_.inputs <= 4 * block_ ? job_.inputs : 0});
        launch(describe::propagate_through_detectors(request()), by_detector(), propagate);
        add_convert(builder_, dx, given().dx, fault_dx, given(), block_);
        add_convert(builder_, dweights, given().dweights, fault_dweights, given(), block_);
    }

  private:
    const PlanRequest& request() const { return builder_.request(); }
    Arguments& given() { return job_.given; }

    void add_events(lut_table::Events<Event>& events, const char* count_name) {
        events.capacity = job_.batch * job_.detectors;
        events.events = builder_.take<Event>(events.capacity);
        events.count = builder_.take<int32_t>(1);
        clear_count(events, count_name);
    }
    void clear_count(const lut_table::Events<Event>& events, const char* name) {
        add_clear(builder_, {name, {1}}, events.count, block_);
    }

    Grid by_detector() const {
        return {pieces("T", job_.detectors, "block_size", block_), side_y("B", job_.batch)};
    }
    Grid by_output_block() const {
        const int64_t blocks = job_.given.output_blocks;
        return {pieces("T output_blocks", job_.detectors * blocks, "block_size", block_),
                side_y("B", job_.batch)};
    }
    Grid by_event() const {
        return {pieces("B T", job_.batch * job_.detectors, "block_size", block_),
                side_y("output_blocks", job_.given.output_blocks)};
    }

    cuda::KernelSource source(const char* file, const char* entry, Events events = Events::main) const {
        cuda::KernelSource source = job_.source(file, entry, block_);
        const int64_t blocks = job_.given.output_blocks;
        source.defines.push_back({"LANES", blocks < 32 && 32 % blocks == 0 ? blocks : 32});
        source.defines.push_back({"INPUTS", staged_inputs(1, job_.inputs)});
        source.defines.push_back({"ALTERNATIVE", events == Events::alternative});
        return source;
    }
    void launch(LaunchInfo info, const Grid& grid, const cuda::KernelSource& source) {
        builder_.launch(std::move(info), grid, source, given());
    }

    void gather(Events events) {
        if (job_.sparse)
            launch(describe::gather_gradients(request(), events), by_event(),
                   source("synapses.cu", "gather_gradients", events));
        else
            launch(describe::gather_x_gradients_fully_connected(request(), events), by_output_block(),
                   source("fully_connected.cu", "gather_x_gradients_fully_connected", events));
    }

    cuda::PlanBuilder& builder_;
    CudaJob job_;
    int64_t block_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request) {
    return plan_in_passes<cuda::PlanBuilder, Unfused>(request);
}

}  // namespace sawtooth::lut
