// The transfer matrix of a block, Lmat_ij = a_i … a_(j+1) for j <= i, with v = Lmat u. Its first rows are:
//
//            j = 0      1     2     3
//   i = 0      1                           a0 does not occur: only the carry passes it
//   i = 1      a1       1
//   i = 2      a2a1     a2    1
//   i = 3      a3a2a1   a3a2  a3    1
//
// It is built in registers in the layout of a right factor, in tiles of 16 outputs by 16 inputs:
//
//   BL = 64    from = 0   1   2   3
//     to = 0          D                    D   on the diagonal: entries of inputs after the output are 0
//          1          x   D                x   below the diagonal: no entry is masked
//          2          x   x   D            the rest is 0 and left out
//          3          x   x   x   D
//
// Lane (g, t) holds the entries of a tile between four input positions and two output positions. The inputs
// are those of its own quad; the outputs are 2 q + g % 2 of its partner quad, which the lanes with t = g / 2
// hold.
//
// Between two positions lie parts of two quads and whole quads between them:
//
//   quad of j             whole quads        quad of i
//   j | a a a             a a a a            a a a | i
//       end of j's quad                      start of i's quad, from the lane that holds it
//
// Gradients need the transpose of Lmat as a right factor, too: its tiles are those of Lmat, transposed.
//
// A rule says how gates are joined (rules.cuh). With gates 1/2, Lmat_31 = 1/2 * 1/2 = 1/4, or 2^(-1 - 1).
#pragma once

#include "kernels/btp/cuda/rules.cuh"
#include "kernels/btp/cuda/segment.cuh"
#include "kernels/cuda/device/tiles.cuh"

namespace sawtooth::btp {

// The output positions of the lane are 2 q + e in the quad `partner`, q = 0, 1.
__device__ inline int partner_quad() { return device::lane_of_thread() / 8; }
__device__ inline int odd_output() { return device::lane_of_thread() / 4 % 2; }
// Gets the values of the lane's two outputs, where every lane has those of the positions of its own quad.
template <class Value>
__device__ void from_partner(const Value (&own)[4], Value (&two)[2]) {
    const int lane = odd_output() * 4 + device::lane_of_thread() / 8;
#pragma unroll
    for (int q = 0; q < 2; ++q)
        two[q] = __shfl_sync(device::whole_warp, odd_output() ? own[2 * q + 1] : own[2 * q], lane);
}

// Computes entries by joining the gates between two positions. For input tile 0 and output tile 2:
//
//   tile 0              tile 1     tile 2
//   . j | inner ------  total  --- outer - i .     entry = inner[0][k] join total[1] join outer[2][q]
template <class Rule>
class Spans {
    using Value = typename Rule::Value;

  public:
    __device__ explicit Spans(const Gates& a) : a_(a) {
        if constexpr (tiles_of_block > 1)
#pragma unroll
            for (int s = 0; s < tiles; ++s) find_edges(s, QuadJoins(a[s]));
    }

    // Computes the entries [output][input] of output tile `to` and input tile `from`, which are of one block.
    __device__ void entries(int to, int from, float (&entry)[2][4]) const {
        if (to == from) return diagonal(QuadJoins(a_[to]), entry);
        Value between = Rule::identity;  // every input lies before every output
#pragma unroll
        for (int s = 0; s < tiles; ++s)
            if (from < s && s < to) between = Rule::join(between, total_[s]);
#pragma unroll
        for (int q = 0; q < 2; ++q)
#pragma unroll
            for (int k = 0; k < 4; ++k)
                entry[q][k] = Rule::finish(Rule::join(Rule::join(inner_[from][k], between), outer_[to][q]));
    }

  private:
    // Joins inside the quads of a tile: from the lane's inputs to the edge of their quad, and from the edge
    // of the partner quad to the lane's outputs.
    struct QuadJoins {
        Value own[4], total, inner[4], outer[2];

        __device__ explicit QuadJoins(const float (&a)[4]) {
            Value upto[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                own[k] = Rule::lift(a[k]);
                upto[k] = k == 0 ? own[0] : Rule::join(upto[k - 1], own[k]);
            }
            total = upto[3];
            from_partner(upto, outer);
            inner[3] = Rule::identity;
#pragma unroll
            for (int k = 3; k > 0; --k) inner[k - 1] = Rule::join(own[k], inner[k]);
        }
    };

