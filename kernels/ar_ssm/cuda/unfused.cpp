// The variant unfused: a launch for every step.

#include "kernels/ar_ssm/cuda/job.h"
#include "kernels/ar_ssm/launches.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/ar_ssm/scans.h"
#include "kernels/core/passes.h"

namespace sawtooth::ar_ssm {
namespace {

class UnfusedLaunches {
  public:
    explicit UnfusedLaunches(cuda::PlanBuilder& builder) : job_(builder, false) {}

    void add_forward() {
        convolution(convolve(job_));
        product(hidden(job_), "H", job_.hidden);
        product(gates(job_), "r", job_.rank);
        step(effective_rank(job_), {pieces("32 B L", 32 * job_.tokens(), threads)});
        product(project_u(job_), "r", job_.rank);
        product(project_v(job_), "r", job_.rank);
        scan("", false, job_.u, job_.c);
        read_out(false);
        if (job_.bidirectional) {
            scan("reverse_", true, job_.u, job_.c_rev);
            read_out(true);
        }
        step(add(job_), {pieces("B L D", job_.tokens() * job_.width, threads * job_.channels_together())});
    }

    void add_backward() {
        product(w_gradient(job_), "r", job_.rank);
        rank_step(factor_gradients(job_));
        scan("gradient_", true, job_.dc, job_.du);
        if (job_.bidirectional) scan("gradient_reverse_", false, job_.dc, job_.du_rev);
        rank_step(gate_gradients(job_));
        product(hidden_gradient(job_), "H", job_.hidden);
        convolution(x_gradient_conv(job_));
        product(x_gradient(job_, job_.dhidden, job_.back.gate_w1), "D", job_.width);
        product(x_gradient(job_, job_.dprojected_u, job_.back.u_proj), "D", job_.width);
        product(x_gradient(job_, job_.dprojected_v, job_.back.v_proj), "D", job_.width);
        for (const WeightGradient& gradient : job_.weight_gradients())
            add_weight_gradients(job_, weight_gradient(job_, gradient), {gradient});
    }

  private:
    // The entry point of a kernel has the name of the launch.
    void launch(LaunchInfo info, const Grid& grid, const char* file, int64_t shared_bytes,
                cuda::Defines defines) {
        const std::string entry = info.name;
        job_.builder.launch(std::move(info), grid, job_.source(file, entry, shared_bytes, std::move(defines)),
                            job_.arguments());
    }
    void product(LaunchInfo info, const char* name, int64_t columns) {
        constexpr int64_t rows = 128;
        const int64_t together = columns_at_once(columns, 64, 32), depth = job_.depth();
        const std::string step = info.name;
        launch(
            std::move(info), {pieces("B L", job_.tokens(), rows), pieces(name, columns, together)},
            "products.cu",
            std::max(job_.forward_bytes(rows, together, depth), job_.backward_bytes(rows, together, depth)),
            {{"DEPTH", depth},
             {"COLUMNS", together},
             {"HARD", job_.hard},
             {"GUMBEL", job_.gumbel},
             {"BACKWARD", job_.backward},
             {"STEP", step}});
    }
    void step(LaunchInfo info, const Grid& grid) {
        launch(std::move(info), grid, "steps.cu", 0,
               {{"BIDIRECTIONAL", job_.bidirectional}, {"ROWS", job_.tile}, {"CHANNELS", job_.channels()}});
    }
    void convolution(LaunchInfo info) {
        const Side tiles = job_.grid_of_tiles().x;
        step(std::move(info), {tiles, pieces("D", job_.width, job_.channels())});
    }
    void rank_step(LaunchInfo info) {
        step(std::move(info), {pieces("B L r", job_.tokens() * job_.rank, threads)});
    }
    void scan(const char* prefix, bool flipped, const Buffer& from, const Buffer& to) {
        add_scan(job_.builder, job_.builder.parameters().text("scan"), prefix, flipped, from, to);
    }

    void read_out(bool reverse) {
        rank_step(multiply(job_, reverse));
        product(project_out(job_, reverse), "D", job_.width);
    }

    const CudaJob job_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request) {
    return plan_in_passes<cuda::PlanBuilder, UnfusedLaunches>(request);
}

}  // namespace sawtooth::ar_ssm
