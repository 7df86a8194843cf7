// The variant fused has two launches, with a scan of the totals of tiles between them: the first computes the
// gates and projections of a tile of positions and the total of u, the second scans u from the prefix of the
// tile and computes y. The backward pass does the same from the end, then sums the gradients of the weights
// over parts of the tokens. What passes from step to step within a launch stays in the L2 cache.

#include <algorithm>
#include <vector>

#include "kernels/ar_ssm/cpu/gradients.h"
#include "kernels/ar_ssm/launches.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/ar_ssm/scans.h"
#include "kernels/core/passes.h"
#include "kernels/cpu/row_scan.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::ar_ssm {
namespace {

using cpu::Into;

// Takes scratch for the rows of a tile, `stride` numbers apart.
Rows take_rows(cpu::Scratch& scratch, const CpuJob& job, int64_t stride) {
    return {scratch.take<float>(job.most_tokens_a_tile() * stride), stride};
}
Rows take_ranks(cpu::Scratch& scratch, const CpuJob& job, bool needed = true) {
    return needed ? take_rows(scratch, job, job.rank_stride()) : Rows();
}
float* take_tile(cpu::Scratch& scratch, const CpuJob& job, const Buffer& array) {
    return take_room(scratch, array, job.most_tokens_a_tile());
}

struct ProjectRooms {
    float* x;
    DoubleRooms in_double;
    Rows projections, u;

    ProjectRooms(cpu::Scratch& scratch, const CpuJob& job)
        : x(take_tile(scratch, job, job.x)),
          in_double(scratch, job),
          projections(take_rows(scratch, job, job.projections.columns)),
          u(take_ranks(scratch, job)) {}
};

struct ScanAndOutputRooms {
    Rows u, v;
    Rows c, w;  // null if arrays keep them for the backward pass
    float *carry, *y;
    AroundRooms around;

    ScanAndOutputRooms(cpu::Scratch& scratch, const CpuJob& job)
        : u(take_ranks(scratch, job)),
          v(take_ranks(scratch, job)),
          c(take_ranks(scratch, job, !job.backward)),
          w(take_ranks(scratch, job, !job.backward)),
          carry(scratch.take<float>(job.rank_stride())),
          y(take_tile(scratch, job, job.y)),
          around(scratch, job) {}
};

struct OutputGradientRooms {
    Rows dw, v;
    float* dy;

    OutputGradientRooms(cpu::Scratch& scratch, const CpuJob& job)
        : dw(take_ranks(scratch, job)), v(take_ranks(scratch, job)), dy(take_tile(scratch, job, job.dy)) {}
};

struct InputGradientRooms {
    Rows du, du_rev;  // the second is null unless the layer is bidirectional
    float *carry, *dx;
    AroundRooms around;

    InputGradientRooms(cpu::Scratch& scratch, const CpuJob& job)
        : du(take_ranks(scratch, job)),
          du_rev(take_ranks(scratch, job, job.bidirectional)),
          carry(scratch.take<float>(job.rank_stride())),
          dx(take_tile(scratch, job, job.dx)),
          around(scratch, job) {}
};

// A tile of positions of one sequence. `index` counts the tiles of all sequences.
struct Tile {
    Range tokens;
    int64_t index;
    bool is_first, is_last;  // in its sequence

    int64_t first() const { return tokens.first; }
    int64_t count() const { return tokens.count(); }
};

struct Fused {
    const CpuJob& job;

    Tile tile_of_item(int64_t item) const {
        const int64_t tiles = job.tiles(), first = item / tiles * job.length, index = item % tiles;
        const Range positions = tile_at(index, job.tile, job.length);
        return {{first + positions.first, first + positions.last}, item, index == 0, index + 1 == tiles};
    }

    void fold(const Rows& rows, const Tile& tile, const Buffer& totals) const {
        float* const total = rows_from(totals, tile.index).values;
        std::fill_n(total, rows.stride, 0.0f);
        cpu::fold_rows({.in = {{rows.values}, rows.stride},
                        .rows = tile.count(),
                        .columns = rows.stride,
                        .total = {{total}}});
    }

    // to = the scan of the rows of a tile, along the sequence or from its end, continued from the tiles that
    // come before. A prefix in `prefixes` includes its own tile; `carry` is room for one row.
    void scan(const Tile& tile, const Rows& rows, const Buffer& prefixes, bool flipped, float* carry,
              const Rows& to) const {
        const int64_t start = flipped ? tile.count() - 1 : 0, stride = flipped ? -to.stride : to.stride;
        if (flipped ? tile.is_last : tile.is_first)
            std::fill_n(carry, to.stride, 0.0f);
        else
            std::copy_n(rows_from(prefixes, tile.index + (flipped ? 1 : -1)).values, to.stride, carry);
        cpu::scan_rows({.in = {{rows.at(start)}, stride},
                        .rows = tile.count(),
                        .columns = to.stride,
                        .carry = {{carry}},
                        .out = to.at(start),
                        .out_stride = stride});
    }

