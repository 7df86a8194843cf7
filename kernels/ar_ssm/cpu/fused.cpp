// Two launches, with a scan of the totals of tiles between them: the first computes the gates and projections
// of a tile of positions and the total of u, the second scans u from the prefix of the tile and computes y.
// Backward likewise from the end, then the gradients of the weights, summed over parts of the tokens. What
// passes from step to step within a launch stays in the L2 cache.

#include <algorithm>
#include <vector>

#include "kernels/ar_ssm/cpu/gradients.h"
#include "kernels/ar_ssm/cpu/scans.h"
#include "kernels/ar_ssm/describe.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/core/launch_info.h"
#include "kernels/core/passes.h"
#include "kernels/cpu/row_scan.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::ar_ssm {
namespace {

using cpu::Into;

// Rows of a tile, `stride` apart; null unless they are needed.
Buffer take_rows(cpu::Scratch& scratch, const CpuJob& job, int64_t stride, bool needed = true) {
    return {needed ? scratch.take<float>(most_tokens_a_tile(job) * stride) : nullptr, stride};
}
Buffer take_ranks(cpu::Scratch& scratch, const CpuJob& job, bool needed = true) {
    return take_rows(scratch, job, job.rank_stride(), needed);
}

struct ProjectRooms {
    float* x;
    DoubleRooms in_double;
    Buffer projections, u;

    ProjectRooms(cpu::Scratch& scratch, const CpuJob& job)
        : x(job.x.take_room(scratch, most_tokens_a_tile(job))),
          in_double(scratch, job),
          projections(take_rows(scratch, job, job.projections.columns)),
          u(take_ranks(scratch, job)) {}
};

struct ScanAndOutputRooms {
    Buffer u, v;
    Buffer c, w;  // null if the backward pass reads those of all tokens
    float *carry, *y;
    AroundRooms around;

    ScanAndOutputRooms(cpu::Scratch& scratch, const CpuJob& job)
        : u(take_ranks(scratch, job)),
          v(take_ranks(scratch, job)),
          c(take_ranks(scratch, job, !job.backward)),
          w(take_ranks(scratch, job, !job.backward)),
          carry(scratch.take<float>(job.rank_stride())),
          y(job.y.take_room(scratch, most_tokens_a_tile(job))),
          around(scratch, job) {}
};

struct OutputGradientRooms {
    Buffer dw, v;
    float* dy;

    OutputGradientRooms(cpu::Scratch& scratch, const CpuJob& job)
        : dw(take_ranks(scratch, job)),
          v(take_ranks(scratch, job)),
          dy(job.dy.take_room(scratch, most_tokens_a_tile(job))) {}
};

struct InputGradientRooms {
    Buffer du, du_rev;  // the second is null unless the layer is bidirectional
    float *carry, *dx;
    AroundRooms around;

    InputGradientRooms(cpu::Scratch& scratch, const CpuJob& job)
        : du(take_ranks(scratch, job)),
          du_rev(take_ranks(scratch, job, job.bidirectional)),
          carry(scratch.take<float>(job.rank_stride())),
          dx(job.dx.take_room(scratch, most_tokens_a_tile(job))),
          around(scratch, job) {}
};

// Some positions of one sequence. `index` counts the tiles of all sequences.
struct Tile {
    Range tokens;
    int64_t index;
    bool is_first, is_last;  // of its sequence

    int64_t first() const { return tokens.first; }
    int64_t count() const { return tokens.count(); }
};

// The totals of all tiles, and their prefixes, which include their own.
struct Totals {
    Buffer totals, prefixes, reverse_prefixes;  // the last is null unless the layer is bidirectional
};

struct Fused {
    const CpuJob& job;
    int64_t tile, tiles;  // positions of a tile; tiles of a sequence
    Buffer gates, slopes, projected_u, projected_v, hidden, c, w;
    Buffer dc, dv, dprojected_u, dprojected_v, dlogits, dhidden;
    Totals of_u, of_dc;

    Tile tile_of_item(int64_t item) const {
        const int64_t first = item / tiles * job.length, index = item % tiles;
        const Range positions = tile_at(index, tile, job.length);
        return {{first + positions.first, first + positions.last}, item, index == 0, index + 1 == tiles};
    }

    void fold(const Buffer& rows, int64_t count, float* total) const {
        std::fill_n(total, rows.stride, 0.0f);
        cpu::fold_rows(
            {.in = {{rows.values}, rows.stride}, .rows = count, .columns = rows.stride, .total = {{total}}});
    }

