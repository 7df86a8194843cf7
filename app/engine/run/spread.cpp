#include "app/engine/run/spread.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <future>
#include <set>
#include <system_error>

#include "app/engine/run/numbers.h"
#include "kernels/core/dimensions.h"
#include "kernels/core/noisy.h"

namespace sawtooth {
namespace {

// If rounding moves neighbours by a good part of their size, it decides between branches or feeds a
// recurrence that diverges. A few draws then do not show how far a number may move.
constexpr double unsure = 4, good_part = 0.25;
// The spread of a number is estimated from at least this many samples, including those of its neighbours.
constexpr int64_t least_samples = 32;
// Inputs beyond this do not make smaller numbers uncertain.
constexpr double most_enlarged = 0x1p20;
// If so many times larger roundings send none of many draws elsewhere, a right kernel does not go there
// either.
constexpr double larger = 4;

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
    if (may_diverge(family, request.parameters)) forget_diverged(family, outputs, forgotten, all.spreads);
    return all;
}

}  // namespace

bool may_diverge(const Family& family, const Parameters& parameters) {
    return family.diverges && family.diverges(parameters);
}

std::optional<Error> add_spread(const Family& family, const DefinitionRequest& request,
                                const Rounding& rounding, int threads, std::vector<Expected>& outputs,
                                int draws) {
    const double largest = std::max(1.0, largest_of(request.inputs));
    // A number may be a product with the largest input, whose other factor is below the range of f32.
    Rounding with_inputs = rounding;
    with_inputs.smallest *= std::min(largest, most_enlarged);
    auto drawn =
        draw_several(family, request, with_inputs, threads, Forgotten::later_positions, outputs, draws);
    if (!drawn) return drawn.error();
    const double flushed = FLT_MIN * largest;
    for (size_t i = 0; i < outputs.size(); ++i)
        outputs[i] = {.want = std::move(outputs[i].want),
                      .spread = std::move(drawn->spreads[i]),
                      .draws = draws,
                      .flushed = flushed,
                      .may_become_nan = drawn->multiplies_infinity,
                      .may_diverge = may_diverge(family, request.parameters)};
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

}  // namespace sawtooth
