// What y loses with fewer ranks: the distance from y to the same layer with only some of its ranks.
//
// Rank j adds p_j = s C_j v_j W_o[:, j]^T to y, and leaving out a set of ranks changes y by the sum of their
// p_j. The length of such a sum follows from the inner products of all pairs, so that these are computed
// once: <p_i, p_j> = s^2 (sum over positions of w_i w_j) (sum over channels of W_o[:, i] W_o[:, j]), w = C v.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/ar_ssm/figures/common.h"
#include "kernels/core/table.h"
#include "kernels/figures/without_arrays.h"

namespace sawtooth::ar_ssm {
namespace {

// With more products than this, the window would wait for the figure.
constexpr int64_t most_products = int64_t{1} << 27;

using Vector = std::vector<double>;

// The transpose [columns, rows] of a matrix [rows, columns].
Vector transposed(std::span<const float> matrix, int64_t rows, int64_t columns) {
    Vector to(matrix.size());
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            to[static_cast<size_t>(c * rows + r)] = double{matrix[static_cast<size_t>(r * columns + c)]};
    return to;
}

// to [rank, rank] += x x^T.
void add_square(Vector& to, const double* x, size_t rank) {
    for (size_t i = 0; i < rank; ++i)
        for (size_t j = 0; j < rank; ++j) to[i * rank + j] += x[i] * x[j];
}

// The factors u and v of one position.
struct Factors {
    Vector u, v;
};

class Projections {
  public:
    Projections(const Result& result, const Drawn& drawn, std::span<const double> gates)
        : drawn_(drawn),
          x_(drawn.floats(*find(result.inputs, "x"))),
          gates_(gates),
          u_(transposed(find(result.inputs, "u_proj")->as<float>(), drawn.rank, drawn.width)),
          v_(transposed(find(result.inputs, "v_proj")->as<float>(), drawn.rank, drawn.width)) {}

    void compute(int64_t position, Factors& to) const {
        const auto rank = static_cast<size_t>(drawn_.rank), width = static_cast<size_t>(drawn_.width);
        to.u.assign(rank, 0);
        to.v.assign(rank, 0);
        for (size_t d = 0; d < width; ++d) {
            const double x = double{x_[static_cast<size_t>(position) * width + d]};
            for (size_t j = 0; j < rank; ++j) to.u[j] += x * u_[d * rank + j];
            for (size_t j = 0; j < rank; ++j) to.v[j] += x * v_[d * rank + j];
        }
        for (size_t j = 0; j < rank; ++j) {
            const double gate = gates_[static_cast<size_t>(position) * rank + j];
            to.u[j] *= gate, to.v[j] *= gate;
        }
    }

