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

// A weight in memory, seen as a factor: element (k, c) is values[k * inner_step + c * column_step].
struct WeightView {
    const float* values = nullptr;
    int64_t inner = 0, columns = 0, inner_step = 0, column_step = 0;

    WeightView transposed() const { return {values, columns, inner, column_step, inner_step}; }
    WeightView reversed() const {
        return {values + (inner - 1) * inner_step, inner, columns, -inner_step, column_step};
    }
};

// A weight [rows, columns] as the factor that maps rows of `columns` numbers to `rows` numbers.
WeightView view(const Buffer& weight) {
    const int64_t columns = weight.shape.back();
    return {weight.as<float>(), columns, weight.shape.front(), 1, columns};
}

// Packs weights for the plan: the address of `packed` becomes that of the copy. A dry plan packs nothing.
class Packing {
  public:
    explicit Packing(cpu::PlanBuilder& builder) : builder_(builder) {}

    Factor factor(const WeightView& weight, Buffer& packed, float scale = 1) const {
        auto* const to = builder_.take<float>(strips_of(weight.columns) * weight.inner * lanes);
        fill(weight, scale, to);
        packed.address = to;
        return {to, weight.inner, weight.columns};
    }
    // Packs all weights side by side into one factor, the columns of each padded.
    Factor joined(std::initializer_list<Buffer*> weights) const {
        Factor all = {.inner = (*weights.begin())->shape.back()};
        for (const Buffer* weight : weights) all.columns += padded(weight->shape.front());
        all.strips = builder_.take<float>(all.columns * all.inner);
        int64_t first = 0;
        for (Buffer* weight : weights) {
            fill(view(*weight), 1, all.strips + first * all.inner);
            first += padded(weight->shape.front());
            weight->address = all.strips;
        }
        return all;
    }
    void numbers(Buffer& bias) const {
        const int64_t count = bias.shape.back();
        lines({bias.as<float>(), 1, count, count, 1}, bias);
    }
    // Packs a weight as [inner, padded columns].
    void lines(const WeightView& weight, Buffer& packed, float scale = 1) const {
        const int64_t stride = padded(weight.columns);
        auto* const to = builder_.take<float>(weight.inner * stride);
        packed.address = to;
        if (!writes()) return;
        std::fill_n(to, weight.inner * stride, 0.0f);
        for (int64_t k = 0; k < weight.inner; ++k)
            for (int64_t c = 0; c < weight.columns; ++c) to[k * stride + c] = element(weight, k, c, scale);
    }

  private:
    bool writes() const { return !builder_.dry() && !builder_.failed(); }
    static float element(const WeightView& weight, int64_t k, int64_t c, float scale) {
        return scale * weight.values[k * weight.inner_step + c * weight.column_step];
    }
    void fill(const WeightView& weight, float scale, float* to) const {
        if (!writes()) return;
        std::fill_n(to, strips_of(weight.columns) * weight.inner * lanes, 0.0f);
        for (int64_t c = 0; c < weight.columns; ++c)
            for (int64_t k = 0; k < weight.inner; ++k)
                to[(c / lanes * weight.inner + k) * lanes + c % lanes] = element(weight, k, c, scale);
    }

    cpu::PlanBuilder& builder_;
};

Factor columns_of(const Factor& factor, int64_t first, int64_t columns) {
    return {factor.strips + first * factor.inner, factor.inner, columns};
}

// A row times one strip of a factor, in double precision.
std::array<double, lanes> strip_in_double(const Factor& factor, int64_t strip, const float* row) {
    std::array<double, lanes> sums;
    multiply_in_double(row, factor.inner, factor.strips + strip * factor.inner * lanes, sums.data());
    return sums;
}

}  // namespace

void Factor::multiply(const Rows& left, int64_t rows, const Rows& to, cpu::Into into) const {
    cpu::multiply({.left = {left.values, left.stride, 1},
                   .right = {strips, lanes, inner * lanes},
                   .target = {to.values, to.stride, lanes},
                   .rows = rows,
                   .inner = inner,
                   .blocks = strips_of(columns),
                   .into = into});
}

