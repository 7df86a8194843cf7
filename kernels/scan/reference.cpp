// The definitions in float64, one position after another.

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/core/common_parameters.h"
#include "kernels/core/noisy.h"
#include "kernels/core/some_rows.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

// The sizes of arrays [batch, length, channels], and where a step of the scan lies in them. A complex channel
// of complex_sum counts as two.
struct Geometry {
    int64_t batch, length, channels;
    bool flipped;

    size_t at(int64_t b, int64_t step, int64_t d) const {
        const int64_t position = flipped ? length - 1 - step : step;
        return static_cast<size_t>((b * length + position) * channels + d);
    }
    size_t column(int64_t b, int64_t d) const { return static_cast<size_t>(b * channels + d); }
};

// A NaN on either side wins.
template <class Real>
Real larger(Real left, Real right) {
    using std::isnan;
    return isnan(left) || left > right ? left : right;
}
template <class Real>
Real smaller(Real left, Real right) {
    using std::isnan;
    return isnan(left) || left < right ? left : right;
}

// A sum in f32 and the sum of its rounding errors, also in f32: the pair that `compensated` joins by two-sum.
template <class Real>
struct Compensated {
    float sum = 0;
    Real lost = 0;

    Compensated operator+(float x) const {
        const double total = double{sum} + x;
        const auto rounded = static_cast<float>(total);
        if (!std::isfinite(rounded)) return {rounded, 0};
        // What rounding to a float loses, and what the double sum loses: the terms may be 2^60 apart.
        const double of_x = total - sum, of_double = (sum - (total - of_x)) + (x - of_x);
        return {rounded, narrow_sum(lost, (total - rounded) + of_double)};
    }
    friend double value_of(const Compensated& pair) { return pair.sum + value_of(pair.lost); }
};

// exp(left - right); equal infinities differ by 0.
template <class Real>
Real ratio(Real left, Real right) {
    using std::exp;
    return left == right ? Real(1) : exp(left - right);
}

// A sum of exponentials, as its logarithm's two parts: the largest exponent, and the sum relative to it.
template <class Real>
struct Exponentials {
    Real largest = -INFINITY, sum = 0;

    Exponentials with(Real x) const {
        const Real most = larger(largest, x);
        return {most, sum * ratio(largest, most) + ratio(x, most)};
    }
    friend double value_of(const Exponentials& state) {
        using std::log;
        return value_of(state.largest + log(state.sum));
    }
};

// What the recurrences are computed with: a real number, or this.
template <class Real>
struct Complex {
    Real re = 0, im = 0;

    friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    friend Complex operator*(Complex a, Complex b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    friend Complex conjugate(Complex a) { return {a.re, -a.im}; }
    friend Complex narrow(Complex a) { return {narrow(a.re), narrow(a.im)}; }
};
inline double conjugate(double real) { return real; }
inline Noisy conjugate(Noisy real) { return real; }

// Element i of an array of real or complex numbers.
template <class Real, class Part>
void get(const Part* array, size_t i, Real& number) {
    number = array[i];
}
template <class Real, class Part>
void get(const Part* array, size_t i, Complex<Real>& number) {
    number = {array[2 * i], array[2 * i + 1]};
}
template <class Real>
void put(double* array, size_t i, const Real& number) {
    array[i] = value_of(number);
}
template <class Real>
void put(double* array, size_t i, const Complex<Real>& number) {
    array[2 * i] = value_of(number.re);
    array[2 * i + 1] = value_of(number.im);
}

template <class Real>
class Reference {
  public:
    Reference(const Parameters& parameters, const Arrays& inputs, bool compensated, std::stop_token stop)
        : parameters_(parameters),
          stop_(std::move(stop)),
          op_(parameters.text("op")),
          is_complex_(op_.starts_with("complex")),
          compensated_(compensated),
          shape_{parameters.integer("batch"), parameters.integer("length"), parameters.integer("channels")},
          geometry_{shape_[0], shape_[1], shape_[2] * (op_ == "complex_sum" ? 2 : 1),
                    parameters.is("direction", "reverse")},
          x_(numbers(inputs, "x")),
          a_(op_.ends_with("linear") ? numbers(inputs, "a") : nullptr),
          initial_(a_ ? numbers(inputs, "initial") : nullptr),
          dy_(runs_backward(parameters) ? numbers(inputs, "dy") : nullptr),
          dy_reverse_(runs_backward(parameters) ? numbers(inputs, "dy_reverse") : nullptr) {}

