// Every step is a launch, and every intermediate is an array. An item computes a tile of tokens, or a block
// of the gradient of a weight.

#include <algorithm>

#include "kernels/ar_ssm/cpu/gradients.h"
#include "kernels/ar_ssm/cpu/scans.h"
#include "kernels/ar_ssm/describe.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/core/launch_info.h"
#include "kernels/core/passes.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::ar_ssm {
namespace {

using cpu::Into;
using describe::Direction;

// For the rows of a tile of x, dy or y, which are stored alike.
struct TileRooms {
    float* rows;

    TileRooms(cpu::Scratch& scratch, const CpuJob& job)
        : rows(job.x.take_room(scratch, most_tokens_a_tile(job))) {}
};

struct HiddenRooms {
    TileRooms tile;
    DoubleRooms in_double;

    HiddenRooms(cpu::Scratch& scratch, const CpuJob& job) : tile(scratch, job), in_double(scratch, job) {}
};

// A block of the gradient of a weight, [block_rows, block_columns], and what its terms need.
constexpr int64_t block_rows = 16, block_columns = 256;

struct BlockRooms {
    float* sums;
    TermRooms terms;

    BlockRooms(cpu::Scratch& scratch, const CpuJob& job, const WeightGradient& of)
        : sums(scratch.take<float>(block_rows * block_columns)),
          terms(scratch, job, of, block_rows, block_columns) {}
};

class Unfused {
  public:
    explicit Unfused(cpu::PlanBuilder& builder)
        : builder_(builder), request_(builder.request()), job_(builder.keep(CpuJob(builder, 1))) {
        hidden_ = take(job_.hidden_stride());
        gates_ = job_.gates.buffer(builder, job_.tokens());
        u_ = take_ranks(), v_ = take_ranks(), c_ = take_ranks(), w_ = take_ranks();
        if (job_.bidirectional) c_rev_ = take_ranks(), w_rev_ = take_ranks();
        if (job_.backward) slopes_ = take_ranks();
        projected_u_ = job_.backward ? take_ranks() : u_;
        projected_v_ = job_.backward ? take_ranks() : v_;
    }

    void add_forward() {
        const Buffer t = take(job_.width_stride());
        launch_in<AroundRooms>(
            describe::convolve(request_), [t, &job = job_](Range tokens, const AroundRooms& rooms) {
                job.convolve_tokens(job.x, tokens, job.taps, job.zeros, rooms, t.at(tokens.first));
            });
        add_gates();
        add_projection(describe::project_u(request_), job_.u_proj, projected_u_, u_);
        add_projection(describe::project_v(request_), job_.v_proj, projected_v_, v_);
        add_scan("", false, u_, "u", c_, "c");
        if (job_.bidirectional) add_scan("reverse_", true, u_, "u", c_rev_, "c_rev");
        add_read_out(Direction::forward, c_, w_);
        if (job_.bidirectional) add_read_out(Direction::reverse, c_rev_, w_rev_);
        const Buffer uv = add_output(Direction::forward, w_);
        const Buffer uv_rev = job_.bidirectional ? add_output(Direction::reverse, w_rev_) : Buffer{};
        launch_in<TileRooms>(
            describe::add(request_), [t, uv, uv_rev, &job = job_](Range tokens, const TileRooms& rooms) {
                const int64_t count = tokens.count() * job.width_stride();
                float* const y = job.y.rows(tokens, rooms.rows).values;
                cpu::combine(y, 1, t.at(tokens.first), 1, uv.at(tokens.first), count);
                if (uv_rev) cpu::combine(y, job.scale(), y, job.scale(), uv_rev.at(tokens.first), count);
                job.y.put(tokens, y);
            });
    }

