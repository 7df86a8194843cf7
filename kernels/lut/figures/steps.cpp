// The drawn output against the dragged input. It is constant between flips of bits; the surrogate gradient
// stands for the missing slope.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/lut/family.h"
#include "kernels/lut/figures/common.h"

namespace sawtooth::lut {
namespace {

// A bit that flips when the dragged input moves by `by` from here.
struct Flip {
    double by = 0;
    int64_t detector = 0, r = 0;
};

// The drawn output of the drawn item as a function of the dragged input.
class Steps {
  public:
    Steps(const Result& result, const Drawn& drawn) : drawn_(drawn), weights_(result) {
        const Detectors detectors(result);
        for (int64_t t = 0; t < drawn.detectors; ++t) {
            const Checked checked = detectors.check(drawn.item, t);
            rows_.push_back(checked.row);
            y_ += weight(t, checked.row);
            for (int64_t r = 0; r < drawn.anchors; ++r) {
                const Detectors::Pair pair = detectors.pair(t, r);
                const int sign = pair.is_skipped() ? 0 : pair.sign_of(drawn.dragged_input);
                if (sign == 0) continue;
                const double delta = checked.deltas[static_cast<size_t>(r)],
                             by = -(delta - double{drawn.eps}) / sign;
                (by > 0 || (by == 0 && sign > 0) ? up_ : down_).push_back({by, t, r});
                if (checked.weakest != r) continue;
                slope_ += sign * surrogate_slope(delta) *
                          (weight(t, checked.row) - weight(t, checked.row ^ (int64_t{1} << r)));
            }
        }
        const auto nearer = [](const Flip& one, const Flip& other) {
            return std::abs(one.by) < std::abs(other.by);
        };
        std::stable_sort(up_.begin(), up_.end(), nearer);
        std::stable_sort(down_.begin(), down_.end(), nearer);
    }

    double y() const { return y_; }          // the present output
    double slope() const { return slope_; }  // the present slope of the surrogate
    const std::vector<Flip>& up() const { return up_; }
    const std::vector<Flip>& down() const { return down_; }

    // Returns y after each of the first `count` flips; flips are sorted by distance.
    std::vector<double> after(const std::vector<Flip>& flips, size_t count) const {
        std::vector<int64_t> rows = rows_;
        std::vector<double> levels;
        double level = y_;
        for (size_t i = 0; i < count; ++i) {
            int64_t& row = rows[static_cast<size_t>(flips[i].detector)];
            level -= weight(flips[i].detector, row);
            row ^= int64_t{1} << flips[i].r;
            level += weight(flips[i].detector, row);
            levels.push_back(level);
        }
        return levels;
    }

  private:
    double weight(int64_t detector, int64_t row) const {
        return weights_.weight(detector, row, drawn_.output);
    }

    const Drawn& drawn_;
    Weights weights_;
    std::vector<int64_t> rows_;
    std::vector<Flip> up_, down_;
    double y_ = 0, slope_ = 0;
};

// The number of flips in the range of the parameter, limited to as many as the eye can tell apart.
size_t shown_flips(const std::vector<Flip>& flips, double from, const Parameter& range) {
    constexpr size_t most = 256;
    const auto outside = std::find_if(flips.begin(), flips.end(), [&](const Flip& flip) {
        return from + flip.by < range.minimum || from + flip.by > range.maximum;
    });
    return std::min(most, static_cast<size_t>(outside - flips.begin()));
}

// The treads of the staircase from left to right. A click on one drags the input to its middle.
struct Treads {
    Line line{"y", {Ink::Role::highlight}, {}, {}};

    void add(double from, double to, double y) {
        line.x.insert(line.x.end(), {from, to});
        line.y.insert(line.y.end(), 2, y);
        line.sets.values.insert(line.sets.values.end(), 2, (from + to) / 2);
    }
};

Line treads_of(const Steps& steps, double from, const Parameter& range) {
    const size_t ups = shown_flips(steps.up(), from, range), downs = shown_flips(steps.down(), from, range);
    const auto right = steps.after(steps.up(), ups), left = steps.after(steps.down(), downs);
    const auto place = [&](const std::vector<Flip>& flips, size_t i) { return from + flips[i].by; };
    const double spread =
        std::max({1e-3, ups > 0 ? steps.up()[ups - 1].by : 0, downs > 0 ? -steps.down()[downs - 1].by : 0});
    // The plot ends before the first flip that is not shown.
    const auto reach = [&](const std::vector<Flip>& flips, size_t shown) {
        return shown < flips.size() ? std::min(1.1 * spread, std::abs(flips[shown].by)) : 1.1 * spread;
    };
    Treads treads;
    double begin = std::max(range.minimum, from - reach(steps.down(), downs));
    const double end = std::min(range.maximum, from + reach(steps.up(), ups));
    for (size_t i = downs; i-- > 0;) {
        const double until = place(steps.down(), i);
        treads.add(begin, until, left[i]);
        begin = until;
    }
    for (size_t i = 0; i < ups; ++i) {
        const double until = place(steps.up(), i);
        treads.add(begin, until, i == 0 ? steps.y() : right[i - 1]);
        begin = until;
    }
    treads.add(begin, end, ups == 0 ? steps.y() : right[ups - 1]);
    treads.line.sets.parameter = "dragged_by";
    return treads.line;
}

// The tangent through the present point, cut off where it leaves the plot.
Line tangent_of(const Steps& steps, double from, const Line& treads) {
    const auto [low, high] = std::minmax_element(treads.y.begin(), treads.y.end());
    const double room = std::max({*high - steps.y(), steps.y() - *low, 1e-3}),
                 width = (treads.x.back() - treads.x.front()) / 4;
    const double reach = steps.slope() == 0 ? width : std::min(width, room / std::abs(steps.slope()));
    return {"surrogate gradient",
            {Ink::Role::reference},
            {from - reach, from + reach},
            {steps.y() - reach * steps.slope(), steps.y() + reach * steps.slope()}};
}

}  // namespace

Figure steps_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("steps", Place::views, fmt::format("y against input {}", drawn.dragged_input),
                               "", {.label = fmt::format("input {} moved by", drawn.dragged_input)},
                               {.label = fmt::format("y, output {}", drawn.output)});
    figure.chosen_by = {"drawn_output"};
    const Steps steps(result, drawn);
    const auto flips = std::ssize(steps.up()) + std::ssize(steps.down());
    if (flips == 0) {
        leave_out(figure, fmt::format("No detector compares input {}: choose another dragged_input.",
                                      drawn.dragged_input));
        return figure;
    }
    Line treads = treads_of(steps, drawn.dragged_by, *lut_family().parameter("dragged_by"));
    figure.caption = fmt::format(
        "y changes in {} and is flat elsewhere. Surrogate gradient here: {:.2g}. Click a step to drag the "
        "input there.",
        count_words(flips, "step"), steps.slope());
    Line tangent = tangent_of(steps, drawn.dragged_by, treads);
    const Rule here{Rule::Across::x, drawn.dragged_by, "now", {Ink::Role::quiet}};
    figure.marks = {std::move(treads), std::move(tangent), here};
    return figure;
}

}  // namespace sawtooth::lut
