// The schemas of the look-up tables: facts from their documentation.

#include <limits>
#include <string>

#include "app/engine/run/configure.h"
#include "tests/kernels/families/schema_facts.h"

using namespace sawtooth;
using namespace sawtooth::schema_facts;

TEST_CASE("lut: a detector of C anchors has a table of 2^C rows", "[schema][lut]") {
    const Settings sizes = {
        {"batch", 3},      {"inputs", 20}, {"outputs", 9}, {"detectors", 37}, {"anchors_per_detector", 4},
        {"backward", true}};
    CHECK(shape_of("lut", "weights", sizes) == Shape{37, 16, 9});
    CHECK(shape_of("lut", "dweights", sizes) == Shape{37, 16, 9});
    CHECK(shape_of("lut", "anchors", sizes) == Shape{37, 4, 2});
    CHECK(shape_of("lut", "min_delta", sizes) == Shape{3, 37});
    CHECK(shape_of("lut", "dx", sizes) == Shape{3, 20});
    CHECK_FALSE(uses("lut", "weights_after", sizes));
    CHECK(uses("lut", "weights_after", {{"gradient_policy", "internal"}, {"backward", true}}));
}

TEST_CASE("lut: the last offset is the number of synapses", "[schema][lut]") {
    const Settings sizes = {{"detectors", 1}, {"anchors_per_detector", 1}, {"backward", true}};
    const Arrays given = {numbers("synapse_offsets", {0, 2, 5})};
    CHECK(settled("lut", sizes, given).text("connectivity") == "sparse");
    CHECK(shape_of("lut", "synapse_offsets", sizes, given) == Shape{3});
    CHECK(shape_of("lut", "synapse_targets", sizes, given) == Shape{5});
    CHECK(shape_of("lut", "synapse_weights", sizes, given) == Shape{5});
    CHECK(shape_of("lut", "dweights", sizes, given) == Shape{5});
    CHECK_FALSE(uses("lut", "weights", sizes, given));
    Array without_data = given[0];
    without_data.data = nullptr;
    const Arrays dry = {without_data, floats("synapse_weights", {7})};
    CHECK(shape_of("lut", "dweights", sizes, dry) == Shape{7});
}

TEST_CASE("lut_sequence: a pair of positions addresses 2^(2C+P) rows", "[schema][lut]") {
    const Settings sizes = {{"batch", 2},           {"sequence_length", 17}, {"inputs", 12},
                            {"outputs", 6},         {"detectors", 5},        {"anchors_per_detector", 3},
                            {"positional_bits", 2}, {"backward", true}};
    CHECK(shape_of("lut_sequence", "weights", sizes) == Shape{5, 256, 6});
    CHECK(shape_of("lut_sequence", "positional", sizes) == Shape{16, 5, 2});
    CHECK(shape_of("lut_sequence", "dpositional", sizes) == Shape{16, 5, 2});
    CHECK(shape_of("lut_sequence", "lookup_index", sizes) == Shape{2, 17, 5});
    CHECK(shape_of("lut_sequence", "positional_min_delta", sizes) == Shape{16, 5});
    CHECK(shape_of("lut_sequence", "positional", {{"sequence_length", 1}}) == Shape{0, 8, 2});
    CHECK(shape_of("lut_sequence", "positional", {{"positional_bits", 0}}) == Shape{31, 8, 0});
}

TEST_CASE("lut_sequence: rows of more than 24 bits, or neurons past 32 bits, are refused", "[schema][lut]") {
    const Settings most = {{"anchors_per_detector", 10}, {"positional_bits", 4}};
    CHECK_FALSE(family_named("lut_sequence").check(settled("lut_sequence", most)));
    const Settings more = {{"anchors_per_detector", 10}, {"positional_bits", 5}};
    CHECK(contains(family_refusal("lut_sequence", more), "up to 24"));
    Settings many = most;
    many.push_back({"detectors", 128});
    CHECK(contains(family_refusal("lut_sequence", many), "up to 127"));
}

