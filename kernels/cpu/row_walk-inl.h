// The walks over rows in vectors of the current target. With many columns a lane is a column, and lanes never
// mix. A single column fills vectors with its rows and is scanned inside them.

#if defined(SAWTOOTH_KERNELS_CPU_ROW_WALK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SAWTOOTH_KERNELS_CPU_ROW_WALK_INL_H
#undef SAWTOOTH_KERNELS_CPU_ROW_WALK_INL_H
#else
#define SAWTOOTH_KERNELS_CPU_ROW_WALK_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/cpu/operators-inl.h"
#include "kernels/cpu/row_scan.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {

enum class Mode { fold, scan, scan_and_fold, scan_states };

// Processes `width` vectors of columns, from column c on, with their states in registers.
template <class Op, Mode mode, int planes, int width, class D>
HWY_INLINE void walk_columns(D d, const Walk& walk, int64_t c) {
    using V = hn::Vec<D>;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    constexpr bool folds = mode == Mode::fold || mode == Mode::scan_and_fold;
    State<V> carry[width], total[width];
    for (int k = 0; k < width; ++k) {
        if constexpr (mode != Mode::fold) carry[k] = load(d, walk.carry.plane, c + k * lanes, planes);
        if constexpr (folds) total[k] = load(d, walk.total.plane, c + k * lanes, planes);
    }
    for (int64_t row = 0; row < walk.rows; ++row) {
        const int64_t at = row * walk.in.stride + c;
        for (int k = 0; k < width; ++k) {
            const State<V> input = Op::template lift<V>(d, walk.in.plane, at + k * lanes);
            if constexpr (mode == Mode::scan_states) carry[k] = Op::join(d, carry[k], input);
            if constexpr (mode == Mode::scan || mode == Mode::scan_and_fold)
                carry[k] = Op::advance(d, carry[k], input);
            if constexpr (folds) total[k] = Op::join(d, total[k], input);
            if constexpr (mode == Mode::scan || mode == Mode::scan_and_fold)
                put(d, Op::finish(carry[k]), walk.out + row * walk.out_stride + c + k * lanes, walk.stream);
            if constexpr (mode == Mode::scan_states)
                store(d, carry[k], walk.states_out.plane, row * walk.states_out.stride + c + k * lanes,
                      planes, walk.stream);
        }
    }
    for (int k = 0; k < width; ++k) {
        if constexpr (mode != Mode::fold) store(d, carry[k], walk.carry.plane, c + k * lanes, planes);
        if constexpr (folds) store(d, total[k], walk.total.plane, c + k * lanes, planes);
    }
}

template <class Op, Mode mode, int planes>
void walk_tile(const Walk& walk) {
    const int64_t columns = walk.columns;
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, Op::columns> fewest;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t c = 0;
    // As many vectors side by side as have their states in registers.
    constexpr int width = planes == 2 && mode == Mode::scan_and_fold ? 2 : 4;
    for (; c + width * lanes <= columns; c += width * lanes)
        walk_columns<Op, mode, planes, width>(d, walk, c);
    for (; c + lanes <= columns; c += lanes) walk_columns<Op, mode, planes, 1>(d, walk, c);
    Walk tail = walk;
    tail.stream = false;
    for (; c < columns; c += Op::columns) walk_columns<Op, mode, planes, 1>(fewest, tail, c);
    if (walk.stream) hwy::FlushStream();
}

// The order of a vector's lanes as rows: up, or down if the column runs backwards in memory.
template <class D>
class Lanes {
  public:
    using V = hn::Vec<D>;
    static constexpr auto count = static_cast<int64_t>(hn::MaxLanes(D()));

    explicit Lanes(bool backwards) : backwards_(backwards) {
        const Words words;
        const auto lane = hn::Iota(words, 0), ends = hn::Set(words, count - 1);
        const auto row = backwards ? hn::Sub(ends, lane) : lane;
        for (int step = 0; step < steps; ++step) {
            const auto delta = hn::Set(words, 1 << step);
            const auto from = backwards ? hn::Add(lane, delta) : hn::Sub(lane, delta);
            before_[step] = hn::IndicesFromVec(D(), hn::And(from, ends));
            alone_[step] = hn::RebindMask(D(), hn::Lt(row, delta));
        }
        last_ = of_row(count - 1);
    }

    // Start of the vector of rows `row`, row + 1, …, relative to row 0.
    int64_t begin(int64_t row) const { return backwards_ ? 1 - row - count : row; }

    using Index = decltype(hn::IndicesFromVec(D(), hn::Iota(hn::RebindToSigned<D>(), 0)));
    Index last() const { return last_; }
    Index of_row(int64_t row) const {
        return hn::IndicesFromVec(
            D(), hn::Set(Words(), static_cast<int32_t>(begin(0) < 0 ? count - 1 - row : row)));
    }

    // Gives every row the combined states of the rows up to it in the vector: joins each row with the row 1
    // before it, then 2, 4, … before it, if there is one (Hillis, Steele 1986).
    template <class Op, int planes>
    HWY_INLINE State<V> scan(State<V> state) const {
        const D d;
        HWY_UNROLL(4)
        for (int step = 0; step < steps; ++step) {
            const State<V> joined = Op::join(d, pick<planes>(state, before_[step]), state);
            state.first = hn::IfThenElse(alone_[step], state.first, joined.first);
            if (planes == 2) state.second = hn::IfThenElse(alone_[step], state.second, joined.second);
        }
        return state;
    }