    __device__ void find_edges(int s, const QuadJoins& tile) {
        total_[s] = Rule::identity;
        Value later = Rule::identity, earlier = Rule::identity;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const Value quad = of_quad(tile.total, k);
            total_[s] = Rule::join(total_[s], quad);
            if (k > quad_of_lane()) later = Rule::join(later, quad);
            if (k < partner_quad()) earlier = Rule::join(earlier, quad);
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) inner_[s][k] = Rule::join(tile.inner[k], later);
#pragma unroll
        for (int q = 0; q < 2; ++q) outer_[s][q] = Rule::join(earlier, tile.outer[q]);
    }

    // A lane walks through its four inputs, away from its output, and joins one gate in every step. It begins
    // with the join up to the edge of its quad, masked unless its inputs lie before the quad of the output,
    // and again with 1 where the input is the output itself. The entries of output 9, before and after the
    // walk:
    //
    //   inputs        0 … 3             4 … 7            8 … 11         12 … 15
    //   begins with   a4…a7 a8a9        a8a9             0              0
    //   entries       a1…a9 … a4…a9     a5…a9 … a8a9     a9  1  0  0    0  0  0  0
    //
    // A masked entry times a gate that is not finite is NaN: products one by one then leave it out.
    __device__ static void diagonal(const QuadJoins& tile, float (&entry)[2][4]) {
        const int own = quad_of_lane(), partner = partner_quad();
        // Of the quads 1 and 2, which may lie between, quad 1 is next to quad 0.
        const Value next = __shfl_xor_sync(device::whole_warp, tile.total, 1);
        const Value second = of_quad(tile.total, 2);
        Value between = own < partner ? Rule::identity : Rule::masked();
        if (own == 0 && partner > 1) between = next;
        if (own < 2 && partner == 3) between = Rule::join(between, second);
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            Value span = Rule::join(between, tile.outer[q]);
#pragma unroll
            for (int k = 3; k >= 0; --k) {
                if (k < 3) span = Rule::join(span, tile.own[k + 1]);
                if (k / 2 == q && own == partner && odd_output() == k % 2) span = Rule::identity;
                entry[q][k] = Rule::finish(span);
            }
        }
    }

    const Gates& a_;
    Value inner_[tiles][4], outer_[tiles][2];  // to and from the edges of their tiles
    Value total_[tiles];
};

// Computes entries from the prefixes of their two positions.
template <class Rule>
class Prefixes {
  public:
    __device__ explicit Prefixes(const Gates& a) {
        float so_far = Rule::identity;
#pragma unroll
        for (int s = 0; s < tiles; ++s) {
            if (s % tiles_of_block == 0) so_far = Rule::identity;
                // Gates are joined one by one, as near underflow the order of the products matters.
#pragma unroll
            for (int quad = 0; quad < 4; ++quad) {
                float upto[4];
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    upto[k] = Rule::join(k == 0 ? so_far : upto[k - 1], Rule::lift(a[s][k]));
                    if (quad == quad_of_lane()) input_[s][k] = upto[k];
                }
                so_far = of_quad(upto[3], quad);
            }
            from_partner(input_[s], output_[s]);
        }
    }

    __device__ void entries(int to, int from, float (&entry)[2][4]) const {
#pragma unroll
        for (int q = 0; q < 2; ++q)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const int output = 4 * partner_quad() + 2 * q + odd_output();
                const int input = 4 * quad_of_lane() + k;
                const bool is_seen = from < to || input <= output;  // below the diagonal or on it
                entry[q][k] = is_seen ? Rule::between(output_[to][q], input_[from][k]) : 0.0f;
            }
    }

  private:
    float input_[tiles][4], output_[tiles][2];
};

using log_stable = Spans<Logarithms<is_half>>;
using log_difference = Prefixes<Differences<is_half>>;
using masked_cumprod = Spans<Multiplied>;
using cumprod_ratio = Prefixes<Ratios>;
using in_double = Spans<MultipliedInDouble>;

// A factor on tensor cores is a sum of parts: a half itself, or three bf16 that hold all digits of an f32.
constexpr int parts = is_half ? 1 : 3;
template <class Half>
struct PrecisionOf;
template <>
struct PrecisionOf<device::f16> {
    static constexpr device::Precision value = device::Precision::f16;
};
template <>
struct PrecisionOf<device::bf16> {
    static constexpr device::Precision value = device::Precision::bf16;
};
template <>
struct PrecisionOf<device::f32> {
    static constexpr device::Precision value = device::Precision::bf16;
};
using Products = device::Products<PrecisionOf<Storage>::value>;

// Splits two neighbouring numbers into parts, each of which is the rounded rest after those before it:
// 1 + 2^-10 + 2^-20 has the parts 1, 2^-10 and 2^-20.
__device__ inline void split(float first, float second, uint32_t (&to)[parts]) {
#pragma unroll
    for (int p = 0; p < parts; ++p) {
        to[p] = Products::pair(first, second);
        if (p + 1 == parts) return;
        first -= Products::value(static_cast<uint16_t>(to[p]));
        second -= Products::value(static_cast<uint16_t>(to[p] >> 16));
    }
}