    void project(const Tile& tile, const ProjectRooms& rooms) const {
        const int64_t first = tile.first(), units = job.hidden_stride(), ranks = job.rank_stride();
        const Rows &all = rooms.projections, to = rows_from(job.gates, first);
        job.projections.multiply(load(job.x, tile.tokens, rooms.x), tile.count(), all);
        job.activate_hidden(tile.tokens, all, rooms.in_double);
        job.gate_w2.multiply(all, tile.count(), to);
        job.open_gates(tile.tokens, to.values, rooms.in_double);
        job.sum_gates(tile.tokens, to.values);
        const Rows hidden = job.hidden_units ? rows_from(job.hidden_units, first) : Rows();
        const Rows u = rows_from(job.projected_u, first), v = rows_from(job.projected_v, first);
        for (int64_t i = 0; i < tile.count(); ++i) {
            const float* const row = all.at(i);
            if (hidden.values) std::copy_n(row, units, hidden.at(i));
            std::copy_n(row + units, ranks, u.at(i));
            std::copy_n(row + units + ranks, ranks, v.at(i));
        }
        gate(tile, job.projected_u, rooms.u);
        fold(rooms.u, tile, job.totals);
    }

    // Computes u or v: `projected` times the gates.
    void gate(const Tile& tile, const Buffer& projected, const Rows& to) const {
        multiply(rows_from(projected, tile.first()), rows_from(job.gates, tile.first()), to, tile.count());
    }

    void scan_and_output(const Tile& tile, const ScanAndOutputRooms& rooms) const {
        gate(tile, job.projected_u, rooms.u);
        gate(tile, job.projected_v, rooms.v);
        const Rows c = job.c ? rows_from(job.c, tile.first()) : rooms.c;
        const Rows w = job.w ? rows_from(job.w, tile.first()) : rooms.w;
        scan(tile, rooms.u, job.prefixes, false, rooms.carry, c);
        if (job.bidirectional) {
            scan(tile, rooms.u, job.reverse_prefixes, true, rooms.carry, rooms.u);
            add(c, rooms.u, tile.count());
        }
        multiply(c, rooms.v, w, tile.count());
        const Rows y = rows_to_put(job.y, tile.tokens, rooms.y);
        job.convolve_tokens(job.x, tile.tokens, job.weight.conv, job.weight.out_bias.as<float>(),
                            rooms.around, y.values);
        job.out_proj.multiply(w, tile.count(), y, Into::add);
        put(y.values, tile.tokens, job.y);
    }

    void output_gradients(const Tile& tile, const OutputGradientRooms& rooms) const {
        const int64_t first = tile.first(), count = tile.count();
        const Rows dc = rows_from(job.dc, first);
        gate(tile, job.projected_v, rooms.v);
        job.out_proj_back.multiply(load(job.dy, tile.tokens, rooms.dy), count, rooms.dw);
        multiply(rooms.dw, rooms.v, dc, count);
        multiply(rooms.dw, rows_from(job.c, first), rows_from(job.dv, first), count);
        fold(dc, tile, job.gradient_totals);
    }

    void input_gradients(const Tile& tile, const InputGradientRooms& rooms) const {
        const int64_t count = tile.count();
        const auto rows = [&](const Buffer& array) { return rows_from(array, tile.first()); };
        const Rows& du = rooms.du;
        scan(tile, rows(job.dc), job.gradient_prefixes, true, rooms.carry, du);
        if (job.bidirectional) {
            scan(tile, rows(job.dc), job.reverse_gradient_prefixes, false, rooms.carry, rooms.du_rev);
            add(du, rooms.du_rev, count);
        }
        job.differentiate_gates(tile.tokens, du);
        job.differentiate_hidden(tile.tokens);
        const Rows dx = rows_to_put(job.dx, tile.tokens, rooms.dx);
        job.convolve_tokens(job.dy, tile.tokens, job.back.conv, nullptr, rooms.around, dx.values);
        job.gate_w1_back.multiply(rows(job.dhidden), count, dx, Into::add);
        job.u_proj_back.multiply(rows(job.dprojected_u), count, dx, Into::add);
        job.v_proj_back.multiply(rows(job.dprojected_v), count, dx, Into::add);
        put(dx.values, tile.tokens, job.dx);
    }
};

struct TotalRooms {
    float* total;  // the total of a block

    TotalRooms(cpu::Scratch& scratch, int64_t numbers) : total(scratch.take<float>(numbers)) {}
};

// Sums the gradients of all weights: first over each part of the tokens, then over the parts in order.
// Neither the number of parts nor the bits depend on the number of threads.
struct WeightSums {
    // Some rows of a gradient, and where they begin in the sums of a part.
    struct Block {
        size_t gradient;
        Range rows;
        int64_t at;
    };