    // to = the scan of the rows of a tile from what precedes it, along the sequence or from its end; `carry`
    // is room for one row.
    void scan(const Tile& of, const Buffer& rows, const Buffer& prefixes, bool flipped, float* carry,
              const Buffer& to) const {
        const int64_t start = flipped ? of.count() - 1 : 0, stride = flipped ? -to.stride : to.stride;
        if (flipped ? of.is_last : of.is_first)
            std::fill_n(carry, to.stride, 0.0f);
        else
            std::copy_n(prefixes.at(of.index + (flipped ? 1 : -1)), to.stride, carry);
        cpu::scan_rows({.in = {{rows.at(start)}, stride},
                        .rows = of.count(),
                        .columns = to.stride,
                        .carry = {{carry}},
                        .out = to.at(start),
                        .out_stride = stride});
    }

    void project(const Tile& of, const ProjectRooms& rooms) const {
        const int64_t units = job.hidden_stride();
        const Buffer& all = rooms.projections;
        job.projections.multiply(job.x.load(of.tokens, rooms.x), of.count(), all);
        job.activate_hidden(of.tokens, all, rooms.in_double);
        const Buffer to = gates.from(of.first());
        job.gate_w2.multiply(all, of.count(), to);
        job.open_gates(of.tokens, to.values, job.backward ? slopes.at(of.first()) : nullptr, rooms.in_double);
        job.sum_gates(of.tokens, to.values);
        for (int64_t i = 0; i < of.count(); ++i) {
            const float* const row = all.at(i);
            if (hidden) std::copy_n(row, units, hidden.at(of.first() + i));
            std::copy_n(row + units, job.rank_stride(), projected_u.at(of.first() + i));
            std::copy_n(row + units + job.rank_stride(), job.rank_stride(), projected_v.at(of.first() + i));
        }
        gate(of, projected_u, rooms.u);
        fold(rooms.u, of.count(), of_u.totals.at(of.index));
    }

    // To u or v.
    void gate(const Tile& of, const Buffer& projected, const Buffer& to) const {
        multiply(projected.from(of.first()), gates.from(of.first()), to, of.count());
    }

    void scan_and_output(const Tile& of, const ScanAndOutputRooms& rooms) const {
        gate(of, projected_u, rooms.u);
        gate(of, projected_v, rooms.v);
        const Buffer sum = job.backward ? c.from(of.first()) : rooms.c;
        const Buffer read = job.backward ? w.from(of.first()) : rooms.w;
        scan(of, rooms.u, of_u.prefixes, false, rooms.carry, sum);
        if (job.bidirectional) {
            scan(of, rooms.u, of_u.reverse_prefixes, true, rooms.carry, rooms.u);
            add(sum, rooms.u, of.count());
        }
        multiply(sum, rooms.v, read, of.count());
        const Buffer y = job.y.rows(of.tokens, rooms.y);
        job.convolve_tokens(job.x, of.tokens, job.taps, job.out_bias, rooms.around, y.values);
        job.out_proj.multiply(read, of.count(), y, Into::add);
        job.y.put(of.tokens, y.values);
    }

    void output_gradients(const Tile& of, const OutputGradientRooms& rooms) const {
        gate(of, projected_v, rooms.v);
        job.out_proj_back.multiply(job.dy.load(of.tokens, rooms.dy), of.count(), rooms.dw);
        multiply(rooms.dw, rooms.v, dc.from(of.first()), of.count());
        multiply(rooms.dw, c.from(of.first()), dv.from(of.first()), of.count());
        fold(dc.from(of.first()), of.count(), of_dc.totals.at(of.index));
    }

