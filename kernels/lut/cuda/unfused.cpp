// The variant unfused: every kernel of the document (lut_table::source) is a launch with its grid.

#include "kernels/core/passes.h"
#include "kernels/lut/cuda/job.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

class Unfused {
  public:
    explicit Unfused(cuda::PlanBuilder& builder)
        : builder_(builder),
          job_(builder),
          passed_(builder, job_, 1),
          given_(job_.given),
          block_(builder.parameters().integer("block_size")) {
        given_.y = passed_.y.address;
        given_.dx = passed_.dx.address;
        given_.dweights = passed_.dweights.address;
        given_.gradient_sums = passed_.gradient_sums.address;
        given_.main = passed_.events.pointers<Event>();
        given_.alternative = passed_.alternative.pointers<Event>();
        if (job_.sparse)
            given_.room = builder.take_faults(1, [most = given_.main.capacity](int64_t, int32_t) {
                return "The events do not fit into their buffer of " + std::to_string(most) + ".";
            });
        if (job_.subtracts()) job_.restore_weights(builder);
    }

    void add_forward() {
        clear(passed_.y);
        if (job_.sparse) {
            clear(passed_.events.count);
            launch(fire_detectors(job_, passed_.events), by_detector(),
                   source("fire_detectors.cu", "fire_detectors"));
            launch(fill_outputs_by_forward_groups(job_, passed_.events, passed_.y), by_event(),
                   source("synapses.cu", "fill_outputs_by_forward_groups"));
        } else {
            add_check(builder_, check_detectors(job_), by_detector(), job_, given_, block_);
            launch(fill_outputs_fully_connected(job_, passed_.y), by_output_block(),
                   source("fully_connected.cu", "fill_outputs_fully_connected"));
        }
        convert(passed_.y, job_.y, fault_y);
    }

    void add_backward() {
        clear(passed_.dx);
        clear(passed_.dweights);
        if (job_.sparse) {
            clear(passed_.events.count);
            clear(passed_.alternative.count);
            launch(fire_detectors_by_lookup_indices(job_, passed_.events, passed_.alternative), by_detector(),
                   source("fire_detectors.cu", "fire_detectors_by_lookup_indices"));
        }
        gather(passed_.events, Choice::main);
        gather(passed_.alternative, Choice::alternative);
        if (!job_.sparse)
            launch(gather_w_gradients_fully_connected(job_, passed_), by_output_block(),
                   source("fully_connected.cu", "gather_w_gradients_fully_connected"));
        cuda::KernelSource propagate = job_.source("propagate.cu", "propagate_through_detectors", block_);
        propagate.defines.push_back({"INPUTS", job_.inputs <= 4 * block_ ? job_.inputs : 0});
        launch(propagate_through_detectors(job_, passed_), by_detector(), propagate);
        convert(passed_.dx, job_.dx, fault_dx);
        convert(passed_.dweights, job_.dweights, fault_dweights);
        finish_gradients(builder_, job_, {job_.dweights});
    }

  private:
    Grid by_detector() const {
        return {pieces("T", job_.detectors, "block_size", block_), side_y("B", job_.batch)};
    }
    Grid by_output_block() const {
        return {pieces("T output_blocks", job_.detectors * job_.output_blocks, "block_size", block_),
                side_y("B", job_.batch)};
    }
    Grid by_event() const {
        return {pieces("B T", job_.batch * job_.detectors, "block_size", block_),
                side_y("output_blocks", job_.output_blocks)};
    }

    cuda::KernelSource source(const char* file, const char* entry, Choice choice = Choice::main) const {
        cuda::KernelSource source = job_.source(file, entry, block_);
        const int64_t blocks = job_.output_blocks;
        source.defines.push_back({"LANES", blocks < 32 && 32 % blocks == 0 ? blocks : 32});
        source.defines.push_back({"INPUTS", staged_inputs(1, job_.inputs)});
        source.defines.push_back({"ALTERNATIVE", choice == Choice::alternative});
        return source;
    }
    void launch(LaunchInfo info, const Grid& grid, const cuda::KernelSource& source) {
        builder_.launch(std::move(info), grid, source, given_);
    }
    void clear(const Buffer& array) { add_clear(builder_, array, block_); }
    void convert(const Buffer& sums, const Buffer& output, Fault fault) {
        add_convert(builder_, job_, sums, output, fault, given_, block_);
    }
    void gather(const EventArrays& events, Choice choice) {
        if (job_.sparse)
            launch(gather_gradients(job_, passed_, events, choice), by_event(),
                   source("synapses.cu", "gather_gradients", choice));
        else
            launch(gather_x_gradients_fully_connected(job_, passed_, choice), by_output_block(),
                   source("fully_connected.cu", "gather_x_gradients_fully_connected", choice));
    }

    cuda::PlanBuilder& builder_;
    const CudaJob job_;
    const Passed passed_;
    Arguments given_;
    int64_t block_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request) {
    return plan_in_passes<cuda::PlanBuilder, Unfused>(request);
}

}  // namespace sawtooth::lut
