// The variant unfused: every step is a launch, and every intermediate is an array. An item computes a tile of
// tokens, or a tile of the gradient of a weight.

#include <algorithm>

#include "kernels/ar_ssm/cpu/gradients.h"
#include "kernels/ar_ssm/launches.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/ar_ssm/scans.h"
#include "kernels/core/passes.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::ar_ssm {
namespace {

using cpu::Into;
// Scratch for the rows of a tile of x, dy or y, which have the same storage.
struct TileRooms {
    float* rows;

    TileRooms(cpu::Scratch& scratch, const CpuJob& job)
        : rows(take_room(scratch, job.x, job.most_tokens_a_tile())) {}
};

struct HiddenRooms {
    TileRooms tile;
    DoubleRooms in_double;

    HiddenRooms(cpu::Scratch& scratch, const CpuJob& job) : tile(scratch, job), in_double(scratch, job) {}
};

// The size of a tile of the gradient of a weight.
constexpr int64_t tile_rows = 16, tile_columns = 256;

struct GradientTileRooms {
    float* sums;
    TermRooms terms;

    GradientTileRooms(cpu::Scratch& scratch, const CpuJob& job, const WeightGradient& gradient)
        : sums(scratch.take<float>(tile_rows * tile_columns)),
          terms(scratch, job, gradient, tile_rows, tile_columns) {}
};

class Unfused {
  public:
    explicit Unfused(cpu::PlanBuilder& builder)
        : builder_(builder), job_(builder.keep(CpuJob(builder, false))) {}

    void add_forward() {
        launch_in<AroundRooms>(convolve(job_), [&job = job_](Range tokens, const AroundRooms& rooms) {
            job.convolve_tokens(job.x, tokens, job.weight.conv, nullptr, rooms,
                                rows_from(job.t, tokens.first).values);
        });
        add_gates();
        add_projection(project_u(job_), job_.u_proj, job_.projected_u, job_.u);
        add_projection(project_v(job_), job_.v_proj, job_.projected_v, job_.v);
        scan("", false, job_.u, job_.c);
        if (job_.bidirectional) scan("reverse_", true, job_.u, job_.c_rev);
        for (const bool reverse : directions()) add_read_out(reverse);
        for (const bool reverse : directions()) add_output(reverse);
        launch_in<TileRooms>(add(job_), [&job = job_](Range tokens, const TileRooms& rooms) {
            const int64_t first = tokens.first, count = tokens.count() * job.width_stride();
            float* const y = rows_to_put(job.y, tokens, rooms.rows).values;
            cpu::combine(y, 1, rows_from(job.t, first).values, 1, rows_from(job.uv, first).values, count);
            if (job.uv_rev)
                cpu::combine(y, job.scale(), y, job.scale(), rows_from(job.uv_rev, first).values, count);
            put(y, tokens, job.y);
        });
        if (!job_.stored_intermediates.empty()) add_store();
    }

    void add_backward() {
        add_factor_gradients();
        scan("gradient_", true, job_.dc, job_.du);
        if (job_.bidirectional) scan("gradient_reverse_", false, job_.dc, job_.du_rev);
        LaunchInfo info = gate_gradients(job_);
        if (job_.du_rev) info.writes.push_back(job_.du);  // becomes the sum of both directions
        launch(std::move(info), [&job = job_](Range tokens) {
            const Rows du = rows_from(job.du, tokens.first);
            if (job.du_rev) add(du, rows_from(job.du_rev, tokens.first), tokens.count());
            job.differentiate_gates(tokens, du);
        });
        launch(hidden_gradient(job_), [&job = job_](Range tokens) { job.differentiate_hidden(tokens); });
        for (const WeightGradient& gradient : job_.weight_gradients()) add_weight_gradient(gradient);
        launch_in<AroundRooms>(x_gradient_conv(job_), [&job = job_](Range tokens, const AroundRooms& rooms) {
            float* const dx = rows_from(job.dx, tokens.first).values;
            job.convolve_tokens(job.dy, tokens, job.back.conv, nullptr, rooms, dx);
            put(dx, tokens, job.stored_dx);
        });
        add_x_gradient(job_.dhidden, job_.back.gate_w1, job_.gate_w1_back);
        add_x_gradient(job_.dprojected_u, job_.back.u_proj, job_.u_proj_back);
        add_x_gradient(job_.dprojected_v, job_.back.v_proj, job_.v_proj_back);
    }

  private:
    // For every direction of the scan, whether it is the one from the end.
    std::vector<bool> directions() const {
        return job_.bidirectional ? std::vector<bool>{false, true} : std::vector<bool>{false};
    }

    // Adds a launch whose items each call act(tokens) for a tile.
    template <class Act>
    void launch(LaunchInfo info, Act act) {
        const int64_t tile = job_.tile, count = job_.tokens();
        builder_.launch(std::move(info), pieces("B L", count, tile),
                        [=](const cpu::Item& item) { act(tile_at(item.index, tile, count)); });
    }
    // Adds a launch whose items each call act(tokens, rooms) for a tile.
    template <class Rooms, class Act>
    void launch_in(LaunchInfo info, Act act) {
        const int64_t tile = job_.tile, count = job_.tokens();
        builder_.launch(with_scratch(std::move(info), cpu::scratch_bytes<Rooms>(job_)),
                        pieces("B L", count, tile), [=, &job = job_](const cpu::Item& item) {
                            act(tile_at(item.index, tile, count), cpu::take_rooms<Rooms>(item.scratch, job));
                        });
    }

    void scan(const char* prefix, bool flipped, const Buffer& from, const Buffer& to) {
        add_scan(builder_, builder_.parameters().text("scan"), prefix, flipped, from, to);
    }