    void input_gradients(const Tile& of, const InputGradientRooms& rooms) const {
        const int64_t first = of.first(), count = of.count();
        const Buffer& du = rooms.du;
        scan(of, dc.from(first), of_dc.prefixes, true, rooms.carry, du);
        if (job.bidirectional) {
            scan(of, dc.from(first), of_dc.reverse_prefixes, false, rooms.carry, rooms.du_rev);
            add(du, rooms.du_rev, count);
        }
        gate_gradients(
            {du.values, dv.at(first), gates.at(first), slopes.at(first), projected_u.at(first),
             projected_v.at(first), dprojected_u.at(first), dprojected_v.at(first), dlogits.at(first)},
            count * du.stride);
        job.gate_w2_back.multiply(dlogits.from(first), count, dhidden.from(first));
        keep_where_positive(dhidden.at(first), hidden.at(first), count * hidden.stride);
        const Buffer dx = job.dx.rows(of.tokens, rooms.dx);
        job.convolve_tokens(job.dy, of.tokens, job.taps_back, job.zeros, rooms.around, dx.values);
        job.gate_w1_back.multiply(dhidden.from(first), count, dx, Into::add);
        job.u_proj_back.multiply(dprojected_u.from(first), count, dx, Into::add);
        job.v_proj_back.multiply(dprojected_v.from(first), count, dx, Into::add);
        job.dx.put(of.tokens, dx.values);
    }
};

struct TotalRooms {
    float* total;  // of a block

    TotalRooms(cpu::Scratch& scratch, int64_t numbers) : total(scratch.take<float>(numbers)) {}
};

// The gradients of all weights: first summed over each of a number of parts of the tokens that does not
// depend on threads, then over the parts in order.
struct WeightSums {
    // Some rows of a gradient, and where they begin in the sums of a part.
    struct Block {
        size_t of;
        Range rows;
        int64_t at;
    };

    const CpuJob& job;
    std::vector<WeightGradient> gradients;
    std::vector<Block> blocks;
    int64_t parts, numbers = 0;  // `numbers` of a part
    int64_t most_numbers_a_block = 0;
    float* sums;  // [parts, numbers]

    WeightSums(cpu::PlanBuilder& builder, const CpuJob& of, const GradientRows& rows)
        : job(of),
          gradients(weight_gradients(builder, of, rows)),
          parts(std::clamp<int64_t>(of.tokens() / 256, 1, 16)) {
        for (size_t i = 0; i < gradients.size(); ++i)
            for (int64_t first = 0; first < gradients[i].rows; first += cpu::lanes) {
                const Range some = tile_at(first / cpu::lanes, cpu::lanes, gradients[i].rows);
                const int64_t of_block = some.count() * cpu::padded(gradients[i].columns);
                blocks.push_back({i, some, numbers});
                numbers += of_block;
                most_numbers_a_block = std::max(most_numbers_a_block, of_block);
            }
        sums = builder.take<float>(parts * numbers);
    }

    // The scratch of a part: for one gradient after another, all of it.
    int64_t part_bytes() const {
        int64_t most = 0;
        for (const WeightGradient& of : gradients)
            most = std::max(most, cpu::scratch_bytes<TermRooms>(job, of, of.rows, of.columns));
        return most;
    }

    void add_part(const cpu::Item& item) const {
        const int64_t tile = tile_of(job), tiles = ceil_divide(job.tokens(), tile);
        float* const part = sums + item.index * numbers;
        std::fill_n(part, numbers, 0.0f);
        for (int64_t t = tiles * item.index / parts; t < tiles * (item.index + 1) / parts; ++t) {
            if (item.stop.stop_requested()) return;
            int64_t at = 0;
            for (const WeightGradient& of : gradients) {
                const auto rooms = cpu::take_rooms<TermRooms>(item.scratch, job, of, of.rows, of.columns);
                of.add(job, tile_at(t, tile, job.tokens()), {0, of.rows}, {0, of.columns}, rooms, part + at);
                at += of.rows * cpu::padded(of.columns);
            }
        }
    }