// 16 pairs of sequences of 16384 positions are 2147352576, the next number of pairs is past 2^31.
TEST_CASE("lut_sequence: more events or pairs than 32 bits number are refused", "[schema][lut]") {
    const auto refusal = [](const char* variant, const Chip& chip, Settings settings) {
        settings.emplace_back("sequence_length", int64_t{16384});
        return variant_refusal("lut_sequence", variant, settings, chip);
    };
    using Sized = std::pair<const char*, int64_t>;
    for (const auto& [name, most] : {Sized{"detectors", 16}, Sized{"batch", 16}}) {
        Settings settings = {{"detectors", 1}, {name, most}};
        CHECK(refusal("unfused", h200, settings).empty());
        settings.back().second = most + 1;
        CHECK(contains(refusal("unfused", h200, settings), "up to 2281562112 events"));
        CHECK(contains(refusal("unfused", h200, settings), "2147483647"));
        CHECK(refusal("unfused", processor, settings).empty());
        CHECK(refusal("fused", h200, settings).empty());
        // A neuron has at most one event at a position.
        settings.insert(settings.end(), {{"events", "statistic"}, {"anchors_per_detector", 1}});
        CHECK(refusal("unfused", h200, settings).empty());
    }
    for (const Chip& chip : {h200, processor}) {
        Settings settings = {{"backward", true}, {"detectors", 8}};
        CHECK(refusal("unfused", chip, settings).empty());
        settings.back().second = int64_t{9};
        CHECK(contains(refusal("unfused", chip, settings), "alternative events"));
    }
    Settings settings = {{"backward", true}, {"batch", 16}};
    CHECK(refusal("fused", h200, settings).empty());
    settings.back().second = int64_t{17};
    CHECK(contains(refusal("fused", h200, settings), "up to 2281562112 pairs"));
    CHECK(refusal("fused", processor, settings).empty());
}

TEST_CASE("lut: the largest shapes have numbers of 32 bits for events and neurons", "[schema][lut]") {
    const auto most = [](const char* family, const char* name) {
        return static_cast<int64_t>(family_named(family).parameter(name)->maximum);
    };
    const int64_t detectors = most("lut", "detectors"), int32 = std::numeric_limits<int32_t>::max();
    CHECK(most("lut", "batch") * detectors <= int32);
    CHECK(detectors << most("lut", "anchors_per_detector") <= int32);
    CHECK(most("lut_sequence", "batch") * most("lut_sequence", "sequence_length") <= int32);
}

TEST_CASE("lut: output blocks beyond the outputs are refused", "[schema][lut]") {
    CHECK(contains(family_refusal("lut", {{"output_blocks", 33}}), "1 to 32"));
    CHECK_FALSE(family_named("lut").check(settled("lut", {{"output_blocks", 32}})));
    CHECK(settled("lut", {{"outputs", 1}}).integer("output_blocks") == 1);
    CHECK(settled("lut", {{"outputs", 65}}).integer("output_blocks") == 1);
    CHECK(settled("lut", {{"outputs", 65}}, {}, Backend::cuda).integer("output_blocks") == 3);
}

TEST_CASE("lut: a least weight above the largest is refused where both count", "[schema][lut]") {
    for (const char* family : {"lut", "lut_sequence"}) {
        const auto is_refused = [&](const Settings& limits) {
            return family_named(family).check(settled(family, limits)).has_value();
        };
        Settings limits = {{"weight_min", 0.5}, {"weight_max", 0.25}, {"backward", true}};
        CHECK_FALSE(is_refused(limits));  // the policy is external
        limits.push_back({"gradient_policy", "internal"});
        CHECK(contains(family_refusal(family, limits), "weight_min = 0.5: must be up to weight_max = 0.25"));
        limits[1].second = 0.5;
        CHECK_FALSE(is_refused(limits));
        limits[1].second = "none";
        CHECK_FALSE(is_refused(limits));
    }
}

TEST_CASE("lut: both forms of weights together are refused", "[schema][lut]") {
    for (const char* family : {"lut", "lut_sequence"})
        CHECK(contains(
            input_refusal(family, {}, {floats("weights", {1, 2, 1}), numbers("synapse_offsets", {0, 0, 0})}),
            "weights"));
}