    Outcome<Arrays> compute() {
        const bool both = parameters_.is("direction", "both");
        Arrays outputs = {forward("y", geometry_)};
        if (stop_.stop_requested()) return Error::cancelled();
        Geometry reverse = geometry_;
        reverse.flipped = true;
        if (both) outputs.push_back(forward("y_reverse", reverse));
        if (stop_.stop_requested()) return Error::cancelled();
        if (!dy_) return outputs;
        Arrays gradients = gradients_of(outputs[0], geometry_, dy_);
        if (stop_.stop_requested()) return Error::cancelled();
        if (both) add(gradients, gradients_of(outputs[1], reverse, dy_reverse_));
        if (stop_.stop_requested()) return Error::cancelled();
        outputs.insert(outputs.end(), gradients.begin(), gradients.end());
        return outputs;
    }

  private:
    static const float* numbers(const Arrays& inputs, std::string_view name) {
        const Array* const array = find(inputs, name);
        return array ? array->as<float>().data() : nullptr;
    }
    Array output(const char* name, Shape shape) const {
        return Array::zeros(name, is_complex_ ? Dtype::complex128 : Dtype::f64, std::move(shape));
    }

    // Calls act(i, s, b, d) for every step s, in order or from the last one back, and every channel d; i is
    // the index. It ends early if it is stopped.
    enum class From { first_step, last_step };
    template <class Act>
    void each_step(const Geometry& geometry, From from, Act&& act) const {
        constexpr int64_t steps_unasked = 1 << 12;
        for (int64_t b = 0; b < geometry.batch; ++b)
            for (int64_t n = 0; n < geometry.length; ++n) {
                if (n % steps_unasked == 0 && stop_.stop_requested()) return;
                const int64_t s = from == From::first_step ? n : geometry.length - 1 - n;
                for (int64_t d = 0; d < geometry.channels; ++d) act(geometry.at(b, s, d), s, b, d);
            }
    }

    // y_s = join(y_(s-1), s); join receives the index of step s in the arrays.
    template <class State, class Start, class Join>
    Array scan(const char* name, const Geometry& geometry, Start start, Join join) const {
        Array y = output(name, shape_);
        const auto out = y.as<double>().data();
        std::vector<State> states(static_cast<size_t>(geometry.channels));
        each_step(geometry, From::first_step, [&](size_t i, int64_t s, int64_t b, int64_t d) {
            State& state = states[static_cast<size_t>(d)];
            if (s == 0) state = start(b, d);
            state = join(state, i);
            put(out, i, state);
        });
        return y;
    }
    template <class State, class Join>
    Array scan_from(State start, const char* name, const Geometry& geometry, Join join) const {
        return scan<State>(
            name, geometry, [&](int64_t, int64_t) { return start; }, join);
    }

    Array sums(const char* name, const Geometry& geometry, const float* x) const {
        const auto add = [&](const auto& before, size_t i) { return before + x[i]; };
        return compensated_ ? scan_from(Compensated<Real>(), name, geometry, add)
                            : scan_from(Real(0), name, geometry, add);
    }

    template <class Number>
    static Number at(const float* array, size_t i) {
        Number number = {};
        if (array) get(array, i, number);
        return number;
    }

    // y_s = a_s y_(s-1) + x_s
    template <class Number>
    Array recurrence(const char* name, const Geometry& geometry) const {
        return scan<Number>(
            name, geometry, [&](int64_t b, int64_t d) { return at<Number>(initial_, geometry.column(b, d)); },
            [&](Number before, size_t i) { return at<Number>(a_, i) * before + at<Number>(x_, i); });
    }

