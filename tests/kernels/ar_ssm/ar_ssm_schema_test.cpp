// The schema of the AR-SSM layer: facts from its documentation.

#include "tests/kernels/families/schema_facts.h"

using namespace sawtooth;
using namespace sawtooth::schema_facts;

TEST_CASE("ar_ssm: weights with d_model 12, rank 4 and 5 gate units have the documented shapes",
          "[schema][ar_ssm]") {
    const Settings sizes = {{"batch", 2},    {"length", 50},     {"d_model", 12},
                            {"max_rank", 4}, {"gate_hidden", 5}, {"backward", true}};
    CHECK(shape_of("ar_ssm", "conv", sizes) == Shape{12, 3});
    CHECK(shape_of("ar_ssm", "gate_w1", sizes) == Shape{5, 12});
    CHECK(shape_of("ar_ssm", "gate_b1", sizes) == Shape{5});
    CHECK(shape_of("ar_ssm", "gate_w2", sizes) == Shape{4, 5});
    CHECK(shape_of("ar_ssm", "gate_b2", sizes) == Shape{4});
    CHECK(shape_of("ar_ssm", "u_proj", sizes) == Shape{4, 12});
    CHECK(shape_of("ar_ssm", "out_proj", sizes) == Shape{12, 4});
    CHECK(shape_of("ar_ssm", "out_bias", sizes) == Shape{12});
    CHECK(shape_of("ar_ssm", "gates", sizes) == Shape{2, 50, 4});
    CHECK(shape_of("ar_ssm", "effective_rank", sizes) == Shape{2, 50});
    CHECK(shape_of("ar_ssm", "dgate_w1", sizes) == Shape{5, 12});
    CHECK(shape_of("ar_ssm", "dx", sizes) == Shape{2, 50, 12});
}

TEST_CASE("ar_ssm: the gate's hidden layer is a quarter of d_model and never empty", "[schema][ar_ssm]") {
    CHECK(settled("ar_ssm").integer("gate_hidden") == 16);
    CHECK(settled("ar_ssm", {{"d_model", 3}}).integer("gate_hidden") == 1);
    CHECK(settled("ar_ssm", {{"gate_hidden", 7}}).integer("gate_hidden") == 7);
    CHECK(settled("ar_ssm").text("scan") == "lookback");
}