    const CpuJob& job;
    std::vector<WeightGradient> gradients;
    std::vector<Block> blocks;
    int64_t parts, numbers = 0;  // `numbers` is per part
    int64_t most_numbers_a_block = 0;
    Buffer partial;  // [parts, numbers]

    WeightSums(cpu::PlanBuilder& builder, const CpuJob& whole)
        : job(whole),
          gradients(whole.weight_gradients()),
          parts(std::clamp<int64_t>(whole.tokens() / 256, 1, 16)) {
        for (size_t i = 0; i < gradients.size(); ++i)
            for (int64_t first = 0; first < gradients[i].rows(); first += cpu::lanes) {
                const Range some = tile_at(first / cpu::lanes, cpu::lanes, gradients[i].rows());
                const int64_t count = some.count() * cpu::padded(gradients[i].columns());
                blocks.push_back({i, some, numbers});
                numbers += count;
                most_numbers_a_block = std::max(most_numbers_a_block, count);
            }
        partial = builder.take("partial_gradients", {parts, numbers});
    }

    // The bytes of scratch of a part, in which the gradients take turns.
    int64_t part_bytes() const {
        int64_t most = 0;
        for (const WeightGradient& gradient : gradients)
            most = std::max(
                most, cpu::scratch_bytes<TermRooms>(job, gradient, gradient.rows(), gradient.columns()));
        return most;
    }

    void add_part(const cpu::Item& item) const {
        const int64_t tile = job.tile, tiles = ceil_divide(job.tokens(), tile);
        float* const part = partial.as<float>() + item.index * numbers;
        std::fill_n(part, numbers, 0.0f);
        for (int64_t t = tiles * item.index / parts; t < tiles * (item.index + 1) / parts; ++t) {
            if (item.stop.stop_requested()) return;
            int64_t at = 0;
            for (const WeightGradient& gradient : gradients) {
                const int64_t rows = gradient.rows(), columns = gradient.columns();
                const auto rooms = cpu::take_rooms<TermRooms>(item.scratch, job, gradient, rows, columns);
                add_terms(job, gradient, tile_at(t, tile, job.tokens()), {0, rows}, {0, columns}, rooms,
                          part + at);
                at += rows * cpu::padded(columns);
            }
        }
    }

    void sum_parts(const Block& block, float* total) const {
        const WeightGradient& gradient = gradients[block.gradient];
        const float* const sums = partial.as<float>() + block.at;
        const int64_t count = block.rows.count() * cpu::padded(gradient.columns());
        std::copy_n(sums, count, total);
        for (int64_t part = 1; part < parts; ++part)
            cpu::combine(total, 1, total, 1, sums + part * numbers, count);
        put_sums(gradient, total, block.rows, {0, gradient.columns()});
    }
};

// Adds the launches in order.
class Launches {
  public:
    explicit Launches(cpu::PlanBuilder& builder)
        : builder_(builder), job_(builder.keep(CpuJob(builder, true))), fused_(builder.keep(Fused{job_})) {}

    void add_forward() {
        add(project(job_), &Fused::project);
        scan_totals("totals_", false, job_.totals, job_.prefixes);
        if (job_.bidirectional) scan_totals("reverse_totals_", true, job_.totals, job_.reverse_prefixes);
        add(scan_and_output(job_), &Fused::scan_and_output);
    }

    void add_backward() {
        add(output_gradients(job_), &Fused::output_gradients);
        scan_totals("gradient_totals_", true, job_.gradient_totals, job_.gradient_prefixes);
        if (job_.bidirectional)
            scan_totals("gradient_reverse_totals_", false, job_.gradient_totals,
                        job_.reverse_gradient_prefixes);
        add(input_gradients(job_), &Fused::input_gradients);
        add_weight_gradients();
    }

  private:
    template <class Rooms>
    void add(LaunchInfo info, void (Fused::*act)(const Tile&, const Rooms&) const) {
        builder_.launch(with_scratch(std::move(info), cpu::scratch_bytes<Rooms>(job_)),
                        side("B", job_.batch) * pieces("L", job_.length, job_.tile),
                        [act, &fused = fused_](const cpu::Item& item) {
                            (fused.*act)(fused.tile_of_item(item.index),
                                         cpu::take_rooms<Rooms>(item.scratch, fused.job));
                        });
    }

    void scan_totals(const char* prefix, bool flipped, const Buffer& from, const Buffer& to) {
        add_scan(builder_, "lookback", prefix, flipped, from, to);
    }

    void add_weight_gradients() {
        const WeightSums& sums = builder_.keep(WeightSums(builder_, job_));
        auto [summing, adding] = in_parts(weight_gradients(job_), sums.partial);
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
    const CpuJob& job_;
    const Fused& fused_;
};

}  // namespace

Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request) {
    return plan_in_passes<cpu::PlanBuilder, Launches>(request);
}

}  // namespace sawtooth::ar_ssm
