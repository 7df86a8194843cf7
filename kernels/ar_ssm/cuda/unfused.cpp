// The variant unfused: a launch for every step.

#include "kernels/ar_ssm/cuda/job.h"
#include "kernels/ar_ssm/describe.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/core/passes.h"

namespace sawtooth::ar_ssm {
namespace {

using describe::Direction;

class Launches {
  public:
    explicit Launches(cuda::PlanBuilder& builder) : job_(builder) {
        Layer& given = job_.given;
        given.t = job_.take_factors(job_.width);
        given.u = job_.take_factors(job_.rank);
        given.v = job_.take_factors(job_.rank);
        given.c = job_.take_ranks();
        given.w = job_.take_factors(job_.rank);
        given.uv = job_.take_factors(job_.width);
        if (job_.bidirectional) {
            given.c_rev = job_.take_ranks();
            given.w_rev = job_.take_factors(job_.rank);
            given.uv_rev = job_.take_factors(job_.width);
        }
        if (!job_.backward) return;
        given.projected_u = job_.take_factors(job_.rank);
        given.projected_v = job_.take_factors(job_.rank);
        given.dw = job_.take_ranks();
        given.du = job_.take_ranks();
        if (job_.bidirectional) given.du_rev = job_.take_ranks();
    }

    void add_forward() {
        const Layer& given = job_.given;
        convolution(describe::convolve(request()));
        product(describe::hidden(request()), "H", job_.hidden);
        product(describe::gates(request()), "r", job_.rank);
        step(describe::effective_rank(request()), {pieces("32 B L", 32 * job_.tokens(), threads)});
        product(describe::project_u(request()), "r", job_.rank);
        product(describe::project_v(request()), "r", job_.rank);
        scan({"", false, job_.length, "u", given.u, job_.storage, "c", given.c});
        read_out(Direction::forward);
        if (job_.bidirectional) {
            scan({"reverse_", true, job_.length, "u", given.u, job_.storage, "c_rev", given.c_rev});
            read_out(Direction::reverse);
        }
        step(describe::add(request()),
             {pieces("B L D", job_.tokens() * job_.width, threads * job_.channels_together())});
    }

    void add_backward() {
        const Layer& given = job_.given;
        product(describe::w_gradient(request()), "r", job_.rank);
        rank_step(describe::factor_gradients(request()));
        scan({"gradient_", true, job_.length, "dc", given.dc, Storage::f32, "du", given.du});
        if (job_.bidirectional)
            scan({"gradient_reverse_", false, job_.length, "dc", given.dc, Storage::f32, "du_rev",
                  given.du_rev});
        rank_step(describe::gate_gradients(request()));
        product(describe::hidden_gradient(request()), "H", job_.hidden);
        convolution(describe::x_gradient(request(), "conv"));
        for (const char* weight : {"gate_w1", "u_proj", "v_proj"})
            product(describe::x_gradient(request(), weight), "D", job_.width);
        weight_gradients();
    }

  private:
    const PlanRequest& request() const { return job_.builder.request(); }

    // The entry of a kernel is the name of its launch.
    void launch(LaunchInfo info, const Grid& grid, const char* file, int64_t shared_bytes,
                cuda::Defines defines) {
        const std::string entry = info.name;
        job_.builder.launch(std::move(info), grid, job_.source(file, entry, shared_bytes, std::move(defines)),
                            job_.given);
    }
    void product(LaunchInfo info, const char* of, int64_t columns) {
        constexpr int64_t rows = 128;
        const int64_t together = panel_of(columns, 64, 32), depth = job_.depth();
        const std::string step = info.name;
        launch(
            std::move(info), {pieces("B L", job_.tokens(), rows), pieces(of, columns, together)},
            "products.cu",
            std::max(job_.forward_bytes(rows, together, depth), job_.backward_bytes(rows, together, depth)),
            {{"DEPTH", depth},
             {"COLUMNS", together},
             {"HARD", job_.hard},
             {"BACKWARD", job_.backward},
             {"STEP", step}});
    }
    void step(LaunchInfo info, const Grid& grid) {
        launch(std::move(info), grid, "steps.cu", 0,
               {{"BIDIRECTIONAL", job_.bidirectional}, {"ROWS", tile_rows}, {"CHANNELS", job_.channels()}});
    }
    void convolution(LaunchInfo info) {
        const Side tiles = job_.grid_of_tiles().x;
        step(std::move(info), {tiles, pieces("D", job_.width, job_.channels())});
    }
    void rank_step(LaunchInfo info) {
        step(std::move(info), {pieces("B L r", job_.tokens() * job_.rank, threads)});
    }
    void scan(const CudaJob::ScanOf& of) { job_.scan(request().parameters.text("scan"), of); }

    void read_out(Direction direction) {
        rank_step(describe::multiply(request(), direction));
        product(describe::project_out(request(), direction), "D", job_.width);
    }

    // Calls add(sums) for the one gradient of the launch.
    template <class Add>
    void weight_gradient(const char* weight, Direction direction, Add add) {
        WeightSums sums(job_);
        add(sums);
        sums.launch(describe::weight_gradient(request(), weight, direction), direction == Direction::reverse);
    }
    void product_gradient(const char* weight, const void* left, int64_t rows, const void* right,
                          int64_t columns, float scale = 1, Direction direction = Direction::forward) {
        weight_gradient(weight, direction,
                        [&](WeightSums& sums) { sums.product(weight, left, rows, right, columns, scale); });
    }
    void bias_gradient(const char* weight, const void* values, int64_t columns) {
        weight_gradient(weight, Direction::forward,
                        [&](WeightSums& sums) { sums.sum(weight, values, columns); });
    }

    void weight_gradients() {
        const Layer& given = job_.given;
        weight_gradient("conv", Direction::forward, [](WeightSums& sums) { sums.taps(); });
        product_gradient("gate_w1", given.dhidden, job_.hidden, given.x, job_.width);
        bias_gradient("gate_b1", given.dhidden, job_.hidden);
        product_gradient("gate_w2", given.dlogits, job_.rank, given.hidden_units, job_.hidden);
        bias_gradient("gate_b2", given.dlogits, job_.rank);
        product_gradient("u_proj", given.dprojected_u, job_.rank, given.x, job_.width);
        product_gradient("v_proj", given.dprojected_v, job_.rank, given.x, job_.width);
        product_gradient("out_proj", given.dy, job_.width, given.w, job_.rank, job_.scale());
        if (job_.bidirectional)
            product_gradient("out_proj", given.dy, job_.width, given.w_rev, job_.rank, job_.scale(),
                             Direction::reverse);
        bias_gradient("out_bias", given.dy, job_.width);
    }

    CudaJob job_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request) {
    return plan_in_passes<cuda::PlanBuilder, Launches>(request);
}

}  // namespace sawtooth::ar_ssm
