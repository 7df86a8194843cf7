// The definitions in double precision, one position after another.

#include <cmath>
#include <complex>

#include "kernels/core/common_parameters.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

using Complex = std::complex<double>;

// Sizes of [batch, length, channels], and the position of step s of the scan.
struct Geometry {
    int64_t batch, length, channels;
    bool flipped;

    size_t at(int64_t b, int64_t step, int64_t d) const {
        const int64_t position = flipped ? length - 1 - step : step;
        return static_cast<size_t>((b * length + position) * channels + d);
    }
    size_t column(int64_t b, int64_t d) const { return static_cast<size_t>(b * channels + d); }
    Shape shape() const { return {batch, length, channels}; }
};

// y_s = join(y_(s-1), s); join receives the index of step s in the arrays.
template <class T, class Start, class Join>
Array scan(const Geometry& geometry, const std::string& name, Dtype dtype, Start start, Join join) {
    Array y = Array::uninitialised(name, dtype, geometry.shape());
    const auto out = y.as<T>();
    for (int64_t b = 0; b < geometry.batch; ++b)
        for (int64_t s = 0; s < geometry.length; ++s)
            for (int64_t d = 0; d < geometry.channels; ++d) {
                const size_t i = geometry.at(b, s, d);
                const T before = s > 0 ? out[geometry.at(b, s - 1, d)] : start(b, d);
                out[i] = join(before, i);
            }
    return y;
}

// A NaN on either side wins.
double larger(double left, double right) { return std::isnan(left) || left > right ? left : right; }
double smaller(double left, double right) { return std::isnan(left) || left < right ? left : right; }

Array forward(const Parameters& parameters, const Arrays& inputs, const Geometry& geometry,
              const std::string& name) {
    const std::string& op = parameters.text("op");
    if (op == "complex_sum") {
        const auto x = find(inputs, "x")->as<std::complex<float>>();
        return scan<Complex>(
            geometry, name, Dtype::complex128, [](int64_t, int64_t) { return Complex(0); },
            [&](Complex before, size_t i) { return before + Complex(x[i]); });
    }
    const auto x = find(inputs, "x")->as<float>();
    const auto reals = [&](auto start, auto join) {
        return scan<double>(geometry, name, Dtype::f64, start, join);
    };
    const auto from = [](double value) { return [value](int64_t, int64_t) { return value; }; };
    if (op == "product") return reals(from(1), [&](double before, size_t i) { return before * x[i]; });
    if (op == "max")
        return reals(from(-INFINITY), [&](double before, size_t i) { return larger(before, x[i]); });
    if (op == "min")
        return reals(from(INFINITY), [&](double before, size_t i) { return smaller(before, x[i]); });
    if (op == "linear") {
        const auto a = find(inputs, "a")->as<float>();
        const Array* const initial = find(inputs, "initial");
        return reals(
            [&](int64_t b, int64_t d) {
                return initial ? double{initial->as<float>()[geometry.column(b, d)]} : 0.0;
            },
            [&](double before, size_t i) { return double{a[i]} * before + x[i]; });
    }
    return reals(from(0), [&](double before, size_t i) { return before + x[i]; });
}

// g_s = dy_s + a_(s+1) g_(s+1); dx = g; da_s = g_s y_(s-1); dinitial = a_0 g_0, in steps of the scan.
void add_gradients(const Parameters& parameters, const Arrays& inputs, const Geometry& geometry,
                   Arrays& outputs) {
    const auto y = find(outputs, "y")->as<double>();
    const auto dy = find(inputs, "dy")->as<float>();
    const Array* const a = parameters.is("op", "linear") ? find(inputs, "a") : nullptr;
    const Array* const initial = a ? find(inputs, "initial") : nullptr;
    const auto gate = [&](size_t i) { return a ? double{a->as<float>()[i]} : 1.0; };

    Array dx = Array::uninitialised("dx", Dtype::f64, geometry.shape());
    const auto g = dx.as<double>();
    for (int64_t b = 0; b < geometry.batch; ++b)
        for (int64_t s = geometry.length - 1; s >= 0; --s)
            for (int64_t d = 0; d < geometry.channels; ++d) {
                const size_t i = geometry.at(b, s, d);
                g[i] = dy[i];
                if (s + 1 == geometry.length) continue;
                const size_t next = geometry.at(b, s + 1, d);
                g[i] += gate(next) * g[next];
            }
    outputs.push_back(dx);
    if (!a) return;

    Array da = Array::uninitialised("da", Dtype::f64, geometry.shape());
    Array dinitial = Array::uninitialised("dinitial", Dtype::f64, {geometry.batch, geometry.channels});
    for (int64_t b = 0; b < geometry.batch; ++b)
        for (int64_t d = 0; d < geometry.channels; ++d) {
            const size_t column = geometry.column(b, d);
            for (int64_t s = 0; s < geometry.length; ++s) {
                const double start = initial ? double{initial->as<float>()[column]} : 0.0;
                const double before = s > 0 ? y[geometry.at(b, s - 1, d)] : start;
                da.as<double>()[geometry.at(b, s, d)] = g[geometry.at(b, s, d)] * before;
            }
            const size_t first = geometry.at(b, 0, d);
            dinitial.as<double>()[column] = gate(first) * g[first];
        }
    outputs.push_back(da);
    if (initial) outputs.push_back(dinitial);
}

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    const bool both = parameters.is("direction", "both");
    Geometry geometry{parameters.integer("batch"), parameters.integer("length"),
                      parameters.integer("channels"), parameters.is("direction", "reverse")};
    Arrays outputs = {forward(parameters, inputs, geometry, "y")};
    if (stop.stop_requested()) return Error::cancelled();
    if (runs_backward(parameters)) add_gradients(parameters, inputs, geometry, outputs);
    if (!both) return outputs;
    geometry.flipped = true;
    outputs.push_back(forward(parameters, inputs, geometry, "y_reverse"));
    if (stop.stop_requested()) return Error::cancelled();
    return outputs;
}

}  // namespace sawtooth::scan
