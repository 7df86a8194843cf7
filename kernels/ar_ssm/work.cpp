// The least work that a request needs, and the cases of `bench`.

#include <fmt/format.h>

#include "kernels/ar_ssm/parts.h"

namespace sawtooth::ar_ssm {
namespace {

BenchCase bench_case(int64_t batch, int64_t length, const std::string& dtype, bool backward,
                     bool bidirectional = false, const std::string& gates = "soft") {
    BenchCase bench;
    bench.name = fmt::format("{}, {}{}{} {} r 32", backward ? "with backward" : "forward",
                             gates == "soft" ? "" : gates + " gates ", bidirectional ? "bidirectional " : "",
                             dtype, to_text(Shape{batch, length, 512}));
    bench.values = {
        {"batch", batch}, {"length", length},   {"d_model", int64_t{512}},        {"max_rank", int64_t{32}},
        {"dtype", dtype}, {"gate_mode", gates}, {"bidirectional", bidirectional}, {"backward", backward}};
    if (dtype != "f32") bench.limit = BenchCase::Limit::products;
    bench.by_launch = true;
    return bench;
}

}  // namespace

// Every array is read or written once. Each product of the forward pass has two in the backward pass.
Work work(const Parameters& parameters, const Arrays&) {
    const Sizes s(parameters);
    const auto tokens = static_cast<double>(s.tokens()), width = static_cast<double>(s.width),
               rank = static_cast<double>(s.rank), hidden = static_cast<double>(s.hidden);
    const auto element = static_cast<double>(bytes_of(s.storage));
    const double weights = width * (3 + hidden + 3 * rank + 1) + hidden + rank * (hidden + 1);
    const double products = 2 * tokens * (width * (hidden + 3 * rank) + hidden * rank);
    Work work;
    work.bytes = element * (2 * tokens * width + weights) + 4 * tokens * (rank + 1);
    // Per channel these are the convolution and two additions, per rank u, v, w, the scans and the effective
    // rank.
    work.operations = products + tokens * (7 * width + (s.bidirectional ? 7 : 5) * rank);
    if (s.gumbel) {
        work.bytes += 4 * tokens * rank;       // the noise
        work.operations += 2 * tokens * rank;  // plus noise, over the temperature
    }
    if (s.intermediates) {
        work.bytes += element * tokens * (2 * width + 2 * rank) + 4 * tokens * rank;      // t, uv, u, v and c
        if (s.bidirectional) work.bytes += element * tokens * width + 4 * tokens * rank;  // uv_rev and c_rev
    }
    if (!s.backward) return work;
    work.bytes += (element + 4) * tokens * width + 4 * weights;
    // Per channel these are the gradients of x, taps and bias, per rank those of the factors of w, u and v
    // and of the sigmoid, and the scans.
    work.operations += 2 * products + tokens * (12 * width + (s.bidirectional ? 13 : 11) * rank);
    return work;
}

std::vector<BenchCase> bench_cases(Backend backend) {
    if (backend == Backend::cuda)
        return {bench_case(4, 8192, "bf16", false), bench_case(4, 8192, "f32", false),
                bench_case(4, 8192, "bf16", true), bench_case(4, 8192, "bf16", false, true),
                bench_case(4, 8192, "bf16", false, false, "hard")};
    std::vector<BenchCase> cases = {bench_case(1, 2048, "f32", false), bench_case(1, 2048, "f32", true)};
    for (BenchCase& bench : cases) bench.limit = BenchCase::Limit::products;
    return cases;
}

}  // namespace sawtooth::ar_ssm