    void add_backward() {
        const Buffer dc = take_ranks(), dv = take_ranks();
        add_factor_gradients(dc, dv);
        const Buffer du = take_ranks(), du_rev = job_.bidirectional ? take_ranks() : Buffer{};
        add_scan("gradient_", true, dc, "dc", du, "du");
        if (du_rev) add_scan("gradient_reverse_", false, dc, "dc", du_rev, "du_rev");
        const Buffer dprojected_u = take_ranks(), dprojected_v = take_ranks(), dlogits = take_ranks();
        launch(describe::gate_gradients(request_),
               [=, gates = gates_, slopes = slopes_, projected_u = projected_u_,
                projected_v = projected_v_](Range tokens) {
                   const int64_t first = tokens.first;
                   if (du_rev) add(du.from(first), du_rev.from(first), tokens.count());
                   gate_gradients({du.at(first), dv.at(first), gates.at(first), slopes.at(first),
                                   projected_u.at(first), projected_v.at(first), dprojected_u.at(first),
                                   dprojected_v.at(first), dlogits.at(first)},
                                  tokens.count() * du.stride);
               });
        const Buffer dhidden = take(job_.hidden_stride());
        launch(describe::hidden_gradient(request_), [=, hidden = hidden_, &job = job_](Range tokens) {
            const Buffer to = dhidden.from(tokens.first);
            job.gate_w2_back.multiply(dlogits.from(tokens.first), tokens.count(), to);
            keep_where_positive(to.values, hidden.at(tokens.first), tokens.count() * to.stride);
        });
        add_weight_gradients({hidden_, dhidden, dlogits, dprojected_u, dprojected_v, w_});
        const Buffer dx = job_.dx.buffer(builder_, job_.tokens());
        launch_in<AroundRooms>(
            describe::x_gradient(request_, "conv"), [=, &job = job_](Range tokens, const AroundRooms& rooms) {
                job.convolve_tokens(job.dy, tokens, job.taps_back, job.zeros, rooms, dx.at(tokens.first));
                job.dx.put(tokens, dx.at(tokens.first));
            });
        add_x_gradient("gate_w1", dhidden, job_.gate_w1_back, dx);
        add_x_gradient("u_proj", dprojected_u, job_.u_proj_back, dx);
        add_x_gradient("v_proj", dprojected_v, job_.v_proj_back, dx);
    }

  private:
    Buffer take(int64_t stride) { return {builder_.take<float>(job_.tokens() * stride), stride}; }
    Buffer take_ranks() { return take(job_.rank_stride()); }

    // A launch whose items call act(tokens) for a tile each.
    template <class Act>
    void launch(LaunchInfo info, Act act) {
        const int64_t tile = tile_of(job_), count = job_.tokens();
        builder_.launch(std::move(info), pieces("B L", count, tile),
                        [=](const cpu::Item& item) { act(tile_at(item.index, tile, count)); });
    }
    // A launch whose items call act(tokens, rooms).
    template <class Rooms, class Act>
    void launch_in(LaunchInfo info, Act act) {
        const int64_t tile = tile_of(job_), count = job_.tokens();
        builder_.launch(with_scratch(std::move(info), cpu::scratch_bytes<Rooms>(job_)),
                        pieces("B L", count, tile), [=, &job = job_](const cpu::Item& item) {
                            act(tile_at(item.index, tile, count), cpu::take_rooms<Rooms>(item.scratch, job));
                        });
    }

    void add_scan(const char* prefix, bool flipped, const Buffer& from, const char* from_name,
                  const Buffer& to, const char* to_name) {
        ar_ssm::add_scan(builder_, request_.parameters.text("scan"), job_.batch, job_.length,
                         {prefix, flipped, from, from_name, to, to_name});
    }

    void add_gates() {
        launch_in<HiddenRooms>(describe::hidden(request_), [hidden = hidden_, &job = job_](
                                                               Range tokens, const HiddenRooms& rooms) {
            const Buffer to = hidden.from(tokens.first);
            job.gate_w1.multiply(job.x.load(tokens, rooms.tile.rows), tokens.count(), to);
            job.activate_hidden(tokens, to, rooms.in_double);
        });
        launch_in<DoubleRooms>(
            describe::gates(request_), [hidden = hidden_, gates = gates_, slopes = slopes_, &job = job_](
                                           Range tokens, const DoubleRooms& rooms) {
                const Buffer to = gates.from(tokens.first);
                job.gate_w2.multiply(hidden.from(tokens.first), tokens.count(), to);
                job.open_gates(tokens, to.values, job.backward ? slopes.at(tokens.first) : nullptr, rooms);
            });
        launch(describe::effective_rank(request_), [gates = gates_, &job = job_](Range tokens) {
            job.sum_gates(tokens, gates.at(tokens.first));
        });
    }

    void add_projection(LaunchInfo info, const Factor& factor, const Buffer& projected, const Buffer& gated) {
        launch_in<TileRooms>(
            std::move(info), [=, gates = gates_, &job = job_](Range tokens, const TileRooms& rooms) {
                factor.multiply(job.x.load(tokens, rooms.rows), tokens.count(), projected.from(tokens.first));
                multiply(projected.from(tokens.first), gates.from(tokens.first), gated.from(tokens.first),
                         tokens.count());
            });
    }

