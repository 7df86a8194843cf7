// The definitions in double precision. Loops run over positions in memory order, so that a compiler can use
// vectors.

#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "kernels/core/common_parameters.h"

namespace sawtooth::attention {
namespace {

// One head: [positions, d].
struct Rows {
    int64_t d = 0;
    std::vector<double> values;

    Rows() = default;
    Rows(int64_t count, int64_t width) : d(width), values(static_cast<size_t>(count * width)) {}
    double* row(int64_t position) { return values.data() + position * d; }
    const double* row(int64_t position) const { return values.data() + position * d; }
};

double dot(const double* left, const double* right, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += left[i] * right[i];
    return sum;
}

void add(double* to, double factor, const double* row, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[i] += factor * row[i];
}

// R(p) of every row, or its inverse; `position` gives p.
template <class Position>
Rows rotated(const Rows& from, bool back, Position position) {
    Rows to = from;
    const int64_t half = from.d / 2, count = static_cast<int64_t>(from.values.size()) / from.d;
    for (int64_t i = 0; i < count; ++i)
        for (int64_t m = 0; m < half; ++m) {
            const double turn =
                static_cast<double>(position(i)) *
                std::pow(10000.0, -2.0 * static_cast<double>(m) / static_cast<double>(from.d));
            const double c = std::cos(turn), s = back ? -std::sin(turn) : std::sin(turn);
            const double x = from.row(i)[m], y = from.row(i)[m + half];
            to.row(i)[m] = x * c - y * s;
            to.row(i)[m + half] = y * c + x * s;
        }
    return to;
}

struct Inputs {
    Rows q1, q2, k1, k2, v, dout;
};

struct Gradients {
    Rows q1, q2, k1, k2, v;
};

// The reference of one head.
class Head {
  public:
    Head(const Parameters& parameters, Inputs inputs)
        : length_(parameters.integer("N")),
          d_(parameters.integer("D")),
          mask_(mask_of(parameters)),
          scale_(parameters.real("scale")),
          in_(std::move(inputs)),
          scores_(static_cast<size_t>(length_)) {}

    void forward(int64_t i, double* o, double& lse) {
        const Range keys = score(i);
        double largest = -INFINITY;
        for (int64_t j = keys.first; j < keys.last; ++j)
            if (!(at(j) <= largest)) largest = at(j);  // a NaN wins
        double sum = 0;
        std::fill(o, o + d_, 0.0);
        for (int64_t j = keys.first; j < keys.last; ++j) {
            const double p = std::exp(at(j) - largest);
            sum += p;
            add(o, p, in_.v.row(j), d_);
        }
        for (int64_t m = 0; m < d_; ++m) o[m] /= sum;
        lse = largest * std::numbers::log2e + std::log2(sum);
    }

    void backward(int64_t i, const double* o, double lse, double& delta, Gradients& to) {
        const Range keys = score(i);
        const double* const dout = in_.dout.row(i);
        delta = dot(o, dout, d_);
        for (int64_t j = keys.first; j < keys.last; ++j) {
            const double p = std::exp2(at(j) * std::numbers::log2e - lse);
            add(to.v.row(j), p, dout, d_);
            const double ds = p * (dot(dout, in_.v.row(j), d_) - delta) * scale_;
            const bool is_near = mask_.is_near(i, j);
            add((is_near ? to.q1 : to.q2).row(i), ds, (is_near ? in_.k1 : in_.k2).row(j), d_);
            add((is_near ? to.k1 : to.k2).row(j), ds, (is_near ? in_.q1 : in_.q2).row(i), d_);
        }
    }

  private:
    double& at(int64_t j) { return scores_[static_cast<size_t>(j)]; }
    // Scores of query i, and the keys that it may see.
    Range score(int64_t i) {
        const Range keys = {0, mask_.causal ? i + 1 : length_};
        for (int64_t j = keys.first; j < keys.last; ++j)
            at(j) = scale_ * (mask_.is_near(i, j) ? dot(in_.q1.row(i), in_.k1.row(j), d_)
                                                  : dot(in_.q2.row(i), in_.k2.row(j), d_));
        return keys;
    }

