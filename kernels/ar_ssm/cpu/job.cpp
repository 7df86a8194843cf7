#include "kernels/ar_ssm/cpu/job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/cpu/vectors.h"

namespace sawtooth::ar_ssm {
namespace {

using cpu::lanes;
using cpu::padded;
using cpu::strips_of;

// A matrix as it is given; element (k, c) of the factor is values[k * inner_step + c * column_step].
struct View {
    const float* values = nullptr;
    int64_t inner = 0, columns = 0, inner_step = 0, column_step = 0;

    View transposed() const { return {values, columns, inner, column_step, inner_step}; }
    View reversed() const {
        return {values + (inner - 1) * inner_step, inner, columns, -inner_step, column_step};
    }
};

// Packs weights for the plan. A dry plan packs nothing.
class Packing {
  public:
    explicit Packing(cpu::PlanBuilder& builder) : builder_(builder) {}

    // A weight [rows, columns], as the factor that maps rows of `columns` numbers to `rows` numbers.
    View weight(const char* name, int64_t rows, int64_t columns) const {
        return {builder_.input(name).as<float>(), columns, rows, 1, columns};
    }
    Factor factor(const View& view, float scale = 1) const {
        float* const to = builder_.take<float>(strips_of(view.columns) * view.inner * lanes);
        fill(view, scale, to);
        return {to, view.inner, view.columns};
    }
    // Columns of all side by side, each padded.
    Factor joined(std::initializer_list<View> views) const {
        Factor all = {.inner = views.begin()->inner};
        for (const View& view : views) all.columns += padded(view.columns);
        float* to = builder_.take<float>(all.columns * all.inner);
        all.strips = to;
        for (const View& view : views) {
            fill(view, 1, to);
            to += padded(view.columns) * view.inner;
        }
        return all;
    }
    const float* numbers(int64_t count, const float* from = nullptr) const {
        return lines({from, 1, count, count, 1}, 1);
    }
    // [inner, padded columns]
    const float* lines(const View& view, float scale) const {
        const int64_t stride = padded(view.columns);
        float* const to = builder_.take<float>(view.inner * stride);
        if (!writes()) return to;
        std::fill_n(to, view.inner * stride, 0.0f);
        if (!view.values) return to;
        for (int64_t k = 0; k < view.inner; ++k)
            for (int64_t c = 0; c < view.columns; ++c) to[k * stride + c] = element(view, k, c, scale);
        return to;
    }

  private:
    bool writes() const { return !builder_.dry() && !builder_.failed(); }
    static float element(const View& view, int64_t k, int64_t c, float scale) {
        return scale * view.values[k * view.inner_step + c * view.column_step];
    }
    void fill(const View& view, float scale, float* to) const {
        if (!writes()) return;
        std::fill_n(to, strips_of(view.columns) * view.inner * lanes, 0.0f);
        for (int64_t c = 0; c < view.columns; ++c)
            for (int64_t k = 0; k < view.inner; ++k)
                to[(c / lanes * view.inner + k) * lanes + c % lanes] = element(view, k, c, scale);
    }