    // Broadcasts the state of one row to every lane.
    template <int planes>
    static HWY_INLINE State<V> pick(State<V> state, Index index) {
        return {hn::TableLookupLanes(state.first, index),
                planes == 2 ? hn::TableLookupLanes(state.second, index) : state.second};
    }

  private:
    using Words = hn::RebindToSigned<D>;
    static constexpr int steps = hwy::CeilLog2(static_cast<uint32_t>(count));

    bool backwards_;
    Index before_[steps], last_;  // lanes of the rows 1, 2, 4, … before; lane of the last row
    hn::Mask<D> alone_[steps];    // rows without a row that far before
};

// Processes rows of one column in `width` vectors; carry and total are equal in every lane. Each vector is
// scanned by itself, then joined to the vectors before it in the block, then to the carry, so that blocks
// depend on each other by a single join.
template <class Op, Mode mode, int planes, int width, class D, class V>
HWY_INLINE void walk_block(const Lanes<D>& lanes, const Walk& walk, int64_t row,
                           typename Lanes<D>::Index last, State<V>& carry, State<V>& total) {
    const D d;
    State<V> local[width];
    HWY_UNROLL(4)
    for (int k = 0; k < width; ++k)
        local[k] = lanes.template scan<Op, planes>(
            Op::template lift<V>(d, walk.in.plane, lanes.begin(row + k * lanes.count)));
    HWY_UNROLL(4)
    for (int k = 1; k < width; ++k)
        local[k] = Op::join(d, lanes.template pick<planes>(local[k - 1], lanes.last()), local[k]);
    const State<V> sum = lanes.template pick<planes>(local[width - 1], last);
    HWY_UNROLL(4)
    for (int k = 0; k < width; ++k) {
        const int64_t at = lanes.begin(row + k * lanes.count);
        if constexpr (mode == Mode::scan || mode == Mode::scan_and_fold)
            put(d, Op::finish(Op::advance(d, carry, local[k])), walk.out + at, walk.stream);
        if constexpr (mode == Mode::scan_states)
            store(d, Op::join(d, carry, local[k]), walk.states_out.plane, at, planes, walk.stream);
    }
    if constexpr (mode == Mode::scan_states) carry = Op::join(d, carry, sum);
    if constexpr (mode == Mode::scan || mode == Mode::scan_and_fold) carry = Op::advance(d, carry, sum);
    if constexpr (mode == Mode::fold || mode == Mode::scan_and_fold) total = Op::join(d, total, sum);
}

// The last rows, fewer than a vector holds, through local vectors. Values past them reach no earlier row.
template <class Op, Mode mode, int planes, class D, class V>
void walk_last_rows(const Lanes<D>& lanes, const Walk& walk, int64_t row, State<V>& carry, State<V>& total) {
    const int64_t stride = walk.in.stride, count = walk.rows - row;
    const auto copy = [&](const float* from, float* to) {
        for (int64_t k = 0; k < count; ++k) to[k * stride] = from[k * stride];
    };
    const int64_t base = -lanes.begin(0);  // of the first row in the local vectors
    float in[2][Lanes<D>::count] = {}, out[2][Lanes<D>::count];
    Walk tail = walk;
    tail.stream = false;
    tail.out = out[0] + base;
    for (int p = 0; p < 2; ++p) {
        if (walk.in.plane[p]) copy(walk.in.plane[p] + row * stride, in[p] + base);
        tail.in.plane[p] = in[p] + base;
        tail.states_out.plane[p] = out[p] + base;
    }
    walk_block<Op, mode, planes, 1>(lanes, tail, 0, lanes.of_row(count - 1), carry, total);
    if (mode == Mode::scan || mode == Mode::scan_and_fold) copy(tail.out, walk.out + row * stride);
    if (mode == Mode::scan_states)
        for (int p = 0; p < planes; ++p)
            copy(tail.states_out.plane[p], walk.states_out.plane[p] + row * stride);
}

// One column whose rows are contiguous in memory.
template <class Op, Mode mode, int planes>
void walk_line(const Walk& given) {
    const Walk walk = given;  // a copy: stores of floats cannot change it
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, 1> one;
    const Lanes<decltype(d)> lanes(walk.in.stride < 0);
    constexpr bool folds = mode == Mode::fold || mode == Mode::scan_and_fold;
    State<hn::Vec<decltype(d)>> carry = {hn::Zero(d), hn::Zero(d)}, total = carry;
    if constexpr (mode != Mode::fold) carry = broadcast(d, walk.carry.plane, planes);
    if constexpr (folds) total = broadcast(d, walk.total.plane, planes);
    constexpr int width = 4;
    int64_t row = 0;
    for (; row + width * lanes.count <= walk.rows; row += width * lanes.count)
        walk_block<Op, mode, planes, width>(lanes, walk, row, lanes.last(), carry, total);
    for (; row + lanes.count <= walk.rows; row += lanes.count)
        walk_block<Op, mode, planes, 1>(lanes, walk, row, lanes.last(), carry, total);
    if (row < walk.rows) walk_last_rows<Op, mode, planes>(lanes, walk, row, carry, total);
    if constexpr (mode != Mode::fold) store(one, lowest(one, carry), walk.carry.plane, 0, planes);
    if constexpr (folds) store(one, lowest(one, total), walk.total.plane, 0, planes);
    if (walk.stream) hwy::FlushStream();
}

template <Mode mode>
void walk_operator(const Walk& walk) {
    with_operator(walk.op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        if constexpr (Op::columns == 1)
            if (walk.is_line) return walk_line<Op, mode, planes>(walk);
        walk_tile<Op, mode, planes>(walk);
    });
}

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