// Returns true if tensor cores can multiply with the value: it is finite, and so is its first part, which
// would round to infinity for the largest f32.
__device__ inline bool is_factor(float value) {
    return is_half ? isfinite(value) : fabsf(value) < 0x1.FFp127f;
}

// The entries of a tile as a right factor: [q][r] has inputs 2 r and 2 r + 1 for output 2 q + g % 2.
struct Factor {
    uint32_t held[2][2][parts];

    __device__ explicit Factor(const float (&entry)[2][4]) {
#pragma unroll
        for (int q = 0; q < 2; ++q)
#pragma unroll
            for (int r = 0; r < 2; ++r) split(entry[q][2 * r], entry[q][2 * r + 1], held[q][r]);
    }

    // Returns the factor with inputs and outputs exchanged. [q][r] is a matrix of 8 x 8 entries, whose rows
    // and columns are every second pair of positions, from 2 q and from 2 r on.
    __device__ Factor transposed() const {
        Factor turned = *this;
#pragma unroll
        for (int q = 0; q < 2; ++q)
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int p = 0; p < parts; ++p) turned.held[q][r][p] = device::transpose(held[r][q][p]);
        return turned;
    }
};

// Computes sums += values times a factor. In f32 it adds the products of parts i + j <= 2; the others are
// below the last digit of an f32.
__device__ inline void add_product(device::Tile (&sums)[2], const Quad (&values)[2], const Factor& right) {
    uint32_t left[4][parts];
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            if constexpr (is_half)
                left[2 * k + half][0] = values[half].held[k];
            else
                split(values[half].get(2 * k), values[half].get(2 * k + 1), left[2 * k + half]);
        }
#pragma unroll
    for (int q = 0; q < 2; ++q)
#pragma unroll
        for (int i = parts - 1; i >= 0; --i)  // small products first
#pragma unroll
            for (int j = parts - 1 - i; j >= 0; --j)
                Products::add(sums[q], {{left[0][i], left[1][i], left[2][i], left[3][i]}},
                              {{right.held[q][0][j], right.held[q][1][j]}});
}

// Computes sums += values times the entries of a tile, or times their transpose, one input after another. It
// leaves out the masked entries of a diagonal tile, as 0 times infinity or NaN would spread to positions that
// do not see them.
template <bool transposed>
__device__ void add_one_by_one(device::Tile (&sums)[2], const Quad (&values)[2], const float (&entry)[2][4],
                               bool is_diagonal) {
    const int own = quad_of_lane();
#pragma unroll 1
    for (int quad = 0; quad < 4; ++quad)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int input = 4 * quad + k;
            const float value[2] = {of_quad(values[0].get(k), quad), of_quad(values[1].get(k), quad)};
#pragma unroll
            for (int p = 0; p < 4; ++p) {
                // Position `column` of `quad_of_column` is the input of the entry, `row` of `quad_of_row` its
                // output. The lane that holds it has the quad of the column, and that of the row as partner.
                const int row = transposed ? k : p, quad_of_row = transposed ? quad : own;
                const int column = transposed ? p : k, quad_of_column = transposed ? own : quad;
                const int lane = 4 * (2 * quad_of_row + row % 2) + quad_of_column;
                const float factor = __shfl_sync(device::whole_warp, entry[row / 2][column], lane);
                const int output = 4 * own + p;
                if (is_diagonal && (transposed ? input < output : input > output)) continue;
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    sums[p / 2][2 * half + p % 2] = fmaf(factor, value[half], sums[p / 2][2 * half + p % 2]);
            }
        }
}

// Values of a segment, and the array from which they were loaded.
struct Loaded {
    const Values& values;
    const void* array;
};

