#include "app/engine/run/judge.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <future>
#include <set>
#include <system_error>

#include "app/engine/run/compare.h"
#include "kernels/core/dimensions.h"
#include "kernels/core/noisy.h"

namespace sawtooth {
namespace {

// A correct kernel stays within this many typical distances; it has another order of operations than the
// definition.
constexpr double most_spreads = 12;
// The number of roundings of the arithmetic by which an element may differ in any case.
constexpr double least_roundings = 8;
// If rounding moves neighbours by a good part of their size, it decides between branches or feeds a
// recurrence that diverges. A few draws then do not show how far a number may move.
constexpr double unsure = 4, good_part = 0.25;
// The spread of a number is estimated from at least this many samples, including those of its neighbours.
constexpr int64_t least_samples = 32;
// Few draws do not underestimate a spread by more than this factor.
constexpr double most_underestimated = 4;
// If so many times larger roundings send none of many draws elsewhere, a right kernel does not go there
// either.
constexpr double larger = 4;

bool is_complex(const Array& array) {
    return array.dtype == Dtype::complex64 || array.dtype == Dtype::complex128;
}

// The numbers of an array: a complex one counts as two.
class Numbers {
  public:
    explicit Numbers(const Array& array)
        : data_(array.data.get()),
          dtype_(array.dtype),
          parts_(is_complex(array) ? 2 : 1),
          count_(array.count() * parts_) {}

    int64_t count() const { return count_; }
    int parts() const { return parts_; }
    double operator[](int64_t i) const {
        const auto at = static_cast<size_t>(i);
        switch (dtype_) {
            case Dtype::f32:
            case Dtype::complex64:
                return static_cast<const float*>(data_)[at];
            case Dtype::int32:
                return static_cast<const int32_t*>(data_)[at];
            default:
                return static_cast<const double*>(data_)[at];
        }
    }

  private:
    const void* data_;  // Array::as() would count the elements of the shape for every number
    Dtype dtype_;
    int parts_;
    int64_t count_;
};

// The size of a group of neighbours that share their spread: whole rows of the last axis.
int64_t group_of(const Array& array) {
    const int64_t row = array.shape.empty() ? 1 : array.shape.back() * Numbers(array).parts();
    return row >= least_samples || row < 1 ? std::max<int64_t>(row, 1)
                                           : (least_samples + row - 1) / row * row;
}

bool same_kind(double left, double right) {
    if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right);
    return std::isinf(left) || std::isinf(right) ? left == right : true;
}

// Returns whether a kernel may return this kind of number. A number that is not finite must stay so, and an
// infinity must keep its sign unless it may become NaN.
bool may_be(double got, double want, bool may_become_nan) {
    if (std::isfinite(want)) return std::isfinite(got);
    return !std::isfinite(got) && ((std::isnan(got) && may_become_nan) || std::isnan(want) || got == want);
}

// The largest magnitude of the finite numbers in float arrays.
double largest_of(const Arrays& arrays) {
    double largest = 0;
    for (const Array& array : arrays) {
        if (array.dtype == Dtype::int32) continue;
        const Numbers numbers(array);
        for (int64_t i = 0; i < numbers.count(); ++i)
            if (std::isfinite(numbers[i])) largest = std::max(largest, std::abs(numbers[i]));
    }
    return largest;
}

// Sums the squared differences between several draws and the definition.
class Squares {
  public:
    explicit Squares(const Array& want) : want_(want), sums_(static_cast<size_t>(Numbers(want).count())) {}

    void add(const Array& drawn) {
        const Numbers want(want_), got(drawn);
        for (int64_t i = 0; i < want.count(); ++i) {
            double& sum = sums_[static_cast<size_t>(i)];
            const double difference = got[i] - want[i];
            if (!same_kind(want[i], got[i]))
                sum = NAN;
            else if (std::isfinite(want[i]))
                sum += difference * difference;
        }
    }