    void add_read_out(Direction direction, const Buffer& c, const Buffer& w) {
        launch(describe::multiply(request_, direction), [=, v = v_](Range tokens) {
            multiply(c.from(tokens.first), v.from(tokens.first), w.from(tokens.first), tokens.count());
        });
    }

    Buffer add_output(Direction direction, const Buffer& w) {
        const Buffer uv = take(job_.width_stride());
        launch(describe::project_out(request_, direction), [=, &job = job_](Range tokens) {
            for (int64_t token = tokens.first; token < tokens.last; ++token)
                std::copy_n(job.out_bias, uv.stride, uv.at(token));
            job.out_proj.multiply(w.from(tokens.first), tokens.count(), uv.from(tokens.first), Into::add);
        });
        return uv;
    }

    void add_factor_gradients(const Buffer& dc, const Buffer& dv) {
        const Buffer dw = take_ranks();
        launch_in<TileRooms>(describe::w_gradient(request_),
                             [=, &job = job_](Range tokens, const TileRooms& rooms) {
                                 job.out_proj_back.multiply(job.dy.load(tokens, rooms.rows), tokens.count(),
                                                            dw.from(tokens.first));
                             });
        launch(describe::factor_gradients(request_), [=, v = v_, c = c_, c_rev = c_rev_](Range tokens) {
            const int64_t first = tokens.first, count = tokens.count();
            multiply(dw.from(first), v.from(first), dc.from(first), count);
            if (c_rev) add(c.from(first), c_rev.from(first), count);  // c has no other reader from here on
            multiply(dw.from(first), c.from(first), dv.from(first), count);
        });
    }

    void add_weight_gradients(const GradientRows& rows) {
        for (const WeightGradient& gradient : weight_gradients(builder_, job_, rows)) {
            add_weight_gradient(gradient, Direction::forward);
            if (!job_.bidirectional || !gradient.of_w) continue;
            WeightGradient reverse = gradient;
            reverse.left = w_rev_.array();
            add_weight_gradient(reverse, Direction::reverse);
        }
    }

    void add_weight_gradient(const WeightGradient& gradient, Direction direction) {
        const Side blocks =
            pieces("rows", gradient.rows, block_rows) * pieces("columns", gradient.columns, block_columns);
        builder_.launch(
            with_scratch(describe::weight_gradient(request_, gradient.weight, direction),
                         cpu::scratch_bytes<BlockRooms>(job_, gradient)),
            blocks, [=, &job = job_](const cpu::Item& item) {
                const int64_t across = ceil_divide(gradient.columns, block_columns), tile = tile_of(job);
                const int64_t tiles = ceil_divide(job.tokens(), tile);
                const Range of_rows = tile_at(item.index / across, block_rows, gradient.rows);
                const Range of_columns = tile_at(item.index % across, block_columns, gradient.columns);
                const auto rooms = cpu::take_rooms<BlockRooms>(item.scratch, job, gradient);
                std::fill_n(rooms.sums, block_rows * block_columns, 0.0f);
                for (int64_t t = 0; t < tiles && !item.stop.stop_requested(); ++t)
                    gradient.add(job, tile_at(t, tile, job.tokens()), of_rows, of_columns, rooms.terms,
                                 rooms.sums);
                gradient.put(rooms.sums, of_rows, of_columns, direction == Direction::reverse);
            });
    }

    void add_x_gradient(const char* weight, const Buffer& from, const Factor& factor, const Buffer& dx) {
        launch(describe::x_gradient(request_, weight), [=, &job = job_](Range tokens) {
            const Buffer to = dx.from(tokens.first);
            factor.multiply(from.from(tokens.first), tokens.count(), to, Into::add);
            job.dx.put(tokens, to.values);
        });
    }

    cpu::PlanBuilder& builder_;
    const PlanRequest& request_;
    const CpuJob& job_;
    Buffer hidden_, gates_, slopes_, projected_u_, projected_v_, u_, v_, c_, c_rev_, w_, w_rev_;
};

}  // namespace

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request) {
    return plan_in_passes<cpu::PlanBuilder, Unfused>(request);
}

}  // namespace sawtooth::ar_ssm
