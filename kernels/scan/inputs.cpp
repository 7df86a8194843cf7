// Generated inputs, and the cases of `bench`.

#include <cmath>
#include <numbers>

#include "kernels/core/fill.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

// 1e4, 1e-4, -1e4, 1e-4, …: sums whose large terms cancel.
constexpr float badly_conditioned[4] = {1e4f, 1e-4f, -1e4f, 1e-4f};

// Makes complex numbers of the magnitudes in their real parts, with any angle.
void turn(std::span<float> parts, Random& random) {
    for (size_t i = 0; i < parts.size(); i += 2) {
        const double magnitude = parts[i], angle = random.uniform(-std::numbers::pi, std::numbers::pi);
        parts[i] = static_cast<float>(magnitude * std::cos(angle));
        parts[i + 1] = static_cast<float>(magnitude * std::sin(angle));
    }
}

}  // namespace

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    Array array =
        Array::uninitialised(spec.name, spec.dtype_with(parameters), spec.shape_for(parameters, so_far));
    const auto values = array.as<float>();  // real and imaginary parts alternate if complex
    if (spec.name == "a") {
        fill(values, stop, [&] { return random.uniform(0.5, 1); });
        if (array.dtype == Dtype::complex64) turn(values, random);
        return array;
    }
    const std::string& distribution = parameters.text("distribution");
    if (distribution == "normal" || spec.role != Role::input) {
        fill(values, stop, [&] { return random.normal(); });
    } else if (distribution == "uniform") {
        fill(values, stop, [&] { return random.uniform(-1, 1); });
    } else {
        const int64_t length = parameters.integer("length");
        const int64_t width = static_cast<int64_t>(values.size()) / length / parameters.integer("batch");
        for (size_t i = 0; i < values.size(); ++i) {
            const int64_t position = static_cast<int64_t>(i) / width % length;
            values[i] = distribution == "impulse" ? (position == length / 4 ? 1.0f : 0.0f)
                                                  : badly_conditioned[position % 4];
        }
    }
    return array;
}

std::vector<BenchCase> bench_cases(Backend backend) {
    std::vector<BenchCase> cases;
    const auto add = [&](int64_t batch, int64_t length, int64_t channels,
                         const std::vector<std::string>& variants = {}) {
        for (const char* op : {"sum", "linear"}) {
            BenchCase row;
            row.name = std::string(op) + " " + to_text(Shape{batch, length, channels});
            row.values = {
                {"batch", batch}, {"length", length}, {"channels", channels}, {"op", std::string(op)}};
            row.limit = op == std::string("sum") ? BenchCase::Limit::copy : BenchCase::Limit::triad;
            row.variants = variants;
            cases.push_back(std::move(row));
        }
    };
    for (int64_t length : {512, 1024, 2048, 4096, 8192}) add(4, length, 512);
    add(1, 2048, 512);
    add(16, 2048, 512);
    add(4, 2048, 128);
    add(4, 2048, 1024);
    add(64, 65536, 1);  // many long rows
    if (backend == Backend::cpu) {
        add(1, 1 << 24, 1);  // one long row
        return cases;
    }
    // Too slow or too large for the other variants: they use one thread per row, or one state per position.
    add(2048, 8192, 1, {"lookback"});
    add(65536, 8192, 1, {"lookback"});
    add(1, 1 << 28, 1, {"lookback"});
    return cases;
}

}  // namespace sawtooth::scan