    int64_t length_, d_;
    Mask mask_;
    double scale_;
    Inputs in_;
    std::vector<double> scores_;
};

Rows rows_of(const Arrays& inputs, const char* name, int64_t head, int64_t count, int64_t d) {
    Rows rows(count, d);
    const auto from = find(inputs, name)->as<float>().subspan(static_cast<size_t>(head * count * d));
    for (size_t i = 0; i < rows.values.size(); ++i) rows.values[i] = from[i];
    return rows;
}

Inputs inputs_of(const Parameters& parameters, const Arrays& inputs, int64_t head) {
    const int64_t length = parameters.integer("N"), d = parameters.integer("D");
    const auto rows = [&](const char* name) { return rows_of(inputs, name, head, length, d); };
    Inputs in;
    if (parameters.is("form", "qkv")) {
        const Rows q = rows("q"), k = rows("k");
        const int64_t window = parameters.integer("window");
        in.q1 = rotated(q, false, [](int64_t i) { return i; });
        in.q2 = rotated(q, false, [&](int64_t) { return window; });
        in.k1 = rotated(k, false, [](int64_t j) { return j; });
        in.k2 = k;
    } else {
        in.q1 = rows("q1");
        in.q2 = rows("q2");
        in.k1 = rows("k1");
        in.k2 = rows("k2");
    }
    in.v = rows("v");
    if (runs_backward(parameters)) in.dout = rows("do");
    return in;
}

void put(Array& to, int64_t head, const Rows& rows) {
    std::copy(rows.values.begin(), rows.values.end(),
              to.as<double>().begin() + head * static_cast<int64_t>(rows.values.size()));
}

// dq = R(i)^-1 dq1 + R(window)^-1 dq2; dk = R(j)^-1 dk1 + dk2.
std::pair<Rows, Rows> rotated_back(const Gradients& gradients, int64_t window) {
    Rows dq = rotated(gradients.q1, true, [](int64_t i) { return i; });
    const Rows far = rotated(gradients.q2, true, [&](int64_t) { return window; });
    Rows dk = rotated(gradients.k1, true, [](int64_t j) { return j; });
    for (size_t i = 0; i < dq.values.size(); ++i) {
        dq.values[i] += far.values[i];
        dk.values[i] += gradients.k2.values[i];
    }
    return {std::move(dq), std::move(dk)};
}

}  // namespace

Mask mask_of(const Parameters& parameters) {
    return {parameters.integer("window"), parameters.flag("causal")};
}

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    const int64_t length = parameters.integer("N"), d = parameters.integer("D");
    const int64_t batch = parameters.integer("Z"), heads = parameters.integer("H");
    const bool backward = runs_backward(parameters), qkv = parameters.is("form", "qkv");
    const Shape vectors = {batch, heads, length, d}, rows = {batch, heads, length};
    const auto made = [](const char* name, const Shape& shape) {
        return Array::uninitialised(name, Dtype::f64, shape);
    };
    Array o = made("o", vectors), lse = made("lse", rows), delta = made("delta", rows);
    Arrays gradients;
    for (const char* name : {"dq1", "dq2", "dk1", "dk2", "dv", "dq", "dk"})
        gradients.push_back(made(name, vectors));
    for (int64_t h = 0; h < batch * heads; ++h) {
        Head head(parameters, inputs_of(parameters, inputs, h));
        Gradients to = {Rows(length, d), Rows(length, d), Rows(length, d), Rows(length, d), Rows(length, d)};
        for (int64_t i = 0; i < length; ++i) {
            if (stop.stop_requested()) return Error::cancelled();
            const auto at = static_cast<size_t>(h * length + i);
            double* const out = o.as<double>().data() + static_cast<int64_t>(at) * d;
            head.forward(i, out, lse.as<double>()[at]);
            if (backward) head.backward(i, out, lse.as<double>()[at], delta.as<double>()[at], to);
        }
        if (!backward) continue;
        const Rows* const direct[] = {&to.q1, &to.q2, &to.k1, &to.k2, &to.v};
        for (size_t g = 0; g < std::size(direct); ++g) put(gradients[g], h, *direct[g]);
        if (!qkv) continue;
        const auto [dq, dk] = rotated_back(to, parameters.integer("window"));
        put(gradients[5], h, dq);
        put(gradients[6], h, dk);
    }
    Arrays outputs = {std::move(o), std::move(lse)};
    if (!backward) return outputs;
    outputs.push_back(std::move(delta));
    if (!qkv) gradients.resize(5);
    for (Array& gradient : gradients) outputs.push_back(std::move(gradient));
    return outputs;
}

}  // namespace sawtooth::attention
