// The variant unfused: every kernel of the document (lut_table::source) is a launch with its grid.

#include "kernels/lut_sequence/cuda/job.h"
#include "kernels/lut_sequence/faults.h"
#include "kernels/lut_sequence/parts.h"

namespace sawtooth::lut_sequence {
namespace {

class Unfused {
  public:
    Unfused(cuda::PlanBuilder& builder, const CudaJob& job)
        : builder_(builder),
          job_(job),
          passed_(builder, job, {1}),
          given_(job.given),
          block_(builder.parameters().integer("block_size")) {
        given_.room = take_room_faults(builder);
        given_.y = passed_.y.address;
        given_.dx = passed_.dx.address;
        given_.dpositional = passed_.dpositional.address;
        given_.dweights = passed_.dweights.address;
        given_.main = passed_.events.pointers<Event>();
        given_.alternative = passed_.alternative.pointers<Event>();
        given_.statistic = passed_.firing_stat.as<float>();
        given_.share = alternative_share(job.sizes);
        given_.hash = passed_.hash_table.as<HashEntry>();
        given_.hash_high = passed_.hash_table_high.as<int32_t>();
        given_.width = job.sizes.hash_width();
        if (job.subtracts()) job.restore_weights(builder);
    }

    void add_forward() {
        add_events();
        clear(passed_.y);
        launch(fill_outputs_by_sparse_firings(job_, passed_), by_event(Choice::main),
               on_events("fill_outputs_by_sparse_firings"));
        convert(passed_.y, job_.y, fault_y);
    }

    void add_backward() {
        clear(passed_.hash_table);
        if (job_.integer) clear(passed_.hash_table_high);
        clear(passed_.dx);
        clear(passed_.dpositional);
        clear(passed_.dweights);
        for (const Choice choice : {Choice::main, Choice::alternative})
            launch(gather_x_gradients_for_sequence(job_, passed_, choice), by_event(choice),
                   on_events("gather_x_gradients_for_sequence", choice));
        launch(gather_w_gradients_for_sequence(job_, passed_), by_event(Choice::main),
               on_events("gather_w_gradients_for_sequence"));
        launch(propagate_through_detectors_for_sequence(job_, passed_), by_tile(),
               on_tiles("propagate.cu", "propagate_through_detectors_for_sequence"));
        convert(passed_.dx, job_.dx, fault_dx);
        convert(passed_.dpositional, job_.dpositional, fault_dpositional);
        convert(passed_.dweights, job_.dweights, fault_dweights);
    }

  private:
    bool backward() const { return static_cast<bool>(job_.dx); }

    void add_events() {
        clear(passed_.events.count);
        if (backward()) clear(passed_.alternative.count);
        launch(fill_after_detectors_firing_stat(job_, passed_), by_tile(),
               on_tiles("fill.cu", "fill_after_detectors_firing_stat"));
        if (!job_.sizes.statistic) return;
        launch(
            densify_firing_stat(job_, passed_),
            {pieces("T 2^(2C+P)", job_.neurons(), "(4 block_size)", 4 * block_), side_y("B S", job_.items)},
            with(job_.source("densify.cu", "densify_firing_stat", block_), {{"BACKWARD", backward()}}));
    }

    static cuda::KernelSource with(cuda::KernelSource source, const cuda::Defines& more) {
        source.defines.insert(source.defines.end(), more.begin(), more.end());
        return source;
    }
    cuda::KernelSource on_tiles(const char* file, const char* entry) const {
        const lut_sequence::Sizes& s = job_.sizes;
        return with(job_.source(file, entry, s.tile * s.tile), {{"TILE", s.tile},
                                                                {"BACKWARD", backward()},
                                                                {"STATISTIC", s.statistic},
                                                                {"MIXED", s.mixed_hash}});
    }
    Grid by_tile() const {
        return {side("tiles", job_.sizes.tiles()) * side("T", job_.detectors), side_y("B", job_.sizes.batch)};
    }
    cuda::KernelSource on_events(const char* entry, Choice choice = Choice::main) const {
        return with(job_.source("firings.cu", entry, block_),
                    {{"MIXED", job_.sizes.mixed_hash}, {"ALTERNATIVE", choice == Choice::alternative}});
    }
    Grid by_event(Choice choice) const {
        const bool main = choice == Choice::main;
        return {pieces(main ? "events" : "alternative events",
                       (main ? given_.main : given_.alternative).capacity, "block_size", block_),
                side_y("output_blocks", job_.output_blocks)};
    }
    void launch(LaunchInfo info, const Grid& grid, const cuda::KernelSource& source) {
        builder_.launch(std::move(info), grid, source, given_);
    }
    void clear(const Buffer& array) { add_clear(builder_, array, block_); }
    void convert(const Buffer& sums, const Buffer& output, Fault fault) {
        add_convert(builder_, job_, sums, output, fault, given_, block_);
    }

    cuda::PlanBuilder& builder_;
    const CudaJob& job_;
    const Passed passed_;
    Arguments given_;
    int64_t block_;
};

void add_unfused_launches(cuda::PlanBuilder& builder, const CudaJob& job) {
    Unfused plan(builder, job);
    plan.add_forward();
    if (job.dx) plan.add_backward();
}

}  // namespace

Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request) {
    return plan_of(request, add_unfused_launches);
}

}  // namespace sawtooth::lut_sequence
