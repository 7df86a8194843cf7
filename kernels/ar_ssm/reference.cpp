// The definition in double precision, one sequence after another; s is 1, or 1/2 if bidirectional:
//   t[l] = conv[0] x[l - 1] + conv[1] x[l] + conv[2] x[l + 1] in every channel, x is 0 outside the sequence;
//   hidden = relu(x W1^T + b1), logits = hidden W2^T + b2, soft = sigmoid(logits);
//   gates = soft, or hard: 1 where logits >= 0, otherwise 0;
//   pu = x U^T, pv = x V^T, u = pu gates, v = pv gates;
//   c = s scan(u), bidirectional: + s scan of u from the end; w = c v;
//   y = s t + w W_o^T + b_o.
// Gradients, with dt = s dy:
//   dw = dy W_o, dc = dw v, dv = dw c, du = s scan(dc) from the end, bidirectional: + s scan(dc);
//   dlogits = (du pu + dv pv) soft (1 - soft), hard: the same, straight through;
//   dhidden = dlogits W2 where hidden > 0, otherwise 0;
//   dx[l] = conv[0] dt[l + 1] + conv[1] dt[l] + conv[2] dt[l - 1]
//           + dhidden W1 + (du gates) U + (dv gates) V.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/ar_ssm/parts.h"
#include "kernels/core/range.h"

namespace sawtooth::ar_ssm {
namespace {

// Along a sequence a row is a position.
struct Matrix {
    int64_t rows = 0, columns = 0;
    std::vector<double> values;

