#include "kernels/figures/intervals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/core/random.h"

namespace sawtooth {
namespace {

constexpr double chance = 0.005;  // the chance that an interval misses the true ratio

// How many of the smallest and of the largest of `count` samples lie outside the interval of the sign test,
// which misses the median with at most that chance. Returns 0 if no interval does.
size_t cut_of_median(size_t count) {
    // In logarithms, as 2^-1075 is 0.
    double exactly = static_cast<double>(count) * std::log(0.5), tail = 0;
    for (size_t k = 0; 2 * k < count; ++k) {
        tail += std::exp(exactly);
        if (2 * tail > chance) return k;
        exactly += std::log(static_cast<double>(count - k) / static_cast<double>(k + 1));
    }
    return 0;
}

// The same for the ratios of all pairs of one of `count` samples and one of as many others, by the
// distribution of the rank sum of Mann and Whitney, which is exact for few samples.
size_t cut_of_ratios(size_t count) {
    constexpr size_t few = 24;
    constexpr double normal_quantile = 2.807;  // the two-sided quantile of that chance
    const auto n = static_cast<double>(count);
    if (count > few) {
        const double cut = n * n / 2 - normal_quantile * n * std::sqrt((2 * n + 1) / 12);
        return static_cast<size_t>(std::max(0.0, std::floor(cut)));
    }
    // orders[u] is the number of orders in which u ratios are below 1, a coefficient of the product of
    //   (1 - x^(n+i)) / (1 - x^i).
    std::vector<double> orders(count * count + 1, 0);
    orders[0] = 1;
    for (size_t i = 1; i <= count; ++i) {
        for (size_t u = orders.size(); u-- > count + i;) orders[u] -= orders[u - count - i];
        for (size_t u = i; u < orders.size(); ++u) orders[u] += orders[u - i];
    }
    double all = 0, tail = 0;
    for (const double each : orders) all += each;
    for (size_t u = 0; u < orders.size(); ++u) {
        tail += orders[u];
        if (2 * tail > chance * all) return u;
    }
    return 0;
}

Interval between(std::vector<double> values, size_t cut) {
    if (cut == 0 || 2 * cut > values.size()) return {};
    std::sort(values.begin(), values.end());
    return {values[cut - 1], values[values.size() - cut]};
}

// Chooses evenly from the samples so that the work is bounded.
std::vector<double> thinned(std::span<const double> samples, size_t count) {
    constexpr size_t most = 200;
    const size_t kept = std::min(most, count);
    std::vector<double> some;
    for (size_t i = 0; i < kept; ++i) some.push_back(samples[i * count / kept]);
    return some;
}

// Numbers of which as many as there are can be drawn with replacement.
class Bootstrap {
  public:
    explicit Bootstrap(const std::vector<double>& values) : places_(values.size()), sorted_(values) {
        std::vector<size_t> order(values.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
        for (size_t place = 0; place < order.size(); ++place) places_[order[place]] = place;
        std::sort(sorted_.begin(), sorted_.end());
    }

    bool is_empty() const { return sorted_.empty(); }

    // The median_of_ratios of drawn numbers, found by how often each was drawn.
    double median(Random& random) const {
        const size_t count = sorted_.size();
        std::vector<size_t> drawn(count, 0);
        for (size_t i = 0; i < count; ++i)
            ++drawn[places_[static_cast<size_t>(random.below(static_cast<int64_t>(count)))]];
        size_t place = 0, up_to = drawn[0];  // how many are not larger than the number at `place`
        const auto number_at = [&](size_t rank) {
            while (up_to <= rank) up_to += drawn[++place];
            return sorted_[place];
        };
        if (count % 2 == 1) return number_at(count / 2);
        const double below = number_at(count / 2 - 1);
        return std::sqrt(below * number_at(count / 2));
    }

  private:
    std::vector<size_t> places_;  // of each number among the sorted ones
    std::vector<double> sorted_;
};

// What is drawn of a round: the ratios of its samples, or both sets of samples.
struct Resampling {
    Bootstrap ratios, first, second;

    double ratio(Random& random) const {
        if (!ratios.is_empty()) return ratios.median(random);
        const double of_second = second.median(random);
        return of_second / first.median(random);
    }
};

Resampling resampling_of(const RoundSamples& round) {
    const Bootstrap none({});
    if (!round.in_turns)
        return {none, Bootstrap(thinned(round.first, round.first.size())),
                Bootstrap(thinned(round.second, round.second.size()))};
    return {Bootstrap(thinned(ratios_of(round.first, round.second), round.first.size())), none, none};
}

}  // namespace

std::vector<double> ratios_of(std::span<const double> first, std::span<const double> second) {
    std::vector<double> ratios;
    for (size_t i = 0; i < first.size(); ++i) ratios.push_back(second[i] / first[i]);
    return ratios;
}

double median_of_ratios(std::vector<double> ratios) {
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    return ratios.size() % 2 == 1 ? *middle : std::sqrt(*std::max_element(ratios.begin(), middle) * *middle);
}

Interval interval_of_median(const std::vector<double>& ratios) {
    return between(ratios, cut_of_median(ratios.size()));
}

Interval interval_of_all_pairs(const std::vector<double>& first, const std::vector<double>& second) {
    const size_t count = std::min(first.size(), second.size());
    const std::vector<double> ones = thinned(first, count), others = thinned(second, count);
    std::vector<double> ratios;
    for (const double one : ones)
        for (const double other : others) ratios.push_back(other / one);
    return between(std::move(ratios), cut_of_ratios(ones.size()));
}

double ratio_of(const RoundSamples& round) {
    if (round.in_turns) return median_of_ratios(ratios_of(round.first, round.second));
    return median_of_ratios({round.second.begin(), round.second.end()}) /
           median_of_ratios({round.first.begin(), round.first.end()});
}

Interval interval_of_rounds(const std::vector<RoundSamples>& rounds) {
    constexpr size_t draws = 400, outside = 2;  // on each side: 99 % remain
    std::vector<Resampling> all;
    for (const RoundSamples& round : rounds) all.push_back(resampling_of(round));
    Random random(1, "rounds");
    std::vector<double> medians;
    for (size_t draw = 0; draw < draws; ++draw) {
        std::vector<double> ratios;
        for (size_t i = 0; i < all.size(); ++i)
            ratios.push_back(
                all[static_cast<size_t>(random.below(static_cast<int64_t>(all.size())))].ratio(random));
        medians.push_back(median_of_ratios(std::move(ratios)));
    }
    return between(std::move(medians), outside);
}

double quartile_ratio(std::vector<double> ratios) {
    std::sort(ratios.begin(), ratios.end());
    const auto quartile = [&](double share) {
        const double place = share * static_cast<double>(ratios.size() - 1);
        const auto below = static_cast<size_t>(place);
        const size_t above = std::min(below + 1, ratios.size() - 1);
        return ratios[below] + (place - static_cast<double>(below)) * (ratios[above] - ratios[below]);
    };
    return quartile(0.75) / quartile(0.25);
}

}  // namespace sawtooth