    Array forward(const char* name, const Geometry& geometry) const {
        const auto from = [&](auto start, auto join) { return scan_from(start, name, geometry, join); };
        if (op_ == "product") return from(Real(1), [&](Real before, size_t i) { return before * x_[i]; });
        if (op_ == "max")
            return from(Real(-INFINITY), [&](Real before, size_t i) { return larger(before, Real(x_[i])); });
        if (op_ == "min")
            return from(Real(INFINITY), [&](Real before, size_t i) { return smaller(before, Real(x_[i])); });
        if (op_ == "logcumsumexp")
            return from(Exponentials<Real>(),
                        [&](const auto& before, size_t i) { return before.with(x_[i]); });
        if (op_ == "linear") return recurrence<Real>(name, geometry);
        if (op_ == "complex_linear") return recurrence<Complex<Real>>(name, geometry);
        return sums(name, geometry, x_);
    }

    Arrays gradients_of(const Array& y, const Geometry& geometry, const float* dy) const {
        if (op_ == "linear") return gradients_of_recurrence<Real>(y, geometry, dy);
        if (op_ == "complex_linear") return gradients_of_recurrence<Complex<Real>>(y, geometry, dy);
        if (op_ == "product") return {gradient_of_product(y, geometry, dy)};
        if (op_ == "max" || op_ == "min") return {gradient_of_extremes(y, geometry, dy)};
        if (op_ == "logcumsumexp") return {gradient_of_exponentials(y, geometry, dy)};
        Geometry backwards = geometry;
        backwards.flipped = !geometry.flipped;
        return {sums("dx", backwards, dy)};
    }

    // g_s = dy_s + a_(s+1) g_(s+1); dx = g; da_s = g_s y_(s-1); dinitial = a_0 g_0, in steps of the scan. The
    // gradient of a complex number has the derivatives by its parts as parts, which makes a and y conjugate.
    template <class Number>
    Arrays gradients_of_recurrence(const Array& y, const Geometry& geometry, const float* dy) const {
        Arrays all = {output("dx", shape_), output("da", shape_), output("dinitial", {shape_[0], shape_[2]})};
        double *const dx = all[0].as<double>().data(), *const da = all[1].as<double>().data(),
                      *const dinitial = all[2].as<double>().data();
        const double* const values = y.as<double>().data();
        each_step(geometry, From::last_step, [&](size_t i, int64_t s, int64_t b, int64_t d) {
            Number g = at<Number>(dy, i), next = {}, before = at<Number>(initial_, geometry.column(b, d));
            if (s + 1 < geometry.length) {
                const size_t following = geometry.at(b, s + 1, d);
                get(dx, following, next);
                g = g + conjugate(at<Number>(a_, following)) * next;
            }
            if (s > 0) {
                get(values, geometry.at(b, s - 1, d), before);
                before = narrow(before);  // y as it is stored
            }
            put(dx, i, g);
            put(da, i, g * conjugate(before));
            if (s == 0) put(dinitial, geometry.column(b, d), conjugate(at<Number>(a_, i)) * g);
        });
        if (!initial_) all.pop_back();
        return all;
    }

    // dx_s = y_(s-1) g_s, where g_s = dy_s + x_(s+1) g_(s+1) is the derivative of y by x_s, without y_(s-1).
    Array gradient_of_product(const Array& y, const Geometry& geometry, const float* dy) const {
        Array dx = output("dx", shape_);
        const auto out = dx.as<double>();
        const auto values = y.as<double>();
        std::vector<Real> g(static_cast<size_t>(geometry.channels));
        each_step(geometry, From::last_step, [&](size_t i, int64_t s, int64_t b, int64_t d) {
            Real& here = g[static_cast<size_t>(d)];
            here = s + 1 < geometry.length ? dy[i] + x_[geometry.at(b, s + 1, d)] * here : Real(dy[i]);
            const Real before = s > 0 ? narrow(Real(values[geometry.at(b, s - 1, d)])) : Real(1);
            out[i] = value_of(here * before);
        });
        return dx;
    }

