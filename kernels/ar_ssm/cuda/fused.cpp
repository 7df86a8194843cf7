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
        if (projects_in_groups(job_, job_.builder.chip()))
            project_in_groups();
        else
            project_by_warps();
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
    void project_by_warps() {
        const int64_t panel = columns_at_once(job_.hidden + 2 * job_.rank, 192, 64),
                      depth = job_.long_depth();
        const int64_t project_bytes = std::max(job_.forward_bytes(job_.tile, panel, depth),
                                               job_.forward_bytes(job_.tile, ranks(), depth));
        launch(project(job_),
               cuda::StructBytes()
                   .array(project_bytes / 16, 16, 16)
                   .array(totals(), 4)
                   .array(2 * job_.tile, 4)
                   .array(panel, 8)
                   .total(),
               {{"DEPTH", depth},
                {"PANEL", panel},
                {"RANKS", ranks()},
                {"HARD", job_.hard},
                {"GUMBEL", job_.gumbel},
                {"BACKWARD", job_.backward}});
    }

    // The bytes of `Shared` in project_wgmma.cu, or in project_split.cu, where weights have two parts.
    int64_t group_bytes(int64_t stages) const {
        constexpr int64_t groups = 2, row_bytes = 128;
        const int64_t parts = splits() ? 2 : 1, weight_rows = job_.hidden + 2 * job_.rank;
        cuda::StructBytes bytes;
        bytes.array(stages * (groups * job_.tile + parts * weight_rows), row_bytes, 1024)
            .array(parts * job_.rank * job_.hidden, bytes_of(job_.storage))
            .array(2 * stages + 1, 8)
            .array(groups * 4 * job_.rank, 4);
        if (splits()) return bytes.total();
        const int64_t logits = job_.hard ? job_.tile * job_.rank : 1;
        const auto doubtful = cuda::StructBytes().array(1, 4).array(logits, 2).array(logits, 4).array(4, 8);
        return bytes.array(groups, doubtful.total(), 8).total();
    }
    bool splits() const { return job_.storage == Storage::f32; }

    TensorMap map(const Buffer& array, int64_t depth, int64_t rows, int64_t columns, int64_t box_rows) {
        return job_.builder.tensor_map(array.address, array.storage, {depth, rows, columns}, box_rows);
    }
    TensorMap map_of_x() { return map(job_.x, job_.batch, job_.length, job_.width, job_.tile); }

    void project_in_groups() {
        if (splits()) return project_split();
        const auto weights = [&](const Buffer& array, int64_t rows, int64_t columns) {
            return map(array, 1, rows, columns, rows);
        };
        launch_in_groups(
            project(job_), "project_wgmma.cu",
            ProjectArguments{map_of_x(), weights(job_.weight.gate_w1, job_.hidden, job_.width),
                             weights(job_.weight.u_proj, job_.rank, job_.width),
                             weights(job_.weight.v_proj, job_.rank, job_.width),
                             weights(job_.weight.gate_w2, job_.rank, job_.hidden), job_.arguments()});
    }

    void project_split() {
        const int64_t stacked = job_.hidden + 2 * job_.rank;
        const Buffer weights = job_.builder.take("split_weights", {2, stacked, job_.width}),
                     gate_w2 = job_.builder.take("split_gate_w2", {2, job_.rank, job_.hidden});
        const int64_t numbers = stacked * job_.width + job_.rank * job_.hidden;
        job_.builder.launch(split_weights(job_, weights, gate_w2), {pieces("numbers", numbers, threads)},
                            job_.source("split_weights.cu", "split_weights", 0, {}),
                            SplitWeights{weights.as<float>(), gate_w2.as<float>(), job_.arguments()});
        LaunchInfo info = project(job_);
        info.reads.push_back(weights);
        info.reads.push_back(gate_w2);
        launch_in_groups(
            std::move(info), "project_split.cu",
            SplitProjectArguments{map_of_x(), map(weights, 2, stacked, job_.width, stacked),
                                  map(gate_w2, 2, job_.rank, job_.hidden, job_.rank), job_.arguments()});
    }

    template <class Arguments>
    void launch_in_groups(LaunchInfo info, const char* file, const Arguments& given) {
        const int64_t stages = group_bytes(4) <= job_.builder.chip().shared_bytes_per_block ? 4 : 3;
        cuda::KernelSource source = job_.source(file, "project", group_bytes(stages),
                                                {{"HARD", job_.hard},
                                                 {"GUMBEL", job_.gumbel},
                                                 {"BACKWARD", false},
                                                 {"HIDDEN", job_.hidden},
                                                 {"RANK", job_.rank},
                                                 {"STAGES", stages}});
        source.threads = 3 * 128;
        info.meaning += " Warp groups multiply (wgmma).";
        job_.builder.launch(std::move(info), {pieces("B tiles", job_.batch * job_.tiles(), 2)}, source,
                            given);
    }

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
