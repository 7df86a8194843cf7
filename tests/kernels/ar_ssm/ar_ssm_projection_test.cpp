// The projection with the products of groups of warps, which fused takes on Hopper.

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/kernels/ar_ssm/run_ar_ssm.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace ar_ssm_facts;

Settings grouped(int64_t length, int64_t width, int64_t rank, int64_t hidden, const Settings& more = {}) {
    return with(sized(length, width, rank, hidden, {{"backward", false}, {"dtype", "bf16"}}), more);
}

TEST_CASE("fused projects in groups on Hopper if its sums fit and no gradient needs hidden units",
          "[ar_ssm][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const auto in_groups = [&](cuda::Device& on, const Settings& settings) {
        const Parameters parameters = settled(ar_ssm_family(), settings, {}, Backend::cuda);
        const Plan plan = plan_in_theory(on, "fused", parameters, true);
        const auto launch = std::ranges::find_if(
            plan.launches, [](const Launch& launch) { return launch.info->name == "project"; });
        REQUIRE(launch != plan.launches.end());
        const LaunchInfo& project = *launch->info;
        const bool is_in_groups = project.block.x == 384;
        const bool stores_hidden =
            std::any_of(project.writes.begin(), project.writes.end(),
                        [](const Buffer& written) { return written.name == "hidden"; });
        CHECK(stores_hidden == !is_in_groups);
        CHECK(contains(project.meaning, "Warp groups multiply (wgmma).") == is_in_groups);
        CHECK((plan.launches.front().info->name == "split_weights") ==
              (is_in_groups && parameters.is("dtype", "f32")));
        return is_in_groups;
    };
    CHECK(in_groups(*device, grouped(100, 64, 16, 64)));
    CHECK(in_groups(*device, grouped(100, 192, 64, 128, {{"dtype", "f16"}})));
    CHECK(in_groups(*device, grouped(100, 512, 64, 128, {{"gate_mode", "hard"}})));
    CHECK(in_groups(*device, grouped(100, 96, 32, 128, {{"dtype", "f32"}})));
    CHECK(in_groups(*device, grouped(100, 64, 64, 64, {{"dtype", "f32"}, {"gate_mode", "gumbel"}})));
    for (const Settings& changed : std::vector<Settings>{{{"dtype", "f32"}, {"max_rank", int64_t{64}}},
                                                         {{"dtype", "f32"}, {"gate_mode", "hard"}},
                                                         {{"backward", true}},
                                                         {{"d_model", int64_t{72}}},
                                                         {{"gate_hidden", int64_t{100}}},
                                                         {{"max_rank", int64_t{24}}}})
        CHECK_FALSE(in_groups(*device, with(grouped(100, 128, 32, 128), changed)));
    if (cuda::Device* const older = theory("sm_80")) CHECK_FALSE(in_groups(*older, grouped(100, 64, 16, 64)));
}

// The second half of the hidden units repeats the first one, and a rank takes their difference: at every
// position its logit is a bias far below the rounding errors of f32, and each half alone is large.
void leave_only_the_bias(Arrays& inputs, int64_t rank, float bias) {
    const auto numbers = [&](const char* name) { return find(inputs, name)->as<float>(); };
    const auto w1 = numbers("gate_w1"), b1 = numbers("gate_b1"), w2 = numbers("gate_w2");
    std::copy_n(w1.begin(), w1.size() / 2, w1.begin() + std::ssize(w1) / 2);
    std::copy_n(b1.begin(), b1.size() / 2, b1.begin() + std::ssize(b1) / 2);
    const auto row = w2.begin() + rank * std::ssize(b1);
    std::transform(row, row + std::ssize(b1) / 2, row + std::ssize(b1) / 2, std::negate());
    numbers("gate_b2")[static_cast<size_t>(rank)] = bias;
}

TEST_CASE("a projection in groups is right in every gate mode, with an odd number of tiles",
          "[ar_ssm][cuda][gpu]") {
    if (!gpu()) return;
    const std::string dtype = GENERATE("f32", "bf16", "f16"), mode = GENERATE("soft", "hard", "gumbel");
    const auto [batch, length, width, rank, hidden] =
        GENERATE(table<int64_t, int64_t, int64_t, int64_t, int64_t>({{1, 1, 64, 16, 64},
                                                                     {3, 65, 128, 32, 128},
                                                                     {2, 200, 576, 32, 64},
                                                                     {5, 64, 192, 16, 128},
                                                                     {1, 70, 64, 64, 64},
                                                                     {2, 3, 64, 64, 128}}));
    const Parameters parameters = settled(
        ar_ssm_family(),
        grouped(length, width, rank, hidden,
                {{"batch", batch}, {"dtype", dtype}, {"gate_mode", mode}, {"bidirectional", length == 65}}),
        {}, Backend::cuda);
    Arrays inputs = inputs_for(parameters);
    leave_only_the_bias(inputs, 0, 1e-6f);
    leave_only_the_bias(inputs, 1, -1e-6f);
    const Arrays got = run_on_device(*gpu(), ar_ssm_family(), "fused", parameters, inputs);
    check_verdicts(judged(ar_ssm_family(), "fused", parameters, inputs, got, Backend::cuda));
}

// Split factors make NaN of an infinity, of numbers that round to one, and of sums that overflow on the way.
// The judge accepts NaN where an infinity was multiplied, so this compares with the reference itself.
TEST_CASE("a projection in f32 keeps infinities and large numbers", "[ar_ssm][cuda][gpu]") {
    if (!gpu()) return;
    const Parameters parameters =
        settled(ar_ssm_family(), grouped(130, 64, 16, 64, {{"batch", int64_t{2}}, {"dtype", "f32"}}), {},
                Backend::cuda);
    Arrays inputs = inputs_for(parameters);
    const auto x = find(inputs, "x")->as<float>();
    for (const float number : {INFINITY, -INFINITY, 3.4028e38f, NAN}) {
        INFO(number);
        x[5 * 64 + 7] = number;
        x[(130 + 100) * 64 + 63] = number;
        const Arrays wanted = reference_for(parameters, inputs);
        const Arrays got = run_on_device(*gpu(), ar_ssm_family(), "fused", parameters, inputs);
        const auto gates = find(got, "gates")->as<float>();
        for (int64_t i = 0; i < std::ssize(gates); ++i) {
            const double expected = find(wanted, "gates")->value(i).real();
            const auto gate = static_cast<double>(gates[static_cast<size_t>(i)]);
            INFO("gate " << i << ": " << gate << ", reference " << expected);
            CHECK((std::isnan(expected) ? std::isnan(gate) : std::abs(gate - expected) < 1e-5));
        }
    }
}

}  // namespace
}  // namespace sawtooth