// Computes Lmat or its transpose times the values of a block, one product after another. Returns false, and
// computes nothing, if all values are factors of tensor cores and all gates are finite. This is a call, and
// loads the factors again, to keep a rare path out of the registers of the kernel.
template <class Transfer, bool transposed>
__device__ __noinline__ bool multiply_one_by_one(const void* array, const void* gates, const Place& place,
                                                 int block, Sums& sums) {
    const int first = block * tiles_of_block;
    Values values;
    Gates a;
    load(values, array, place);
    load_gates(a, gates, place);
    bool found = false;
#pragma unroll
    for (int s = 0; s < tiles_of_block; ++s)
#pragma unroll
        for (int k = 0; k < 4; ++k)
            found |= !isfinite(a[first + s][k]) || !is_factor(values[first + s][0].get(k)) ||
                     !is_factor(values[first + s][1].get(k));
    if (!__any_sync(device::whole_warp, found)) return false;
    const Transfer transfer(a);
#pragma unroll 1
    for (int s = 0; s < tiles_of_block; ++s) device::clear(sums[s]);
#pragma unroll 1
    for (int to = 0; to < tiles_of_block; ++to)
#pragma unroll 1
        for (int from = 0; from <= to; ++from) {
            float entry[2][4];
            transfer.entries(first + to, first + from, entry);
            if constexpr (transposed)
                add_one_by_one<true>(sums[from], values[first + to], entry, from == to);
            else
                add_one_by_one<false>(sums[to], values[first + from], entry, from == to);
        }
    return true;
}

// Multiplies the values of a block with Lmat or its transpose, on tensor cores and from registers.
//
// Tensor cores make NaN of a factor that is not finite: they multiply masked entries too, 0 times infinity,
// and add the parts of an f32, infinity minus infinity. Careful products replace the sums that are not
// finite. A warp by itself is not careful at first: without that call its loop takes fewer registers and
// instructions. If a sum was strange, it does all its work again with care.
template <class Transfer, bool careful>
class BlockProducts {
  public:
    // `strange` is 0, and becomes NaN for good where a sum of the lane is not finite: 0 times the sum is
    // added.
    __device__ BlockProducts(const Gates& a, const void* gates, const Place& place, float& strange)
        : gates_(gates), place_(place), transfer_(a), strange_(strange) {}

    // Computes v = Lmat u.
    __device__ void forward(int block, const Loaded& u, Sums& v) const {
        multiply<true, false>(block, u, v, u, v);
    }
    // Computes r = transpose of Lmat times dx.
    __device__ void backward(int block, const Loaded& dx, Sums& r) const {
        multiply<false, true>(block, dx, r, dx, r);
    }
    // Computes both; every entry is computed once.
    __device__ void both(int block, const Loaded& u, Sums& v, const Loaded& dx, Sums& r) const {
        multiply<true, true>(block, u, v, dx, r);
    }

  private:
    template <bool forward, bool backward>
    __device__ void multiply(int block, const Loaded& u, Sums& v, const Loaded& dx, Sums& r) const {
        const int first = block * tiles_of_block;
#pragma unroll
        for (int s = 0; s < tiles_of_block; ++s) {
            if (forward) device::clear(v[s]);
            if (backward) device::clear(r[s]);
        }
#pragma unroll
        for (int to = 0; to < tiles_of_block; ++to)
#pragma unroll
            for (int step = 0; step <= to; ++step) {
                const int from = step == 0 ? to : step - 1;  // the diagonal first
                float entry[2][4];
                transfer_.entries(first + to, first + from, entry);
                const Factor factor(entry);
                if constexpr (forward) add_product(v[to], u.values[first + from], factor);
                if constexpr (backward) add_product(r[from], dx.values[first + to], factor.transposed());
            }
        if constexpr (forward) check<false>(block, u, v);
        if constexpr (backward) check<true>(block, dx, r);
    }

    template <bool transposed>
    __device__ void check(int block, const Loaded& from, Sums& sums) const {
        // With halves the first position of every quad is enough. A strange value reaches all sums of its
        // channel; a strange gate reaches those that see it, and those of earlier quads by masked entries.
#pragma unroll
        for (int s = 0; s < tiles_of_block; ++s)
#pragma unroll
            for (int q = 0; q < 2; ++q)
#pragma unroll
                for (int at = 0; at < 4; ++at)
                    if (!is_half || (q == 0 && at % 2 == 0)) strange_ = fmaf(0, sums[s][q][at], strange_);
        if constexpr (careful)
            if (__any_sync(device::whole_warp, strange_ != 0)) mend<transposed>(block, from, sums);
    }

    template <bool transposed>
    __device__ void mend(int block, const Loaded& from, Sums& sums) const {
        const Place place = place_;
        Sums right;
        if (!multiply_one_by_one<Transfer, transposed>(from.array, gates_, place, block, right)) return;
#pragma unroll
        for (int s = 0; s < tiles_of_block; ++s)
#pragma unroll
            for (int q = 0; q < 2; ++q)
#pragma unroll
                for (int at = 0; at < 4; ++at)
                    if (!isfinite(sums[s][q][at])) sums[s][q][at] = right[s][q][at];
    }

    const void* gates_;
    const Place& place_;
    Transfer transfer_;
    float& strange_;
};

}  // namespace sawtooth::btp
