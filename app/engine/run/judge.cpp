#include "app/engine/run/judge.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "app/engine/run/compare.h"
#include "app/engine/run/numbers.h"
#include "kernels/core/dimensions.h"
#include "kernels/core/table.h"

namespace sawtooth {
namespace {

// The number of roundings of the arithmetic by which an element may differ in any case.
constexpr double least_roundings = 8;
// Few draws do not underestimate a spread by more than this factor.
constexpr double most_underestimated = 4;
// Returns whether a kernel may return this kind of number. A number that is not finite must stay so, and an
// infinity must keep its sign unless it may become NaN.
bool may_be(double got, double want, bool may_become_nan) {
    if (std::isfinite(want)) return std::isfinite(got);
    return !std::isfinite(got) && ((std::isnan(got) && may_become_nan) || std::isnan(want) || got == want);
}

// How an output stores a number: the relative and the absolute error of rounding are at most `unit` and
// `least`.
struct Stored {
    double unit, least, largest;

    explicit Stored(Storage storage)
        : unit(unit_of(storage)),
          least(storage == Storage::f16 ? 0x1p-25 : FLT_MIN),  // kernels may flush smaller ones
          largest(largest_of(storage) * (1 + 0.5 * unit_of(storage))) {}
};

// The bounds on the errors of the elements of an output.
class Bounds {
  public:
    Bounds(const Array& want, const Rounding& rounding, Storage storage, double flushed, bool may_become_nan)
        : is_integer_(want.dtype == Dtype::int32),
          may_become_nan_(may_become_nan),
          arithmetic_(is_integer_ ? 0 : least_roundings * rounding.arithmetic),
          stored_(want.dtype == Dtype::f64 ? storage : Storage::f32),
          flushed_(std::max(stored_.least, flushed)) {}

    double bound(double right, double spread) const {
        if ((is_integer_ && spread == 0) || !std::isfinite(right)) return 0;
        const double moved = most_spreads * spread + arithmetic_ * std::abs(right);
        return moved + stored_.unit * (std::abs(right) + moved) + flushed_;
    }
    double error(double got, double right, double bound) const {
        const bool overflows = std::abs(right) + bound > stored_.largest && std::isfinite(right);
        if (overflows && std::isinf(got) && std::signbit(got) == std::signbit(right)) return 0;
        if (!may_be(got, right, may_become_nan_)) return INFINITY;
        return std::isfinite(right) ? std::abs(got - right) : 0;
    }
    double flushed() const { return flushed_; }

  private:
    bool is_integer_, may_become_nan_;
    double arithmetic_;
    Stored stored_;
    double flushed_;
};

Shape index_of(int64_t element, const Shape& shape) {
    Shape index(shape.size());
    for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis]) index[axis] = element % shape[axis];
    return index;
}

// Calls each(index in the output, index in `want`) for the numbers of `want` until it returns false.
template <class Each>
void for_each_pair(const Array& want, Each&& each) {
    const int64_t count = Numbers(want).count();
    if (!want.rows) {
        for (int64_t i = 0; i < count; ++i)
            if (!each(i, i)) return;
        return;
    }
    const int64_t rows = want.shape[0], width = rows > 0 ? count / rows : 0;
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t first = want.rows->places[static_cast<size_t>(row)] * width;
        for (int64_t i = 0; i < width; ++i)
            if (!each(first + i, row * width + i)) return;
    }
}

// The data for judging one output.
struct Judging {
    const Array& got;
    const Array& want;
    const float* spread;  // for every number of `want`; null: all are 0
    Bounds bounds;
    bool ends_at_first;  // stops at the first element outside its bound
    // By how much squared bounds may grow with more draws: those of the first are the least.
    double growth = 1;
};

// Got and Want are the types of the numbers in the two arrays.
template <class Got, class Want>
OutputVerdict verdict_of(const Judging& judging) {
    const Bounds& bounds = judging.bounds;
    const auto* const is = static_cast<const Got*>(static_cast<const void*>(judging.got.data.get()));
    const auto* const should = static_cast<const Want*>(static_cast<const void*>(judging.want.data.get()));
    const auto spread_of = [&](int64_t w) { return judging.spread ? double{judging.spread[w]} : 0.0; };
    OutputVerdict verdict;
    verdict.output = judging.got.name;
    double squares = 0, off = 0, uncertain = 0, worst = -1;
    int64_t worst_place = 0, worst_number = 0;
    for_each_pair(judging.want, [&](int64_t i, int64_t w) {
        const double spread = spread_of(w);
        if (std::isnan(spread)) {  // rounding decides whether the number is finite
            uncertain = INFINITY;
            return true;
        }
        ++verdict.judged;
        const double right = should[w], bound = bounds.bound(right, spread),
                     error = bounds.error(is[i], right, bound);
        if (std::isfinite(right)) {
            squares += right * right;
            off += error * error;
            uncertain += bound * bound;
        }
        if (error > bound) ++verdict.elements;
        if (worst >= 0 && error <= worst * bound) return true;
        const double share = error == 0 ? 0 : bound > 0 ? error / bound : INFINITY;
        if (share <= worst) return true;
        worst = share;
        worst_place = i, worst_number = w;
        return error <= bound || !judging.ends_at_first;
    });
    if (worst >= 0) {
        const double right = should[worst_number], spread = spread_of(worst_number);
        verdict.worst =
            JudgedElement{index_of(worst_place / Numbers(judging.got).parts(), judging.got.shape),
                          static_cast<double>(is[worst_place]), right, bounds.bound(right, spread), ""};
    }
    if (squares > 0) verdict.rel_l2 = std::sqrt(off / squares);
    const double least = static_cast<double>(verdict.judged) * bounds.flushed() * bounds.flushed();
    const auto lost = [&](double growth) { return growth * uncertain > std::max(squares, 4 * least); };
    const bool none_judged = verdict.judged == 0 && judging.got.count() > 0;
    verdict.verdict = verdict.elements > 0     ? Verdict::wrong
                      : lost(1) || none_judged ? Verdict::cannot_judge
                      : !lost(judging.growth)  ? Verdict::right
                                               : Verdict::pending;
    return verdict;
}