    cpu::PlanBuilder& builder_;
};

Factor part_of(const Factor& factor, int64_t first, int64_t columns) {
    return {factor.strips + first * factor.inner, factor.inner, columns};
}

// One strip of a factor times a row.
std::array<double, lanes> strip_in_double(const Factor& factor, int64_t strip, const float* row) {
    std::array<double, lanes> sums;
    multiply_in_double(row, factor.inner, factor.strips + strip * factor.inner * lanes, sums.data());
    return sums;
}

}  // namespace

void Factor::multiply(const Rows& left, int64_t rows, const Buffer& to, cpu::Into into) const {
    cpu::multiply({.left = {left.values, left.stride, 1},
                   .right = {strips, lanes, inner * lanes},
                   .target = {to.values, to.stride, lanes},
                   .rows = rows,
                   .inner = inner,
                   .blocks = strips_of(columns),
                   .into = into});
}

CpuJob::CpuJob(cpu::PlanBuilder& builder, float output_scale)
    : Sizes(builder.parameters()),
      x{builder.input("x", storage).address, width, storage},
      dy{builder.input("dy", storage).address, width, storage},
      y{builder.output("y", storage).address, width, storage},
      gates{builder.output("gates").as<float>(), rank},
      dx{builder.output("dx").as<float>(), width},
      effective_rank(builder.output("effective_rank").as<float>()) {
    const Packing pack(builder);
    const View w1 = pack.weight("gate_w1", hidden, width), w2 = pack.weight("gate_w2", rank, hidden);
    const View u = pack.weight("u_proj", rank, width), v = pack.weight("v_proj", rank, width);
    const View out = pack.weight("out_proj", width, rank);
    const View conv = pack.weight("conv", width, 3);
    projections = pack.joined({w1, u, v});
    gate_w1 = part_of(projections, 0, hidden);
    u_proj = part_of(projections, hidden_stride(), rank);
    v_proj = part_of(projections, hidden_stride() + rank_stride(), rank);
    gate_w2 = pack.factor(w2);
    out_proj = pack.factor(out, output_scale);
    gate_b1 = pack.numbers(hidden, builder.input("gate_b1").as<float>());
    gate_b2 = pack.numbers(rank, builder.input("gate_b2").as<float>());
    out_bias = pack.numbers(width, builder.input("out_bias").as<float>());
    zeros = pack.numbers(width);
    taps = pack.lines(conv, output_scale);
    if (!backward) return;
    gate_w1_back = pack.factor(w1.transposed());
    u_proj_back = pack.factor(u.transposed());
    v_proj_back = pack.factor(v.transposed());
    gate_w2_back = pack.factor(w2.transposed());
    out_proj_back = pack.factor(out.transposed(), scale());
    // The gradient of a position comes from the taps that read it, in the other order.
    taps_back = pack.lines(conv.reversed(), scale());
}

double CpuJob::unit_in_double(int64_t token, int64_t unit, const DoubleRooms& rooms) const {
    const float* const row = x.load({token, token + 1}, rooms.x).values;
    return strip_in_double(gate_w1, unit / lanes, row)[unit % lanes] + double{gate_b1[unit]};
}

// A unit so much smaller than the largest of its token may be rounded to the wrong side of the jump of relu's
// derivative.
void CpuJob::activate_hidden(Range tokens, const Buffer& rows, const DoubleRooms& rooms) const {
    constexpr float near = 0x1p-14f;
    for (int64_t i = 0; i < tokens.count(); ++i) {
        float* const row = rows.at(i);
        const Magnitudes sizes = add_bias(row, gate_b1, hidden);
        const float limit = near * sizes.largest;
        if (sizes.least < limit)
            for (int64_t unit = 0; unit < hidden; ++unit)
                if (std::abs(row[unit]) < limit)
                    row[unit] = static_cast<float>(unit_in_double(tokens.first + i, unit, rooms));
        relu(row, hidden_stride());
    }
}

void CpuJob::hidden_in_double(int64_t token, const DoubleRooms& rooms) const {
    const float* const row = x.load({token, token + 1}, rooms.x).values;
    for (int64_t strip = 0; strip < strips_of(hidden); ++strip) {
        const auto sums = strip_in_double(gate_w1, strip, row);
        for (int64_t i = strip * lanes; i < std::min((strip + 1) * lanes, hidden); ++i) {
            const double unit = sums[i % lanes] + double{gate_b1[i]};
            rooms.units[i] = unit < 0 ? 0 : unit;
        }
    }
}

double CpuJob::logit_in_double(const double* units, int64_t of_rank) const {
    const float* const weights = gate_w2.strips + of_rank / lanes * hidden * lanes + of_rank % lanes;
    double logit = gate_b2[of_rank];
    for (int64_t i = 0; i < hidden; ++i) logit += units[i] * double{weights[i * lanes]};
    return logit;
}

void CpuJob::open_gates(Range tokens, float* rows, float* slopes, const DoubleRooms& rooms) const {
    const int64_t stride = rank_stride(), numbers = tokens.count() * stride;
    for (float* row = rows; row < rows + numbers; row += stride) add_bias(row, gate_b2, rank);
    if (slopes) {
        // The sigmoid that is nearer to 0: no digit is lost where a gate is near 1.
        for (int64_t i = 0; i < numbers; ++i) slopes[i] = -std::abs(rows[i]);
        cpu::sigmoid(slopes, numbers);
        for (int64_t i = 0; i < numbers; ++i) slopes[i] *= 1 - slopes[i];
    }
    hard ? open_hard_gates(tokens, rows, rooms) : cpu::sigmoid(rows, numbers);
    for (float* row = rows; row < rows + numbers; row += stride) std::fill(row + rank, row + stride, 0.0f);
    gates.put(tokens, rows);
}

// A logit close to 0 may be rounded to the wrong side of the jump of a hard gate.
void CpuJob::open_hard_gates(Range tokens, float* rows, const DoubleRooms& rooms) const {
    constexpr float near = 0x1p-10f;
    for (int64_t token = tokens.first; token < tokens.last; ++token, rows += rank_stride()) {
        bool has_units = false;  // computed once a token, where a logit needs them
        for (int64_t k = 0; k < rank; ++k) {
            double logit = rows[k];
            if (std::abs(rows[k]) < near) {
                if (!has_units) hidden_in_double(token, rooms);
                has_units = true;
                logit = logit_in_double(rooms.units, k);
            }
            rows[k] = logit >= 0 ? 1.0f : 0.0f;
        }
    }
}

void CpuJob::sum_gates(Range tokens, const float* rows) const {
    for (int64_t token = tokens.first; token < tokens.last; ++token, rows += rank_stride())
        effective_rank[token] = std::accumulate(rows, rows + rank, 0.0f);
}

void CpuJob::convolve_tokens(const TokenArray& from, Range tokens, const float* of_taps, const float* bias,
                             const AroundRooms& rooms, float* to) const {
    const Surroundings around(*this, from, tokens, {0, width}, rooms.rows);
    for (int64_t token = tokens.first; token < tokens.last; ++token, to += width_stride())
        convolve(around.of(token), of_taps, bias, width_stride(), to);
}

Surroundings::Surroundings(const CpuJob& job, const TokenArray& array, Range tokens, Range columns,
                           float* room)
    : length_(job.length),
      around_{std::max<int64_t>(tokens.first - 1, 0), std::min(tokens.last + 1, job.tokens())},
      rows_(array.load(around_, columns, room)) {}

Neighbours Surroundings::of(int64_t token) const {
    const int64_t position = token % length_, row = token - around_.first;
    return {{position > 0 ? rows_.row(row - 1) : nullptr, rows_.row(row),
             position + 1 < length_ ? rows_.row(row + 1) : nullptr}};
}

int64_t tile_of(const CpuJob& job) { return tile_rows_on_cpu(job.width_stride()); }
int64_t most_tokens_a_tile(const CpuJob& job) { return std::min(tile_of(job), job.tokens()); }

DoubleRooms::DoubleRooms(cpu::Scratch& scratch, const CpuJob& job)
    : x(job.x.take_room(scratch, 1)), units(job.hard ? scratch.take<double>(job.hidden) : nullptr) {}

AroundRooms::AroundRooms(cpu::Scratch& scratch, const CpuJob& job)
    : rows(job.x.take_room(scratch, most_tokens_a_tile(job) + Surroundings::beside)) {}

}  // namespace sawtooth::ar_ssm
