// The definitions in float64, one position after another.

#include <cmath>
#include <vector>

#include "kernels/core/common_parameters.h"
#include "kernels/core/noisy.h"
#include "kernels/core/some_rows.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

// The sizes of arrays [batch, length, channels], and where a step of the scan lies in them. A complex channel
// counts as two.
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

template <class Real>
class Reference {
  public:
    Reference(const Parameters& parameters, const Arrays& inputs, bool compensated)
        : parameters_(parameters),
          is_complex_(parameters.is("op", "complex_sum")),
          compensated_(compensated),
          shape_{parameters.integer("batch"), parameters.integer("length"), parameters.integer("channels")},
          geometry_{shape_[0], shape_[1], shape_[2] * (is_complex_ ? 2 : 1),
                    parameters.is("direction", "reverse")},
          x_(numbers(inputs, "x")),
          a_(parameters.is("op", "linear") ? numbers(inputs, "a") : nullptr),
          initial_(a_ ? numbers(inputs, "initial") : nullptr),
          dy_(runs_backward(parameters) ? numbers(inputs, "dy") : nullptr) {}

    Outcome<Arrays> compute(const std::stop_token& stop) {
        Arrays outputs = {forward("y")};
        if (stop.stop_requested()) return Error::cancelled();
        if (dy_) add_gradients(outputs);
        if (!parameters_.is("direction", "both")) return outputs;
        geometry_.flipped = true;
        outputs.push_back(forward("y_reverse"));
        if (stop.stop_requested()) return Error::cancelled();
        return outputs;
    }

  private:
    static const float* numbers(const Arrays& inputs, std::string_view name) {
        const Array* const array = find(inputs, name);
        return array ? array->as<float>().data() : nullptr;
    }
    double initial(int64_t b, int64_t d) const { return initial_ ? initial_[geometry_.column(b, d)] : 0; }

    // y_s = join(y_(s-1), s); join receives the index of step s in the arrays.
    template <class State, class Start, class Join>
    Array scan(const char* name, const Geometry& geometry, Start start, Join join) const {
        Array y = Array::uninitialised(name, is_complex_ ? Dtype::complex128 : Dtype::f64, shape_);
        const auto out = y.as<double>();
        std::vector<State> states(static_cast<size_t>(geometry.channels));
        for (int64_t b = 0; b < geometry.batch; ++b) {
            for (int64_t d = 0; d < geometry.channels; ++d) states[static_cast<size_t>(d)] = start(b, d);
            for (int64_t s = 0; s < geometry.length; ++s)
                for (int64_t d = 0; d < geometry.channels; ++d) {
                    const size_t i = geometry.at(b, s, d);
                    State& state = states[static_cast<size_t>(d)];
                    state = join(state, i);
                    out[i] = value_of(state);
                }
        }
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

    Array forward(const char* name) const {
        const std::string& op = parameters_.text("op");
        const auto from = [&](double start, auto join) {
            return scan_from(Real(start), name, geometry_, join);
        };
        if (op == "product") return from(1, [&](Real before, size_t i) { return before * x_[i]; });
        if (op == "max")
            return from(-INFINITY, [&](Real before, size_t i) { return larger(before, Real(x_[i])); });
        if (op == "min")
            return from(INFINITY, [&](Real before, size_t i) { return smaller(before, Real(x_[i])); });
        if (op == "linear")
            return scan<Real>(
                name, geometry_, [&](int64_t b, int64_t d) { return initial(b, d); },
                [&](Real before, size_t i) { return a_[i] * before + x_[i]; });
        return sums(name, geometry_, x_);
    }

    // g_s = dy_s + a_(s+1) g_(s+1); dx = g; da_s = g_s y_(s-1); dinitial = a_0 g_0, in steps of the scan.
    void add_gradients(Arrays& outputs) const {
        if (!a_) {
            Geometry backwards = geometry_;
            backwards.flipped = !geometry_.flipped;
            outputs.push_back(sums("dx", backwards, dy_));
            return;
        }
        Array dx = Array::uninitialised("dx", Dtype::f64, shape_);
        Array da = Array::uninitialised("da", Dtype::f64, shape_);
        Array dinitial = Array::uninitialised("dinitial", Dtype::f64, {geometry_.batch, geometry_.channels});
        const auto g = dx.as<double>();
        const auto y = find(outputs, "y")->as<double>();
        for (int64_t b = 0; b < geometry_.batch; ++b)
            for (int64_t s = geometry_.length - 1; s >= 0; --s)
                for (int64_t d = 0; d < geometry_.channels; ++d) {
                    const size_t i = geometry_.at(b, s, d), next = geometry_.at(b, s + 1, d);
                    g[i] = s + 1 < geometry_.length ? value_of(dy_[i] + a_[next] * Real(g[next])) : dy_[i];
                    const Real before =  // y as it is stored
                        s > 0 ? narrow(Real(y[geometry_.at(b, s - 1, d)])) : Real(initial(b, d));
                    da.as<double>()[i] = value_of(g[i] * before);
                    if (s == 0) dinitial.as<double>()[geometry_.column(b, d)] = value_of(a_[i] * Real(g[i]));
                }
        outputs.push_back(dx);
        outputs.push_back(da);
        if (initial_) outputs.push_back(dinitial);
    }

    const Parameters& parameters_;
    bool is_complex_, compensated_;
    Shape shape_;
    Geometry geometry_;
    const float *x_, *a_, *initial_, *dy_;
};

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Reference<double>(parameters, inputs, false).compute(stop);
}

Outcome<Arrays> definition(const DefinitionRequest& request) {
    const bool compensated = request.parameters.flag("compensated");
    if (!request.noisy)
        return Reference<double>(request.parameters, request.inputs, compensated).compute(request.stop);
    const int64_t numbers = request.parameters.integer("length") * request.parameters.integer("channels");
    return compute_some_rows(
        request.inputs, {request.parameters.integer("batch")}, numbers,
        [&](const Arrays& inputs, int64_t sequences) {
            Parameters parameters = request.parameters;
            parameters.set("batch", sequences);
            return Reference<Noisy>(parameters, inputs, compensated).compute(request.stop);
        });
}

}  // namespace sawtooth::scan
