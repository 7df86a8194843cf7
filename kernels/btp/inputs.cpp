// Generated inputs, the minimum of work, and the cases of `bench`.

#include <fmt/format.h>

#include <cmath>

#include "kernels/btp/family.h"
#include "kernels/btp/parts.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/fill.h"
#include "kernels/core/storage.h"

namespace sawtooth::btp {
namespace {

BenchCase bench_case(bool backward, int64_t batch, int64_t heads, int64_t block, Value order,
                     const std::string& dtype, std::vector<std::string> variants) {
    BenchCase bench;
    bench.name = fmt::format("{}, order {} {} {}", backward ? "with backward" : "forward", to_text(order),
                             dtype, to_text(Shape{batch, heads, 16, 8192}));
    if (block > 16) bench.name += fmt::format(" BL {}", block);
    bench.values = {{"B", batch},     {"H", heads},     {"L", int64_t{8192}},  {"BL", block},
                    {"order", order}, {"dtype", dtype}, {"backward", backward}};
    bench.variants = std::move(variants);
    return bench;
}

}  // namespace

// Spreads gates evenly on a logarithmic scale from the square of the parameter `gate` to 1.
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    Array array = Array::uninitialised(spec.name, Dtype::f32, spec.shape_for(parameters, so_far));
    const double gate = parameters.real("gate");
    if (spec.name == "a")
        fill(array.as<float>(), stop, [&] { return std::pow(gate, 2 * random.uniform()); });
    else
        fill(array.as<float>(), stop, [&] { return random.normal(); });
    return array;
}

// Counts every array read or written once, and a multiplication and an addition per number in each pass of
// the recurrence.
Work work(const Parameters& parameters, const Arrays& inputs) {
    const Sizes s(parameters);
    const auto element = static_cast<double>(bytes_of(storage_named(parameters.text("dtype"))));
    const auto numbers = static_cast<double>(s.rows() * s.length);
    const auto x_element = static_cast<double>(bytes_of(storage_named(parameters.text("out_dtype"))));
    const auto gates = static_cast<double>(s.gate_rows * s.length);
    const double carries = 4 * static_cast<double>(s.rows() * s.blocks());
    Work work;
    work.bytes =
        (gates + numbers) * element + numbers * x_element + carries + bytes_of_given(inputs, {"carry0"});
    work.operations = 4 * numbers;
    if (!runs_backward(parameters)) return work;
    work.bytes += (gates + 3 * numbers) * element + carries + 4 * gates +
                  bytes_of_given(inputs, {"carry0"});  // its gradient
    work.operations += 12 * numbers;
    return work;
}

std::vector<BenchCase> bench_cases(Backend backend) {
    std::vector<BenchCase> cases;
    for (const bool backward : {false, true}) {
        const std::vector<std::string> both = {"two_pass", "fused"};
        if (backend == Backend::cpu) {
            cases.push_back(
                bench_case(backward, 1, 16, 64, 2, "f32", backward ? both : std::vector<std::string>{}));
            continue;
        }
        for (const Value& order : btp_family().parameter("order")->choices)
            cases.push_back(bench_case(backward, 8, 128, 16, order, "bf16", both));
        cases.push_back(bench_case(backward, 8, 128, 64, 2, "bf16", both));
        cases.push_back(bench_case(backward, 8, 128, 16, 2, "f32", both));
    }
    return cases;
}

}  // namespace sawtooth::btp
