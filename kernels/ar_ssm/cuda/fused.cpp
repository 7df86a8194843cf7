// The variant fused: a launch for projections and gates, a scan of the sums of tiles, and one for the rest;
// the gradients go back the same way.

#include "kernels/ar_ssm/cuda/job.h"
#include "kernels/ar_ssm/describe.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/core/passes.h"
#include "kernels/cuda/struct_bytes.h"

namespace sawtooth::ar_ssm {
namespace {

constexpr int64_t most_ranks = 64;

class Launches {
  public:
    explicit Launches(cuda::PlanBuilder& builder) : job_(builder) {
        Layer& given = job_.given;
        given.projected_u = job_.take_factors(job_.rank);
        given.projected_v = job_.take_factors(job_.rank);
        given.w = job_.take_factors(job_.rank);
        given.totals = take_totals();
        given.prefixes = take_totals();
        if (job_.bidirectional) given.reverse_prefixes = take_totals();
        if (!job_.backward) return;
        given.c = job_.take_ranks();
        given.gradient_totals = take_totals();
        given.gradient_prefixes = take_totals();
        if (job_.bidirectional) given.reverse_gradient_prefixes = take_totals();
    }

    void add_forward() {
        const Layer& given = job_.given;
        const int64_t panel = panel_of(job_.hidden + 2 * job_.rank, 192, 64), depth = job_.long_depth();
        const int64_t project_bytes = std::max(job_.forward_bytes(tile_rows, panel, depth),
                                               job_.forward_bytes(tile_rows, ranks(), depth));
        launch(describe::project(request(), tile_rows), "project",
               cuda::StructBytes()
                   .array(project_bytes / 16, 16, 16)
                   .array(totals(), 4)
                   .array(2 * tile_rows, 4)
                   .total(),
               {{"DEPTH", depth},
                {"PANEL", panel},
                {"RANKS", ranks()},
                {"HARD", job_.hard},
                {"BACKWARD", job_.backward}});
        scan_totals({"totals_", false, job_.tiles(), "totals", given.totals, Storage::f32, "prefixes",
                     given.prefixes});
        if (job_.bidirectional)
            scan_totals({"reverse_totals_", true, job_.tiles(), "totals", given.totals, Storage::f32,
                         "reverse_prefixes", given.reverse_prefixes});
        launch(describe::scan_and_output(request(), tile_rows), "scan_and_output",
               std::max(job_.forward_bytes(tile_rows, job_.channels(), job_.depth()), staged_bytes()),
               {{"DEPTH", job_.depth()},
                {"CHANNELS", job_.channels()},
                {"BACKWARD", job_.backward},
                {"BIDIRECTIONAL", job_.bidirectional}});
    }

    void add_backward() {
        const Layer& given = job_.given;
        launch(describe::output_gradients(request(), tile_rows), "output_gradients",
               cuda::StructBytes()
                   .array(job_.backward_bytes(tile_rows, ranks(), job_.long_depth()) / 16, 16, 16)
                   .array(totals(), 4)
                   .total(),
               {{"DEPTH", job_.long_depth()}, {"RANKS", ranks()}});
        scan_totals({"gradient_totals_", true, job_.tiles(), "gradient_totals", given.gradient_totals,
                     Storage::f32, "gradient_prefixes", given.gradient_prefixes});
        if (job_.bidirectional)
            scan_totals({"gradient_reverse_totals_", false, job_.tiles(), "gradient_totals",
                         given.gradient_totals, Storage::f32, "reverse_gradient_prefixes",
                         given.reverse_gradient_prefixes});
        launch(
            describe::input_gradients(request(), tile_rows), "input_gradients",
            std::max(job_.backward_bytes(tile_rows, job_.channels(), job_.depth()), staged_bytes()),
            {{"DEPTH", job_.depth()}, {"CHANNELS", job_.channels()}, {"BIDIRECTIONAL", job_.bidirectional}});
        add_weight_gradients();
    }

  private:
    const PlanRequest& request() const { return job_.builder.request(); }
    float* take_totals() { return job_.builder.take<float>(job_.batch * job_.tiles() * job_.rank); }

    int64_t ranks() const { return panel_of(job_.rank, most_ranks, 32); }  // gates at a time
    int64_t totals() const { return tile_rows / 16 * ranks(); }            // of the warps of a column
    int64_t staged_bytes() const { return tile_rows * (job_.channels() + 4) * 4; }

    void launch(LaunchInfo info, const char* name, int64_t shared_bytes, cuda::Defines defines) {
        defines.push_back({"ROWS", tile_rows});
        job_.builder.launch(std::move(info), job_.grid_of_tiles(),
                            job_.source(std::string(name) + ".cu", name, shared_bytes, std::move(defines)),
                            job_.given);
    }

    void scan_totals(const CudaJob::ScanOf& of) { job_.scan("lookback", of); }

    void add_weight_gradients() {
        const Layer& given = job_.given;
        WeightSums sums(job_);
        sums.product("gate_w1", given.dhidden, job_.hidden, given.x, job_.width);
        sums.product("u_proj", given.dprojected_u, job_.rank, given.x, job_.width);
        sums.product("v_proj", given.dprojected_v, job_.rank, given.x, job_.width);
        sums.product("out_proj", given.dy, job_.width, given.w, job_.rank, job_.scale());
        sums.product("gate_w2", given.dlogits, job_.rank, given.hidden_units, job_.hidden);
        sums.sum("gate_b1", given.dhidden, job_.hidden);
        sums.sum("gate_b2", given.dlogits, job_.rank);
        sums.sum("out_bias", given.dy, job_.width);
        sums.taps();
        sums.launch(describe::weight_gradients(request()));
    }

    CudaJob job_;
};

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) {
    return plan_in_passes<cuda::PlanBuilder, Launches>(request);
}

}  // namespace sawtooth::ar_ssm
