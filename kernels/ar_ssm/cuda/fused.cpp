// The variant fused: a launch for projections and gates, a scan of the sums of tiles, and a launch for the
// rest. The gradients go back the same way.

#include "kernels/ar_ssm/cuda/job.h"
#include "kernels/ar_ssm/launches.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/ar_ssm/scans.h"
#include "kernels/core/passes.h"
#include "kernels/cuda/struct_bytes.h"

namespace sawtooth::ar_ssm {
namespace {

constexpr int64_t most_ranks = 64;

class FusedLaunches {
  public:
    explicit FusedLaunches(cuda::PlanBuilder& builder) : job_(builder, true) {}

    void add_forward() {
        const int64_t panel = columns_at_once(job_.hidden + 2 * job_.rank, 192, 64),
                      depth = job_.long_depth();
        const int64_t project_bytes = std::max(job_.forward_bytes(job_.tile, panel, depth),
                                               job_.forward_bytes(job_.tile, ranks(), depth));
        launch(project(job_),
               cuda::StructBytes()
                   .array(project_bytes / 16, 16, 16)
                   .array(totals(), 4)
                   .array(2 * job_.tile, 4)
                   .total(),
               {{"DEPTH", depth},
                {"PANEL", panel},
                {"RANKS", ranks()},
                {"HARD", job_.hard},
                {"GUMBEL", job_.gumbel},
                {"BACKWARD", job_.backward}});
        scan_totals("totals_", false, job_.totals, job_.prefixes);
        if (job_.bidirectional) scan_totals("reverse_totals_", true, job_.totals, job_.reverse_prefixes);
        launch(scan_and_output(job_),
               std::max(job_.forward_bytes(job_.tile, job_.channels(), job_.depth()), staged_bytes()),
               {{"DEPTH", job_.depth()},
                {"CHANNELS", job_.channels()},
                {"BACKWARD", job_.backward},
                {"BIDIRECTIONAL", job_.bidirectional}});
    }

    void add_backward() {
        launch(output_gradients(job_),
               cuda::StructBytes()
                   .array(job_.backward_bytes(job_.tile, ranks(), job_.long_depth()) / 16, 16, 16)
                   .array(totals(), 4)
                   .total(),
               {{"DEPTH", job_.long_depth()}, {"RANKS", ranks()}});
        scan_totals("gradient_totals_", true, job_.gradient_totals, job_.gradient_prefixes);
        if (job_.bidirectional)
            scan_totals("gradient_reverse_totals_", false, job_.gradient_totals,
                        job_.reverse_gradient_prefixes);
        launch(
            input_gradients(job_),
            std::max(job_.backward_bytes(job_.tile, job_.channels(), job_.depth()), staged_bytes()),
            {{"DEPTH", job_.depth()}, {"CHANNELS", job_.channels()}, {"BIDIRECTIONAL", job_.bidirectional}});
        add_weight_gradients(job_, weight_gradients(job_), job_.weight_gradients());
    }

  private:
    int64_t ranks() const { return columns_at_once(job_.rank, most_ranks, 32); }  // gates computed at once
    int64_t totals() const { return job_.tile / 16 * ranks(); }  // a total per warp and column
    int64_t staged_bytes() const { return job_.tile * (job_.channels() + 4) * 4; }

    // The kernel and its file have the name of the launch.
    void launch(LaunchInfo info, int64_t shared_bytes, cuda::Defines defines) {
        const std::string name = info.name;
        defines.push_back({"ROWS", job_.tile});
        job_.builder.launch(std::move(info), job_.grid_of_tiles(),
                            job_.source(name + ".cu", name, shared_bytes, std::move(defines)),
                            job_.arguments());
    }

    void scan_totals(const char* prefix, bool flipped, const Buffer& from, const Buffer& to) {
        add_scan(job_.builder, "lookback", prefix, flipped, from, to);
    }

    const CudaJob job_;
};

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) {
    return plan_in_passes<cuda::PlanBuilder, FusedLaunches>(request);
}

}  // namespace sawtooth::ar_ssm