    // dy_s goes to the first position that holds y_s.
    Array gradient_of_extremes(const Array& y, const Geometry& geometry, const float* dy) const {
        Array dx = output("dx", shape_);
        std::vector<Real> sums(static_cast<size_t>(dx.count()));
        const auto values = y.as<double>();
        std::vector<size_t> firsts(static_cast<size_t>(geometry.channels));
        each_step(geometry, From::first_step, [&](size_t i, int64_t s, int64_t, int64_t d) {
            size_t& first = firsts[static_cast<size_t>(d)];
            const bool both_nan = std::isnan(values[i]) && std::isnan(values[first]);
            if (s == 0 || (values[i] != values[first] && !both_nan)) first = i;
            sums[first] += dy[i];
        });
        std::ranges::transform(sums, dx.as<double>().begin(), [](Real sum) { return value_of(sum); });
        return dx;
    }

    // dx_s is the sum of dy_t exp(x_s - y_t) for t >= s: exp(x_s - y_s) g_s, where
    // g_s = dy_s + exp(y_s - y_(s+1)) g_(s+1). Kernels may compute the factor of g_(s+1) as
    // 1 - exp(x_(s+1) - y_(s+1)), so that the rounding of the stored y_s does not cancel.
    Array gradient_of_exponentials(const Array& y, const Geometry& geometry, const float* dy) const {
        Array dx = output("dx", shape_);
        const auto channels = static_cast<size_t>(geometry.channels);
        const auto out = dx.as<double>();
        const auto values = y.as<double>();
        std::vector<Real> g(channels), next(channels);
        each_step(geometry, From::last_step, [&](size_t i, int64_t s, int64_t, int64_t d) {
            const auto c = static_cast<size_t>(d);
            const Real here = narrow(Real(values[i]));  // y as it is stored
            g[c] = s + 1 < geometry.length ? dy[i] + ratio(here, next[c]) * g[c] : Real(dy[i]);
            next[c] = here;
            out[i] = value_of(ratio(Real(x_[i]), narrow(Real(values[i]))) * g[c]);
        });
        return dx;
    }

    // Adds the gradients of the other direction. Kernels have stored both in f32, which compensated sums
    // show.
    void add(Arrays& gradients, const Arrays& others) const {
        const auto stored = [&](double number) { return compensated_ ? narrow(Real(number)) : Real(number); };
        for (size_t k = 0; k < gradients.size(); ++k) {
            const auto sum = gradients[k].as<double>();
            std::ranges::transform(sum, others[k].as<double>(), sum.begin(), [&](double one, double other) {
                return value_of(stored(one) + stored(other));
            });
        }
    }

    const Parameters& parameters_;
    std::stop_token stop_;
    std::string op_;
    bool is_complex_, compensated_;
    Shape shape_;
    Geometry geometry_;
    const float *x_, *a_, *initial_, *dy_, *dy_reverse_;
};

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Reference<double>(parameters, inputs, false, std::move(stop)).compute();
}

Outcome<Arrays> definition(const DefinitionRequest& request) {
    const bool compensated = request.parameters.flag("compensated");
    if (!request.noisy)
        return Reference<double>(request.parameters, request.inputs, compensated, request.stop).compute();
    const int64_t numbers = request.parameters.integer("length") * request.parameters.integer("channels");
    return compute_some_rows(
        request.inputs, {}, {request.parameters.integer("batch")}, numbers,
        [&](const Arrays& inputs, int64_t sequences) {
            Parameters parameters = request.parameters;
            parameters.set("batch", sequences);
            return Reference<Noisy>(parameters, inputs, compensated, request.stop).compute();
        });
}

}  // namespace sawtooth::scan