    Matrix() = default;
    Matrix(int64_t row_count, int64_t column_count)
        : rows(row_count), columns(column_count), values(static_cast<size_t>(row_count * column_count)) {}
    double* row(int64_t r) { return values.data() + r * columns; }
    const double* row(int64_t r) const { return values.data() + r * columns; }
};

Matrix transposed(const Matrix& from) {
    Matrix to(from.columns, from.rows);
    for (int64_t r = 0; r < from.rows; ++r)
        for (int64_t c = 0; c < from.columns; ++c) to.row(c)[r] = from.row(r)[c];
    return to;
}

// The left factor of a product, possibly a transposed matrix.
struct Left {
    const double* values;
    int64_t row_step, column_step;
};

// to[j] += sum over k of left[k] right[k, j], for as many columns j as registers hold: without the pragma GCC
// keeps the sums in memory, at half the speed.
template <int width>
void add_columns(double* to, const double* left, int64_t step, const double* right, int64_t columns,
                 int64_t terms) {
    double sums[width];
    for (int j = 0; j < width; ++j) sums[j] = to[j];
    for (int64_t k = 0; k < terms; ++k)
#pragma GCC unroll 16
        for (int j = 0; j < width; ++j) sums[j] += left[k * step] * right[k * columns + j];
    for (int j = 0; j < width; ++j) to[j] = sums[j];
}

// to [rows, columns] += left [rows, terms] right [terms, columns], so many terms at a time that the cache
// holds the columns of `right`.
void add_product(double* to, int64_t rows, int64_t columns, const Left& left, const double* right,
                 int64_t terms) {
    constexpr int64_t together = 64;
    constexpr int width = 16;
    for (int64_t first = 0; first < terms; first += together) {
        const int64_t count = std::min(together, terms - first);
        const auto for_rows = [&](auto add, int64_t j) {
            for (int64_t i = 0; i < rows; ++i)
                add(to + i * columns + j, left.values + i * left.row_step + first * left.column_step,
                    left.column_step, right + first * columns + j, columns, count);
        };
        int64_t j = 0;
        for (; j + width <= columns; j += width) for_rows(add_columns<width>, j);
        for (; j < columns; ++j) for_rows(add_columns<1>, j);
    }
}

// At these positions: to += left right.
void add_product(Matrix& to, Range at, const Matrix& left, const Matrix& right) {
    add_product(to.row(at.first), at.count(), to.columns, {left.row(at.first), left.columns, 1}, right.row(0),
                right.rows);
}

// to += left^T right over these positions.
void add_outer_product(Matrix& to, Range at, const Matrix& left, const Matrix& right) {
    add_product(to.row(0), to.rows, to.columns, {left.row(at.first), 1, left.columns}, right.row(at.first),
                at.count());
}

// to += the sum of `from` over these positions.
void add_rows(Matrix& to, Range at, const Matrix& from) {
    for (int64_t l = at.first; l < at.last; ++l)
        for (int64_t i = 0; i < from.columns; ++i) to.values[static_cast<size_t>(i)] += from.row(l)[i];
}

void set_rows(Matrix& to, Range at, const Matrix& row) {
    for (int64_t l = at.first; l < at.last; ++l) std::copy(row.values.begin(), row.values.end(), to.row(l));
}

// At these positions: to = left right, element by element.
void set_elements(Matrix& to, Range at, const Matrix& left, const Matrix& right) {
    for (int64_t l = at.first; l < at.last; ++l)
        for (int64_t i = 0; i < to.columns; ++i) to.row(l)[i] = left.row(l)[i] * right.row(l)[i];
}

// to += scale times the inclusive scan of `from`, along the sequence or from its end.
void add_scan(Matrix& to, const Matrix& from, double scale, bool from_end) {
    std::vector<double> sums(static_cast<size_t>(from.columns));
    for (int64_t step = 0; step < from.rows; ++step) {
        const int64_t l = from_end ? from.rows - 1 - step : step;
        for (int64_t i = 0; i < from.columns; ++i) {
            double& sum = sums[static_cast<size_t>(i)];
            sum += from.row(l)[i];
            to.row(l)[i] += scale * sum;
        }
    }
}

// Biases are single rows.
struct Weights {
    Matrix conv, gate_w1, gate_b1, gate_w2, gate_b2, u_proj, v_proj, out_proj, out_bias;
};

struct Named {
    const char* name;
    Matrix Weights::*weight;
};
constexpr Named all_weights[] = {
    {"conv", &Weights::conv},       {"gate_w1", &Weights::gate_w1},   {"gate_b1", &Weights::gate_b1},
    {"gate_w2", &Weights::gate_w2}, {"gate_b2", &Weights::gate_b2},   {"u_proj", &Weights::u_proj},
    {"v_proj", &Weights::v_proj},   {"out_proj", &Weights::out_proj}, {"out_bias", &Weights::out_bias},
};

// What the forward pass computes for one sequence.
struct Forward {
    Matrix x, hidden, soft, gates, pu, pv, v, c, w, y;
};

class Reference {
  public:
    Reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop)
        : sizes_(parameters), inputs_(inputs), stop_(std::move(stop)) {
        for (const auto& [name, weight] : all_weights) {
            const Array& array = *find(inputs, name);
            const int64_t columns = array.shape.back();
            Matrix& matrix = weights_.*weight;
            matrix = Matrix(array.count() / columns, columns);
            std::ranges::copy(array.as<float>(), matrix.values.begin());
            transposed_.*weight = transposed(matrix);
            gradients_.*weight = Matrix(matrix.rows, matrix.columns);
        }
        const auto add = [&](const char* name, int64_t columns) {
            Shape shape = {sizes_.batch, sizes_.length};
            if (columns > 0) shape.push_back(columns);
            outputs_.push_back(Array::uninitialised(name, Dtype::f64, std::move(shape)));
        };
        add("y", sizes_.width);
        add("gates", sizes_.rank);
        add("effective_rank", 0);
        if (sizes_.backward) add("dx", sizes_.width);
    }

    Outcome<Arrays> compute() {
        for (int64_t sequence = 0; sequence < sizes_.batch && !stop_.stop_requested(); ++sequence) {
            const Forward forward = run_forward(sequence);
            put("y", sequence, forward.y.values);
            put("gates", sequence, forward.gates.values);
            put("effective_rank", sequence, effective_ranks(forward.gates));
            if (sizes_.backward) put("dx", sequence, run_backward(sequence, forward).values);
        }
        if (stop_.stop_requested()) return Error::cancelled();
        if (sizes_.backward) add_weight_gradients();
        return std::move(outputs_);
    }