    // The larger of the number's own root mean square and the fourth root of the mean fourth power of its
    // neighbours, which is dominated by the largest of them.
    std::vector<float> spread(int draws) const {
        std::vector<float> spread(sums_.size());
        const auto group = static_cast<size_t>(group_of(want_));
        const Numbers want(want_);
        for (size_t first = 0; first < sums_.size(); first += group) {
            const size_t last = std::min(first + group, sums_.size());
            double fourth = 0, squares = 0;
            for (size_t i = first; i < last; ++i) {
                const double size = want[static_cast<int64_t>(i)];
                fourth += std::isfinite(sums_[i]) ? sums_[i] * sums_[i] : 0;
                squares += std::isfinite(size) ? size * size : 0;
            }
            const auto count = static_cast<double>(last - first);
            const double shared = std::sqrt(fourth / count), size = std::sqrt(squares / count);
            for (size_t i = first; i < last; ++i) {
                const double own = std::sqrt(std::max(shared, sums_[i]) / draws);
                const double wider = most_spreads * own > good_part * size ? unsure : 1;
                spread[i] = std::isnan(sums_[i]) ? NAN : static_cast<float>(wider * own);
            }
        }
        return spread;
    }

  private:
    const Array& want_;
    std::vector<double> sums_;
};

// If the numbers of a position move by `good_part` of the size of their sequence, a state with a nonlinear
// rule may take another course, and it may do so in all draws alike. What is `forgotten` of the sequence is
// then unknown in the spreads, and so are outputs without positions. The first dimension counts sequences.
enum class Forgotten { later_positions, whole_sequences };
void forget_diverged(const Family& family, const std::vector<Expected>& outputs, Forgotten forgotten,
                     std::vector<std::vector<float>>& spreads) {
    std::set<int64_t> diverged;
    for (size_t i = 0; i < outputs.size(); ++i) {
        const Array& array = outputs[i].want;
        const int axis = sequence_axis_of(family, array);
        if (axis < 1 || array.dtype == Dtype::int32) continue;
        const Shape& shape = array.shape;
        const int64_t outer = count_of(Shape(shape.begin(), shape.begin() + axis));
        const int64_t positions = shape[static_cast<size_t>(axis)];
        const Numbers want(array);
        const int64_t each = outer * positions > 0 ? want.count() / (outer * positions) : 0;
        for (int64_t o = 0; o < outer; ++o) {
            const int64_t first = o * positions * each, last = first + positions * each;
            double squares = 0;
            for (int64_t n = first; n < last; ++n) squares += std::isfinite(want[n]) ? want[n] * want[n] : 0;
            const double most = good_part * std::sqrt(squares / static_cast<double>(last - first));
            const auto begin = spreads[i].begin(), end = begin + last;
            const auto moved =
                std::find_if(begin + first, end, [&](float spread) { return spread > unsure * most; });
            if (moved == end) continue;
            const int64_t from =
                forgotten == Forgotten::whole_sequences ? first : (moved - begin) / each * each;
            std::fill(begin + from, end, NAN);
            diverged.insert(o / (outer / shape[0]));
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        const Array& array = outputs[i].want;
        if (sequence_axis_of(family, array) >= 0 || array.shape.empty()) continue;
        const int64_t sequences = array.shape[0];
        for (const int64_t sequence : diverged) {
            const int64_t each = Numbers(array).count() / sequences;
            const auto begin = spreads[i].begin() + sequence * each;
            if (sequence < sequences) std::fill(begin, begin + each, NAN);
        }
    }
}

bool diverges(const Family& family, const Parameters& parameters) {
    return family.diverges && family.diverges(parameters);
}

struct Draw {
    Arrays outputs;
    bool multiplies_infinity;
};

Outcome<Draw> draw(const Family& family, DefinitionRequest request, const Rounding& rounding, int number) {
    const NoiseScope noise(rounding, static_cast<uint64_t>(number) + 1);
    request.noisy = true;
    auto outputs = family.definition(request);
    if (!outputs) return outputs.error();
    return Draw{std::move(*outputs), NoiseScope::multiplies_infinity()};
}

// Starts a draw on a thread of its own, or defers it to this one if no thread can be started.
std::future<Outcome<Draw>> start_draw(const Family& family, const DefinitionRequest& request,
                                      const Rounding& rounding, int number) {
    const auto work = [&family, request, rounding, number] {
        return draw(family, request, rounding, number);
    };
    try {
        return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, work);
    }
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

}  // namespace

namespace {

// What several draws show.
struct Drawn {
    std::vector<std::vector<float>> spreads;  // of each output
    bool multiplies_infinity = false;
};

// Draws `draws` times. Outputs keep only the rows that the draws have. The spreads are those of at least a
// few draws: others moved nothing.
Outcome<Drawn> draw_several(const Family& family, const DefinitionRequest& request, const Rounding& rounding,
                            int threads, Forgotten forgotten, std::vector<Expected>& outputs, int draws) {
    Drawn all;
    std::vector<Squares> squares;
    for (int first = 0; first < draws; first += std::max(threads, 1)) {
        const int last = std::min(first + std::max(threads, 1), draws);
        std::vector<std::future<Outcome<Draw>>> running;
        for (int number = first + 1; number < last; ++number)
            running.push_back(start_draw(family, request, rounding, number));
        std::vector<Outcome<Draw>> drawn;
        drawn.push_back(draw(family, request, rounding, first));
        for (auto& one : running) drawn.push_back(one.get());
        for (const Outcome<Draw>& one : drawn) {
            if (!one) return one.error();
            all.multiplies_infinity = all.multiplies_infinity || one->multiplies_infinity;
            for (size_t i = 0; i < outputs.size(); ++i) {
                Array& want = outputs[i].want;
                const Array& output = *find(one->outputs, want.name);
                if (output.rows && !want.rows) want = chosen(want, output.rows);
                if (squares.size() == i) squares.emplace_back(want);
                squares[i].add(output);
            }
        }
    }
    for (const Squares& one : squares) all.spreads.push_back(one.spread(std::max(draws, few_draws)));
    if (diverges(family, request.parameters)) forget_diverged(family, outputs, forgotten, all.spreads);
    return all;
}

}  // namespace

std::optional<Error> add_spread(const Family& family, const DefinitionRequest& request,
                                const Rounding& rounding, int threads, std::vector<Expected>& outputs,
                                int draws) {
    auto drawn = draw_several(family, request, rounding, threads, Forgotten::later_positions, outputs, draws);
    if (!drawn) return drawn.error();
    const double flushed = FLT_MIN * std::max(1.0, largest_of(request.inputs));
    for (size_t i = 0; i < outputs.size(); ++i)
        outputs[i] = {.want = std::move(outputs[i].want),
                      .spread = std::move(drawn->spreads[i]),
                      .draws = draws,
                      .flushed = flushed,
                      .may_become_nan = drawn->multiplies_infinity,
                      .may_diverge = diverges(family, request.parameters)};
    return {};
}

std::optional<Error> add_steady_spread(const Family& family, const DefinitionRequest& request,
                                       const Rounding& rounding, int threads,
                                       std::vector<Expected>& outputs) {
    Rounding rough = rounding;
    for (double* unit : {&rough.arithmetic, &rough.narrow, &rough.stored}) *unit *= larger;
    const auto drawn =
        draw_several(family, request, rough, threads, Forgotten::whole_sequences, outputs, many_draws);
    if (!drawn) return drawn.error();
    for (size_t i = 0; i < outputs.size(); ++i) {
        outputs[i].steady_spread = outputs[i].spread;
        for (size_t n = 0; n < outputs[i].spread.size(); ++n)
            if (std::isnan(drawn->spreads[i][n])) outputs[i].steady_spread[n] = NAN;
    }
    return {};
}

namespace {

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
    const bool lost = judging.growth * uncertain > squares && uncertain > 4 * least;
    verdict.verdict = verdict.elements > 0                                       ? Verdict::wrong
                      : lost || (verdict.judged == 0 && judging.got.count() > 0) ? Verdict::cannot_judge
                                                                                 : Verdict::right;
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
    if (is_first(expected)) return verdict.verdict == Verdict::right;
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
    return OutputVerdict{
        .output = later.name,
        .verdict = Verdict::wrong,
        .judged = later.count(),
        .elements = changed_values(earlier, later),
        .worst = JudgedElement{index_of(number / has.parts(), later.shape), has[number], had[number], 0,
                               "changed between the first run and the last repeat"}};
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
        words += (words.empty() ? "" : "; ") + tiling.dimension + " = " + std::to_string(index[axis]) +
                 ": row " + std::to_string(index[axis] - first) + " of tile " + std::to_string(tile) + ", " +
                 tiling.name + " = " + std::to_string(tiling.size);
        if (rows < tiling.size) words += " (the last, " + std::to_string(rows) + " rows)";
    }
    return words;
}

}  // namespace sawtooth