CpuJob::CpuJob(cpu::PlanBuilder& builder, bool fused) : Tensors(builder, fused) {
    const Packing pack(builder);
    const Weights given = weight;
    const float output_scale = fused ? scale() : 1;
    projections = pack.joined({&weight.gate_w1, &weight.u_proj, &weight.v_proj});
    gate_w1 = columns_of(projections, 0, hidden);
    u_proj = columns_of(projections, hidden_stride(), rank);
    v_proj = columns_of(projections, hidden_stride() + rank_stride(), rank);
    gate_w2 = pack.factor(view(given.gate_w2), weight.gate_w2);
    out_proj = pack.factor(view(given.out_proj), weight.out_proj, output_scale);
    for (Buffer* bias : {&weight.gate_b1, &weight.gate_b2, &weight.out_bias}) pack.numbers(*bias);
    pack.lines(view(given.conv), weight.conv, output_scale);
    if (!backward) return;
    gate_w1_back = pack.factor(view(given.gate_w1).transposed(), back.gate_w1);
    u_proj_back = pack.factor(view(given.u_proj).transposed(), back.u_proj);
    v_proj_back = pack.factor(view(given.v_proj).transposed(), back.v_proj);
    gate_w2_back = pack.factor(view(given.gate_w2).transposed(), back.gate_w2);
    out_proj_back = pack.factor(view(given.out_proj).transposed(), back.out_proj, scale());
    // The gradient of a position comes from the taps that read it, in the other order.
    pack.lines(view(given.conv).reversed(), back.conv, scale());
}

double CpuJob::unit_in_double(int64_t token, int64_t unit, const DoubleRooms& rooms) const {
    const float* const row = load(x, {token, token + 1}, rooms.x).values;
    return strip_in_double(gate_w1, unit / lanes, row)[unit % lanes] +
           double{weight.gate_b1.as<float>()[unit]};
}

// A unit that is so much smaller than the largest one of its token may have been rounded across 0, where the
// derivative of the relu jumps. It is computed again.
void CpuJob::activate_hidden(Range tokens, const Rows& rows, const DoubleRooms& rooms) const {
    constexpr float near = 0x1p-14f;
    const auto* const bias = weight.gate_b1.as<float>();
    for (int64_t i = 0; i < tokens.count(); ++i) {
        float* const row = rows.at(i);
        const Magnitudes sizes = add_bias(row, bias, hidden);
        const float limit = near * sizes.largest;
        if (sizes.least < limit)
            for (int64_t unit = 0; unit < hidden; ++unit)
                if (std::abs(row[unit]) < limit)
                    row[unit] = static_cast<float>(unit_in_double(tokens.first + i, unit, rooms));
        relu(row, hidden_stride());
    }
}

void CpuJob::hidden_in_double(int64_t token, const DoubleRooms& rooms) const {
    const float* const row = load(x, {token, token + 1}, rooms.x).values;
    const auto* const bias = weight.gate_b1.as<float>();
    for (int64_t strip = 0; strip < strips_of(hidden); ++strip) {
        const auto sums = strip_in_double(gate_w1, strip, row);
        for (int64_t i = strip * lanes; i < std::min((strip + 1) * lanes, hidden); ++i) {
            const double unit = sums[i % lanes] + double{bias[i]};
            rooms.units[i] = unit < 0 ? 0 : unit;
        }
    }
}

double CpuJob::logit_in_double(const double* units, int64_t gate) const {
    const float* const weights = gate_w2.strips + gate / lanes * hidden * lanes + gate % lanes;
    double logit = weight.gate_b2.as<float>()[gate];
    for (int64_t i = 0; i < hidden; ++i) logit += units[i] * double{weights[i * lanes]};
    return logit;
}

