// The AR-SSM layer on the CPU in every vector width.

#include "tests/kernels/ar_ssm/run_ar_ssm.h"
#include "tests/kernels/cpu/vector_targets.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

using namespace ar_ssm_facts;

TEST_CASE("both variants of ar_ssm agree with the reference in any vector width", "[ar_ssm][cpu]") {
    const std::string mode = GENERATE("soft", "hard", "gumbel"), dtype = GENERATE("f32", "bf16");
    // In this shape, parts of the weight gradients begin inside a tile, and rows fill no vector.
    const auto parameters = parameters_with({{"batch", 3},
                                             {"length", 300},
                                             {"d_model", 21},
                                             {"max_rank", 11},
                                             {"gate_hidden", 19},
                                             {"bidirectional", true},
                                             {"gate_mode", mode},
                                             {"dtype", dtype},
                                             {"backward", true}});
    const Arrays inputs = inputs_for(parameters), wanted = reference_for(parameters, inputs);
    for_each_vector_target([&] {
        for (const char* variant : {"unfused", "fused"})
            for (const Array& output : run(variant, parameters, inputs).outputs) {
                INFO(variant << " " << output.name << " " << mode << " " << dtype);
                const bool rounds = output.name == "y" && dtype == "bf16";
                CHECK(distance(output, *find(wanted, output.name)) < (rounds ? 0x1p-8 : 5e-6));
            }
    });
}

}  // namespace
}  // namespace sawtooth