bool is_first(const Expected& expected) { return expected.draws > 0 && expected.draws < few_draws; }

OutputVerdict verdict_of(const Judging& judging) {
    if (judging.got.dtype == Dtype::int32) return verdict_of<int32_t, int32_t>(judging);
    return verdict_of<float, double>(judging);
}

}  // namespace

OutputVerdict judge(const Array& got, const Expected& expected, const Rounding& rounding, Storage storage) {
    const Array& want = expected.want;
    const Bounds bounds(want, rounding, storage, expected.flushed, expected.may_become_nan);
    const double growth = is_first(expected) ? double{few_draws} / expected.draws : 1;
    const auto by = [&](const std::vector<float>& spread) {
        return verdict_of({got, want, spread.data(), bounds, false, growth});
    };
    const OutputVerdict verdict = by(expected.spread);
    const bool is_steady = verdict.verdict != Verdict::wrong || expected.steady_spread.empty();
    return is_steady ? verdict : by(expected.steady_spread);
}

bool is_final(const OutputVerdict& verdict, const Expected& expected) {
    if (is_first(expected))
        return verdict.verdict == Verdict::right || verdict.verdict == Verdict::cannot_judge;
    if (verdict.verdict != Verdict::wrong) return true;
    if (expected.may_diverge && expected.steady_spread.empty()) return false;
    if (!verdict.worst || expected.draws >= many_draws) return true;
    const auto& [index, got, want, bound, where] = *verdict.worst;
    return !(std::abs(got - want) <= most_underestimated * bound);  // also if one of them is NaN
}

OutputVerdict judge_at_once(const Array& got, const Array& want, const Rounding& rounding, Storage storage) {
    OutputVerdict verdict = verdict_of({got, want, nullptr, Bounds(want, rounding, storage, 0, false), true});
    if (verdict.verdict != Verdict::right) verdict = {.output = got.name};
    return verdict;
}

std::optional<OutputVerdict> changed_since(const Array& earlier, const Array& later) {
    const auto before = earlier.as<uint32_t>(), after = later.as<uint32_t>();
    const auto changed = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
    if (changed == before.end()) return {};
    const Numbers had(earlier), has(later);
    const int64_t number = changed - before.begin();
    return OutputVerdict{.output = later.name,
                         .verdict = Verdict::wrong,
                         .judged = has.count(),
                         .elements = changed_values(earlier, later),
                         .worst = JudgedElement{index_of(number / has.parts(), later.shape), has[number],
                                                had[number], 0, changed_between_repeats}};
}

std::string tile_words(const Family& family, const Variant& variant, const std::string& output,
                       const Parameters& parameters, Backend backend, const Shape& shape,
                       const Shape& index) {
    const ArraySpec* const spec = family.array(output);
    if (!family.tilings || !spec) return "";
    std::string words;
    for (const Tiling& tiling : family.tilings(variant, output, parameters, backend)) {
        const auto names = dimensions_of(*spec, shape);
        const auto found = std::find(names.begin(), names.end(), tiling.dimension);
        if (found == names.end() || tiling.size < 1) continue;
        const auto axis = static_cast<size_t>(found - names.begin());
        const int64_t tile = index[axis] / tiling.size, first = tile * tiling.size;
        const int64_t rows = std::min(tiling.size, shape[axis] - first);
        words += (words.empty() ? "index " : "; index ") + std::to_string(index[axis]) + " of " +
                 tiling.dimension + ": row " + std::to_string(index[axis] - first) + " of tile " +
                 std::to_string(tile) + ", " + tiling.name + " = " + std::to_string(tiling.size);
        if (rows < tiling.size) words += " (the last, " + count_words(rows, "row") + ")";
    }
    return words;
}

}  // namespace sawtooth