TEST_CASE("lut: both forms in one file are refused, and a form that is set against the file too",
          "[schema][lut]") {
    const Array weights = Array::zeros("weights", Dtype::f32, {32, 64, 32});
    const Array offsets = Array::zeros("synapse_offsets", Dtype::int32, {32 * 64 + 1});
    Request request;
    request.family = "lut";
    request.input = "in.npz";
    for (const char* connectivity : {"", "full", "sparse"}) {
        INFO(connectivity);
        if (*connectivity) request.parameters.set("connectivity", std::string(connectivity));
        const auto both = configure(request, {weights, offsets});
        REQUIRE_FALSE(both);
        CHECK(both.error().exit_code() == 2);
        CHECK(contains(both.error().text, "weights"));
    }
    const auto other = configure(request, {weights});
    REQUIRE_FALSE(other);
    CHECK(contains(other.error().text, "connectivity = sparse: the arrays of in.npz choose full"));
    request.parameters.set("connectivity", "full");
    CHECK(configure(request, {weights}));
}

TEST_CASE("lut: invalid anchors, targets, offsets and rates are refused with their index", "[schema][lut]") {
    const Settings sizes = {{"inputs", 20}, {"outputs", 11}, {"detectors", 2}, {"anchors_per_detector", 1}};
    const auto refusal = [&](const Arrays& given) { return input_refusal("lut", sizes, given); };
    CHECK(contains(refusal({numbers("anchors", {0, -1, 3, 20}, {2, 1, 2})}), "anchors[1, 0, 1] = 20"));
    CHECK(contains(refusal({numbers("anchors", {0, -2, 3, 19}, {2, 1, 2})}), "anchors[0, 0, 1] = -2"));

    const Array offsets = numbers("synapse_offsets", {0, 2, 2, 3, 3});
    const auto with = [&](Array array) { return refusal({offsets, std::move(array)}); };
    CHECK(contains(with(numbers("synapse_targets", {0, 10, 11})), "synapse_targets[2] = 11"));
    CHECK(contains(with(numbers("synapse_targets", {0, -1, 1})), "synapse_targets[1] = -1"));
    CHECK(contains(with(numbers("synapse_targets", {0, 1})), "synapse_offsets[4] = 3"));
    CHECK(contains(with(numbers("synapse_meta", {0, 0, 0})), "meta_lr"));
    CHECK(contains(refusal({offsets, numbers("synapse_meta", {0, 2, 1}), floats("meta_lr", {2})}),
                   "synapse_meta[1] = 2"));
    CHECK(contains(refusal({offsets, numbers("synapse_targets", {0, 1, 1}), floats("synapse_weights", {4})}),
                   "synapse_weights = [4]"));
    CHECK(contains(refusal({numbers("synapse_offsets", {0, 2, 1, 3, 3})}), "synapse_offsets[2] = 1"));
    CHECK(contains(refusal({numbers("synapse_offsets", {1, 2, 2, 3, 3})}), "synapse_offsets[0] = 1"));
    CHECK(contains(refusal({numbers("synapse_targets", {0, 1, 1})}), "synapse_offsets"));
}

TEST_CASE("lut: valid indices pass, also -1 and equal anchors", "[schema][lut]") {
    const Settings sizes = {{"inputs", 20}, {"outputs", 11}, {"detectors", 2}, {"anchors_per_detector", 1}};
    const Arrays given = {numbers("anchors", {-1, 19, 4, 4}, {2, 1, 2}),
                          numbers("synapse_offsets", {0, 2, 2, 3, 3}),
                          numbers("synapse_targets", {10, 10, 0}),
                          floats("synapse_weights", {3}),
                          numbers("synapse_meta", {1, 0, 0}),
                          floats("meta_lr", {2})};
    CHECK_FALSE(family_named("lut").check_inputs(settled("lut", sizes, given), given));
    CHECK_FALSE(family_named("lut").check_inputs(settled("lut"), {}));
}