  private:
    const Drawn& drawn_;
    std::span<const float> x_;
    std::span<const double> gates_;
    Vector u_, v_;  // [width, rank]
};

// <p_i, p_j> over positions 0 to count - 1, [rank, rank]; bidirectional: over all positions.
Vector inner_products(const Result& result, const Drawn& drawn, std::span<const double> gates,
                      int64_t count) {
    const auto rank = static_cast<size_t>(drawn.rank);
    const Projections projections(result, drawn, gates);
    Factors at;
    Vector scanned(rank), total(rank), w(rank), products(rank * rank), weight_products(rank * rank);
    if (drawn.bidirectional)
        for (int64_t position = 0; position < count; ++position) {
            projections.compute(position, at);
            for (size_t j = 0; j < rank; ++j) total[j] += at.u[j];
        }
    for (int64_t position = 0; position < count; ++position) {
        projections.compute(position, at);
        for (size_t j = 0; j < rank; ++j) {
            scanned[j] += at.u[j];
            // Both scans together have every position once and this one twice.
            w[j] = (drawn.bidirectional ? total[j] + at.u[j] : scanned[j]) * at.v[j];
        }
        add_square(products, w.data(), rank);
    }
    const auto weights = find(result.inputs, "out_proj")->as<float>();
    for (int64_t d = 0; d < drawn.width; ++d) {
        const auto row = weights.subspan(static_cast<size_t>(d) * rank, rank);
        std::copy(row.begin(), row.end(), w.begin());
        add_square(weight_products, w.data(), rank);
    }
    const double scale = double{drawn.scale()};
    for (size_t i = 0; i < products.size(); ++i) products[i] *= scale * scale * weight_products[i];
    return products;
}

// Element k is |the sum of p_j over all but the first k ranks of `order`| / size, for k = 0 … rank.
Vector errors_by_rank(const Vector& products, const std::vector<size_t>& order, double size) {
    const size_t rank = order.size();
    Vector errors(rank + 1);
    double square = 0;
    for (size_t k = rank; k-- > 0;) {
        const double* const row = products.data() + order[k] * rank;
        square += row[order[k]];
        for (size_t j = k + 1; j < rank; ++j) square += 2 * row[order[j]];
        errors[k] = std::sqrt(std::max(square, 0.0)) / size;
    }
    return errors;
}

std::vector<size_t> first_ranks(size_t rank) {
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
}

// All ranks, those that add the most to y first.
std::vector<size_t> largest_ranks(const Vector& products, size_t rank) {
    std::vector<size_t> order = first_ranks(rank);
    std::stable_sort(order.begin(), order.end(), [&](size_t one, size_t other) {
        return products[one * rank + one] > products[other * rank + other];
    });
    return order;
}

double size_of(std::span<const double> values) {
    double square = 0;
    for (const double value : values) square += value * value;
    return std::sqrt(square);
}

// "With the first 8 of 16 ranks, y is 41 % off, with the 8 largest 35 %; without any 62 %."
std::string words_of(const Vector& first, const Vector& largest) {
    const size_t rank = first.size() - 1, half = rank / 2;
    const std::string none = fmt::format("without any rank {} %.", percent_number(first.front()));
    if (half == 0) return "W" + none.substr(1);
    return fmt::format("With the first {} of {} ranks, y is {} % off, with the {} largest {} %; {}", half,
                       rank, percent_number(first[half]), half, percent_number(largest[half]), none);
}

Line line_of(const std::string& label, int kind, const Vector& errors) {
    Line line{label, {Ink::Role::kind, kind}, {}, {}, errors.size() <= 65};
    for (size_t k = 0; k < errors.size(); ++k) {
        line.x.push_back(static_cast<double>(k));
        line.y.push_back(100 * errors[k]);
    }
    return line;
}

// The number of positions of the sequence that can be computed in time; 0 if there are none.
int64_t affordable(const Drawn& drawn) {
    const int64_t passes = drawn.bidirectional ? 2 : 1;
    if (drawn.width * drawn.rank * drawn.rank > most_products) return 0;
    const int64_t count = most_products / (drawn.rank * (2 * passes * drawn.width + drawn.rank));
    if (drawn.bidirectional && count < drawn.length) return 0;
    return std::min(count, drawn.length);
}

}  // namespace

Figure rank_error_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    const auto rank = static_cast<size_t>(drawn.rank);
    Figure figure =
        new_figure("error_by_rank", Place::views, fmt::format("Error with fewer ranks, against all {}", rank),
                   "", {.label = "ranks kept", .minimum = 0, .maximum = static_cast<double>(rank)},
                   {.label = "rel L2 error", .unit = "%", .minimum = 0});
    const Array *const gates = find(result.reference, "gates"), *const y = find(result.reference, "y");
    const int64_t count = affordable(drawn);
    if (!gates || !y || count == 0) {
        leave_out(figure, count == 0 ? "It would take too long: reduce length, d_model or max_rank."
                                     : "Available after a run (press F5).");
        return figure;
    }
    if (!has_arrays(result))
        return left_out_without_arrays({{figure.id, figure.place, figure.title}}).front();
    const double size = size_of(drawn.doubles(*y).first(static_cast<size_t>(count * drawn.width)));
    const Vector products = inner_products(result, drawn, drawn.doubles(*gates), count);
    const Vector first = errors_by_rank(products, first_ranks(rank), size),
                 largest = errors_by_rank(products, largest_ranks(products, rank), size);
    if (!std::isfinite(size) || !std::isfinite(first.front())) {
        leave_out(figure, "y is 0 or not finite in this sequence: choose another drawn_batch or seed.");
        return figure;
    }
    figure.caption = words_of(first, largest);
    if (count < drawn.length)
        figure.caption += fmt::format(" Over the first {} positions.", with_thousands(count));
    figure.chosen_by = {"drawn_batch"};
    figure.marks = {line_of("the first ranks", 1, first), line_of("the largest ranks", 2, largest)};
    return figure;
}

}  // namespace sawtooth::ar_ssm