  private:
    Matrix ranks() const { return {sizes_.length, sizes_.rank}; }

    // One sequence of x or dy.
    Matrix tokens(const char* name, int64_t sequence) const {
        Matrix matrix(sizes_.length, sizes_.width);
        const auto count = static_cast<int64_t>(matrix.values.size());
        std::copy_n(find(inputs_, name)->as<float>().begin() + sequence * count, count,
                    matrix.values.begin());
        return matrix;
    }
    void put(const char* name, int64_t sequence, const std::vector<double>& values) {
        const auto count = static_cast<int64_t>(values.size());
        std::ranges::copy(values, find(outputs_, name)->as<double>().begin() + sequence * count);
    }

    // Calls each(positions) for blocks of positions, which make products fit the cache.
    template <class Each>
    void for_each_block(Each&& each) const {
        constexpr int64_t block = 64;
        for (int64_t first = 0; first < sizes_.length && !stop_.stop_requested(); first += block)
            each(Range{first, std::min(first + block, sizes_.length)});
    }

    Forward run_forward(int64_t sequence) const {
        Forward f{.x = tokens("x", sequence),
                  .hidden = {sizes_.length, sizes_.hidden},
                  .soft = ranks(),
                  .gates = ranks(),
                  .pu = ranks(),
                  .pv = ranks(),
                  .v = ranks(),
                  .c = ranks(),
                  .w = ranks(),
                  .y = {sizes_.length, sizes_.width}};
        Matrix u = ranks();
        for_each_block([&](Range at) {
            compute_gates(f, at);
            add_product(f.pu, at, f.x, transposed_.u_proj);
            add_product(f.pv, at, f.x, transposed_.v_proj);
            set_elements(u, at, f.pu, f.gates);
            set_elements(f.v, at, f.pv, f.gates);
        });
        add_scan(f.c, u, sizes_.scale(), false);
        if (sizes_.bidirectional) add_scan(f.c, u, sizes_.scale(), true);
        for_each_block([&](Range at) {
            set_elements(f.w, at, f.c, f.v);
            set_rows(f.y, at, weights_.out_bias);
            add_convolution(f.y, at, f.x);
            add_product(f.y, at, f.w, transposed_.out_proj);
        });
        return f;
    }

    void compute_gates(Forward& f, Range at) const {
        set_rows(f.hidden, at, weights_.gate_b1);
        add_product(f.hidden, at, f.x, transposed_.gate_w1);
        for (double* h = f.hidden.row(at.first); h != f.hidden.row(at.last); ++h)
            *h = *h < 0 ? 0 : *h;  // a NaN stays
        Matrix& logits = f.soft;
        set_rows(logits, at, weights_.gate_b2);
        add_product(logits, at, f.hidden, transposed_.gate_w2);
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t i = 0; i < sizes_.rank; ++i) {
                const double logit = logits.row(l)[i];
                f.soft.row(l)[i] = 1 / (1 + std::exp(-logit));
                f.gates.row(l)[i] = !sizes_.hard ? f.soft.row(l)[i] : logit >= 0 ? 1 : 0;
            }
    }