void CpuJob::open_gates(Range tokens, float* rows, const DoubleRooms& rooms) const {
    const int64_t stride = rank_stride(), numbers = tokens.count() * stride;
    const auto* const bias = weight.gate_b2.as<float>();
    for (float* row = rows; row < rows + numbers; row += stride) add_bias(row, bias, rank);
    if (gumbel) disturb_logits(tokens, rows);
    if (gate_slopes) {
        float* const slopes = rows_from(gate_slopes, tokens.first).values;
        // Of gate and 1 - gate, the one nearer to 0 is computed, because the other has lost digits.
        for (int64_t i = 0; i < numbers; ++i) slopes[i] = -std::abs(rows[i]);
        cpu::sigmoid(slopes, numbers);
        for (int64_t i = 0; i < numbers; ++i) slopes[i] *= 1 - slopes[i];
        const auto by = static_cast<float>(temperature);
        for (int64_t i = 0; gumbel && i < numbers; ++i) slopes[i] /= by;
    }
    hard ? open_hard_gates(tokens, rows, rooms) : cpu::sigmoid(rows, numbers);
    for (float* row = rows; row < rows + numbers; row += stride) std::fill(row + rank, row + stride, 0.0f);
    put(rows, tokens, stored_gates);
}

void CpuJob::disturb_logits(Range tokens, float* rows) const {
    const auto by = static_cast<float>(temperature);
    const float* noise = gate_noise.as<float>() + tokens.first * rank;
    for (int64_t i = 0; i < tokens.count(); ++i, rows += rank_stride(), noise += rank)
        for (int64_t k = 0; k < rank; ++k) rows[k] = (rows[k] + noise[k]) / by;
}

// A logit close to 0 may have been rounded across 0, where a hard gate jumps. It is computed again.
void CpuJob::open_hard_gates(Range tokens, float* rows, const DoubleRooms& rooms) const {
    constexpr float near = 0x1p-10f;
    for (int64_t token = tokens.first; token < tokens.last; ++token, rows += rank_stride()) {
        bool has_units = false;  // computed once per token, and only if a logit needs them
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
    auto* const sums = effective_rank.as<float>();
    for (int64_t token = tokens.first; token < tokens.last; ++token, rows += rank_stride())
        sums[token] = std::accumulate(rows, rows + rank, 0.0f);
}

void CpuJob::convolve_tokens(const Buffer& from, Range tokens, const Buffer& taps, const float* bias,
                             const AroundRooms& rooms, float* to) const {
    const Surroundings around(*this, from, tokens, {0, width}, rooms.rows);
    const auto* const tap_rows = taps.as<float>();
    for (int64_t token = tokens.first; token < tokens.last; ++token, to += width_stride())
        convolve(around.neighbours_of(token), tap_rows, bias, width_stride(), to);
}

void CpuJob::differentiate_gates(Range tokens, const Rows& du) const {
    const auto rows = [&](const Buffer& array) { return rows_from(array, tokens.first).values; };
    gate_gradients({du.values, rows(dv), rows(gates), rows(gate_slopes), rows(projected_u), rows(projected_v),
                    rows(dprojected_u), rows(dprojected_v), rows(dlogits)},
                   tokens.count() * du.stride);
}

void CpuJob::differentiate_hidden(Range tokens) const {
    const Rows to = rows_from(dhidden, tokens.first);
    gate_w2_back.multiply(rows_from(dlogits, tokens.first), tokens.count(), to);
    keep_where_positive(to.values, rows_from(hidden_units, tokens.first).values, tokens.count() * to.stride);
}

Surroundings::Surroundings(const CpuJob& job, const Buffer& array, Range tokens, Range columns, float* room)
    : length_(job.length),
      around_{std::max<int64_t>(tokens.first - 1, 0), std::min(tokens.last + 1, job.tokens())},
      rows_(load(array, around_, columns, room)) {}

Neighbours Surroundings::neighbours_of(int64_t token) const {
    const int64_t position = token % length_, row = token - around_.first;
    return {{position > 0 ? rows_.at(row - 1) : nullptr, rows_.at(row),
             position + 1 < length_ ? rows_.at(row + 1) : nullptr}};
}

DoubleRooms::DoubleRooms(cpu::Scratch& scratch, const CpuJob& job)
    : x(take_room(scratch, job.x, 1)), units(job.hard ? scratch.take<double>(job.hidden) : nullptr) {}

AroundRooms::AroundRooms(cpu::Scratch& scratch, const CpuJob& job)
    : rows(take_room(scratch, job.x, job.most_tokens_a_tile() + Surroundings::beside)) {}

}  // namespace sawtooth::ar_ssm