    void sum_parts(const Block& block, float* total) const {
        const WeightGradient& of = gradients[block.of];
        const int64_t count = block.rows.count() * cpu::padded(of.columns);
        std::copy_n(sums + block.at, count, total);
        for (int64_t part = 1; part < parts; ++part)
            cpu::combine(total, 1, total, 1, sums + part * numbers + block.at, count);
        of.put(total, block.rows, {0, of.columns}, false);
    }
};

Fused fused_on(cpu::PlanBuilder& builder, const CpuJob& job) {
    const int64_t tile = tile_of(job), tiles = ceil_divide(job.length, tile);
    const auto take = [&](bool needed, int64_t rows, int64_t stride) {
        return Buffer{needed ? builder.take<float>(rows * stride) : nullptr, stride};
    };
    const auto ranks = [&](bool needed) { return take(needed, job.tokens(), job.rank_stride()); };
    const auto units = [&](bool needed) { return take(needed, job.tokens(), job.hidden_stride()); };
    const auto totals = [&](bool needed) { return take(needed, job.batch * tiles, job.rank_stride()); };
    const bool both = job.bidirectional, back = job.backward;
    const Buffer gates = job.gates.buffer(builder, job.tokens());
    return {.job = job,
            .tile = tile,
            .tiles = tiles,
            .gates = gates,
            .slopes = ranks(back),
            .projected_u = ranks(true),
            .projected_v = ranks(true),
            .hidden = units(back),
            .c = ranks(back),
            .w = ranks(back),
            .dc = ranks(back),
            .dv = ranks(back),
            .dprojected_u = ranks(back),
            .dprojected_v = ranks(back),
            .dlogits = ranks(back),
            .dhidden = units(back),
            .of_u = {totals(true), totals(true), totals(both)},
            .of_dc = {totals(back), totals(back), totals(back && both)}};
}

// Adds the launches in their order.
class Launches {
  public:
    explicit Launches(cpu::PlanBuilder& builder)
        : builder_(builder),
          request_(builder.request()),
          job_(builder.keep(CpuJob(builder, Sizes(request_.parameters).scale()))),
          fused_(builder.keep(fused_on(builder, job_))) {}

    void add_forward() {
        add(describe::project(request_, fused_.tile), &Fused::project);
        add_scan("totals_", false, fused_.of_u.totals, "totals", fused_.of_u.prefixes, "prefixes");
        if (job_.bidirectional)
            add_scan("reverse_totals_", true, fused_.of_u.totals, "totals", fused_.of_u.reverse_prefixes,
                     "reverse_prefixes");
        add(describe::scan_and_output(request_, fused_.tile), &Fused::scan_and_output);
    }

    void add_backward() {
        add(describe::output_gradients(request_, fused_.tile), &Fused::output_gradients);
        add_scan("gradient_totals_", true, fused_.of_dc.totals, "gradient_totals", fused_.of_dc.prefixes,
                 "gradient_prefixes");
        if (job_.bidirectional)
            add_scan("gradient_reverse_totals_", false, fused_.of_dc.totals, "gradient_totals",
                     fused_.of_dc.reverse_prefixes, "reverse_gradient_prefixes");
        add(describe::input_gradients(request_, fused_.tile), &Fused::input_gradients);
        add_weight_gradients();
    }

  private:
    template <class Rooms>
    void add(LaunchInfo info, void (Fused::*act)(const Tile&, const Rooms&) const) {
        builder_.launch(with_scratch(std::move(info), cpu::scratch_bytes<Rooms>(job_)),
                        side("B", job_.batch) * pieces("L", job_.length, fused_.tile),
                        [act, &fused = fused_](const cpu::Item& item) {
                            (fused.*act)(fused.tile_of_item(item.index),
                                         cpu::take_rooms<Rooms>(item.scratch, fused.job));
                        });
    }

    void add_scan(const char* prefix, bool flipped, const Buffer& from, const char* from_name,
                  const Buffer& to, const char* to_name) {
        ar_ssm::add_scan(builder_, "lookback", job_.batch, fused_.tiles,
                         {prefix, flipped, from, from_name, to, to_name});
    }

    void add_weight_gradients() {
        const WeightSums& sums =
            builder_.keep(WeightSums(builder_, job_,
                                     {fused_.hidden, fused_.dhidden, fused_.dlogits, fused_.dprojected_u,
                                      fused_.dprojected_v, fused_.w}));
        auto [summing, adding] = describe::in_parts(describe::weight_gradients(request_), sums.parts);
        builder_.launch(with_scratch(std::move(summing), sums.part_bytes()), side("parts", sums.parts),
                        [&sums](const cpu::Item& item) { sums.add_part(item); });
        const int64_t numbers = sums.most_numbers_a_block;
        builder_.launch(with_scratch(std::move(adding), cpu::scratch_bytes<TotalRooms>(numbers)),
                        side("blocks of weights", std::ssize(sums.blocks)),
                        [&sums, numbers](const cpu::Item& item) {
                            sums.sum_parts(sums.blocks[static_cast<size_t>(item.index)],
                                           cpu::take_rooms<TotalRooms>(item.scratch, numbers).total);
                        });
    }

    cpu::PlanBuilder& builder_;
    const PlanRequest& request_;
    const CpuJob& job_;
    const Fused& fused_;
};

}  // namespace

Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request) {
    return plan_in_passes<cpu::PlanBuilder, Launches>(request);
}

}  // namespace sawtooth::ar_ssm