    // y += s t
    void add_convolution(Matrix& y, Range at, const Matrix& x) const {
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t k = 0; k < 3; ++k) {
                const int64_t from = l + k - 1;
                if (from < 0 || from >= sizes_.length) continue;
                for (int64_t d = 0; d < sizes_.width; ++d)
                    y.row(l)[d] += sizes_.scale() * weights_.conv.row(d)[k] * x.row(from)[d];
            }
    }

    std::vector<double> effective_ranks(const Matrix& gates) const {
        std::vector<double> sums;
        for (int64_t l = 0; l < gates.rows; ++l)
            sums.push_back(std::accumulate(gates.row(l), gates.row(l + 1), 0.0));
        return sums;
    }

    // Returns dx; adds to the gradients of the weights.
    Matrix run_backward(int64_t sequence, const Forward& f) {
        const Matrix dy = tokens("dy", sequence);
        Matrix dw = ranks(), dc = ranks(), dv = ranks(), du = ranks();
        for_each_block([&](Range at) {
            add_product(dw, at, dy, weights_.out_proj);
            set_elements(dc, at, dw, f.v);
            set_elements(dv, at, dw, f.c);
            add_outer_product(gradients_.out_proj, at, dy, f.w);
            add_rows(gradients_.out_bias, at, dy);
        });
        add_scan(du, dc, sizes_.scale(), true);
        if (sizes_.bidirectional) add_scan(du, dc, sizes_.scale(), false);
        Matrix dpu = ranks(), dpv = ranks(), dlogits = ranks();
        Matrix dhidden(sizes_.length, sizes_.hidden), dx(sizes_.length, sizes_.width);
        for_each_block([&](Range at) {
            set_elements(dpu, at, du, f.gates);
            set_elements(dpv, at, dv, f.gates);
            compute_gate_gradients(dlogits, dhidden, at, f, du, dv);
            add_convolution_gradients(dx, at, f.x, dy);
            add_product(dx, at, dhidden, weights_.gate_w1);
            add_product(dx, at, dpu, weights_.u_proj);
            add_product(dx, at, dpv, weights_.v_proj);
            add_outer_product(gradients_.gate_w1, at, dhidden, f.x);
            add_outer_product(gradients_.gate_w2, at, dlogits, f.hidden);
            add_outer_product(gradients_.u_proj, at, dpu, f.x);
            add_outer_product(gradients_.v_proj, at, dpv, f.x);
            add_rows(gradients_.gate_b1, at, dhidden);
            add_rows(gradients_.gate_b2, at, dlogits);
        });
        return dx;
    }

    void compute_gate_gradients(Matrix& dlogits, Matrix& dhidden, Range at, const Forward& f,
                                const Matrix& du, const Matrix& dv) const {
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t i = 0; i < sizes_.rank; ++i) {
                const double dgate = du.row(l)[i] * f.pu.row(l)[i] + dv.row(l)[i] * f.pv.row(l)[i];
                dlogits.row(l)[i] = dgate * f.soft.row(l)[i] * (1 - f.soft.row(l)[i]);
            }
        add_product(dhidden, at, dlogits, weights_.gate_w2);
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t i = 0; i < sizes_.hidden; ++i)
                if (!(f.hidden.row(l)[i] > 0)) dhidden.row(l)[i] = 0;
    }

    // Of x and of the taps.
    void add_convolution_gradients(Matrix& dx, Range at, const Matrix& x, const Matrix& dy) {
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t k = 0; k < 3; ++k) {
                const int64_t from = l - k + 1;  // x[l] is under tap k there
                if (from < 0 || from >= sizes_.length) continue;
                for (int64_t d = 0; d < sizes_.width; ++d) {
                    const double dt = sizes_.scale() * dy.row(from)[d];
                    dx.row(l)[d] += weights_.conv.row(d)[k] * dt;
                    gradients_.conv.row(d)[k] += dt * x.row(l)[d];
                }
            }
    }

    void add_weight_gradients() {
        for (const auto& [name, weight] : all_weights) {
            outputs_.push_back(
                Array::uninitialised("d" + std::string(name), Dtype::f64, find(inputs_, name)->shape));
            std::ranges::copy((gradients_.*weight).values, outputs_.back().as<double>().begin());
        }
    }

    Sizes sizes_;
    const Arrays& inputs_;
    std::stop_token stop_;
    Weights weights_, transposed_, gradients_;
    Arrays outputs_;
};

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Reference(parameters, inputs, std::move(stop)).compute();
}

}  // namespace sawtooth::ar_ssm