    void add_store() {
        launch(store_intermediates(job_), [&job = job_](Range tokens) {
            for (const auto& [from, to] : job.stored_intermediates)
                for (int64_t token = tokens.first; token < tokens.last; ++token)
                    cpu::write(rows_from(from, token).values, to.shape.back(), to, token * to.shape.back());
        });
    }

    void add_gates() {
        launch_in<HiddenRooms>(hidden(job_), [&job = job_](Range tokens, const HiddenRooms& rooms) {
            const Rows to = rows_from(job.hidden_units, tokens.first);
            job.gate_w1.multiply(load(job.x, tokens, rooms.tile.rows), tokens.count(), to);
            job.activate_hidden(tokens, to, rooms.in_double);
        });
        launch_in<DoubleRooms>(gates(job_), [&job = job_](Range tokens, const DoubleRooms& rooms) {
            const Rows to = rows_from(job.gates, tokens.first);
            job.gate_w2.multiply(rows_from(job.hidden_units, tokens.first), tokens.count(), to);
            job.open_gates(tokens, to.values, rooms);
        });
        launch(effective_rank(job_), [&job = job_](Range tokens) {
            job.sum_gates(tokens, rows_from(job.gates, tokens.first).values);
        });
    }

    // Without a backward pass `projected` is absent, and the projection is gated in place.
    void add_projection(LaunchInfo info, const Factor& factor, const Buffer& projected, const Buffer& gated) {
        launch_in<TileRooms>(std::move(info), [&factor, &gated, &projected = projected ? projected : gated,
                                               &job = job_](Range tokens, const TileRooms& rooms) {
            const Rows from = rows_from(projected, tokens.first);
            factor.multiply(load(job.x, tokens, rooms.rows), tokens.count(), from);
            multiply(from, rows_from(job.gates, tokens.first), rows_from(gated, tokens.first),
                     tokens.count());
        });
    }

    void add_read_out(bool reverse) {
        const Buffer &c = reverse ? job_.c_rev : job_.c, &w = reverse ? job_.w_rev : job_.w;
        launch(multiply(job_, reverse), [&c, &w, &v = job_.v](Range tokens) {
            multiply(rows_from(c, tokens.first), rows_from(v, tokens.first), rows_from(w, tokens.first),
                     tokens.count());
        });
    }

    void add_output(bool reverse) {
        const Buffer &w = reverse ? job_.w_rev : job_.w, &uv = reverse ? job_.uv_rev : job_.uv;
        launch(project_out(job_, reverse), [&w, &uv, &job = job_](Range tokens) {
            const Rows to = rows_from(uv, tokens.first);
            const auto* const bias = job.weight.out_bias.as<float>();
            for (int64_t i = 0; i < tokens.count(); ++i) std::copy_n(bias, to.stride, to.at(i));
            job.out_proj.multiply(rows_from(w, tokens.first), tokens.count(), to, Into::add);
        });
    }

    void add_factor_gradients() {
        launch_in<TileRooms>(w_gradient(job_), [&job = job_](Range tokens, const TileRooms& rooms) {
            job.out_proj_back.multiply(load(job.dy, tokens, rooms.rows), tokens.count(),
                                       rows_from(job.dw, tokens.first));
        });
        LaunchInfo info = factor_gradients(job_);
        if (job_.c_rev)
            info.writes.push_back(job_.c);  // becomes the sum of both; nothing else reads it from here on
        launch(std::move(info), [&job = job_](Range tokens) {
            const auto rows = [&](const Buffer& array) { return rows_from(array, tokens.first); };
            const int64_t count = tokens.count();
            multiply(rows(job.dw), rows(job.v), rows(job.dc), count);
            if (job.c_rev) add(rows(job.c), rows(job.c_rev), count);
            multiply(rows(job.dw), rows(job.c), rows(job.dv), count);
        });
    }

    void add_weight_gradient(const WeightGradient& gradient) {
        const int64_t down = gradient.rows(), across = gradient.columns();
        builder_.launch(with_scratch(weight_gradient(job_, gradient),
                                     cpu::scratch_bytes<GradientTileRooms>(job_, gradient)),
                        pieces("rows", down, tile_rows) * pieces("columns", across, tile_columns),
                        [=, &job = job_](const cpu::Item& item) {
                            const int64_t side = ceil_divide(across, tile_columns);
                            const int64_t token_tiles = ceil_divide(job.tokens(), job.tile);
                            const Range rows = tile_at(item.index / side, tile_rows, down);
                            const Range columns = tile_at(item.index % side, tile_columns, across);
                            const auto rooms =
                                cpu::take_rooms<GradientTileRooms>(item.scratch, job, gradient);
                            std::fill_n(rooms.sums, tile_rows * tile_columns, 0.0f);
                            for (int64_t t = 0; t < token_tiles && !item.stop.stop_requested(); ++t)
                                add_terms(job, gradient, tile_at(t, job.tile, job.tokens()), rows, columns,
                                          rooms.terms, rooms.sums);
                            put_sums(gradient, rooms.sums, rows, columns);
                        });
    }

    void add_x_gradient(const Buffer& from, const Buffer& weight, const Factor& factor) {
        launch(x_gradient(job_, from, weight), [&from, &factor, &job = job_](Range tokens) {
            const Rows to = rows_from(job.dx, tokens.first);
            factor.multiply(rows_from(from, tokens.first), tokens.count(), to, Into::add);
            put(to.values, tokens, job.stored_dx);
        });
    }

    cpu::PlanBuilder& builder_;
    const CpuJob& job_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request) {
    return plan_in_passes<cpu::PlanBuilder, Unfused>(request);
}

}  // namespace sawtooth::ar_ssm
