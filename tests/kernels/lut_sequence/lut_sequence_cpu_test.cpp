// Look-up tables on sequences on the CPU: the launches of each mode, bits, and events that are never lost.

#include "kernels/lut_sequence/cpu/events.h"
#include "kernels/lut_sequence/cpu/gradient_table.h"
#include "kernels/lut_sequence/family.h"
#include "kernels/lut_sequence/parts.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"

using namespace sawtooth;
using lut_sequence::GradientTable;
using lut_sequence::HashEntry;

namespace {

using Names = std::vector<std::string>;

Parameters parameters_with(const Settings& settings) {
    Parameters parameters = settled(
        lut_sequence_family(),
        {{"backward", true}, {"sequence_length", int64_t{11}}, {"tile", int64_t{8}}, {"batch", int64_t{2}}});
    for (const auto& [name, value] : settings) parameters.set(name, value);
    return parameters;
}

Names launches_of(const std::string& variant, const Settings& settings) {
    const Parameters parameters = parameters_with(settings);
    const Arrays inputs = generated_inputs(parameters);
    return names_of(plan_on_cpu(lut_sequence_family(), variant, parameters, inputs));
}

Names joined(const std::vector<Names>& parts) {
    Names all;
    for (const Names& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

const Names checks = {"check_detectors_for_sequence", "check_positional_embeddings"};

}  // namespace

TEST_CASE("unfused has the launches of the source on sequences, and no others", "[lut][cpu]") {
    const Names fill = {"clear_event_count", "fill_after_detectors_firing_stat"};
    const Names outputs = {"clear_y", "fill_outputs_by_sparse_firings"};
    CHECK(launches_of("unfused", {{"backward", false}}) == joined({checks, fill, outputs}));
    CHECK(launches_of("unfused", {{"backward", false}, {"events", "statistic"}, {"arithmetic", "integer"}}) ==
          joined({checks, fill, {"densify_firing_stat"}, outputs, {"convert_integers_to_floats"}}));
    const Names fill_both = {"clear_event_count", "clear_alternative_event_count",
                             "fill_after_detectors_firing_stat"};
    const Names gradients = {"clear_hash_table",
                             "clear_dx",
                             "clear_dpositional",
                             "clear_dweights",
                             "gather_x_gradients_for_sequence",
                             "gather_x_gradients_for_sequence",
                             "gather_w_gradients_for_sequence",
                             "propagate_through_detectors_for_sequence"};
    CHECK(launches_of("unfused", {}) == joined({checks, fill_both, outputs, gradients}));
}

TEST_CASE("fused on sequences has neither events nor a hash table", "[lut][cpu]") {
    CHECK(launches_of("fused", {{"backward", false}}) == joined({checks, {"look_up_pairs"}}));
    const Names to_x = {"look_up_pairs", "pair_gradients", "position_gradients"};
    const Names to_weights = {"sort_by_neuron", "weight_gradients"};
    CHECK(launches_of("fused", {{"arithmetic", "integer"}}) ==
          joined({checks, to_x, {"distance_gradients"}, to_weights}));
    CHECK(launches_of("fused", {{"positional_bits", int64_t{0}}}) == joined({checks, to_x, to_weights}));
}

TEST_CASE("the hash table probes from its start, wraps around and says when it is full", "[lut][cpu]") {
    using Claim = GradientTable::Claim;
    std::vector<HashEntry> entries(4);
    std::vector<int32_t> high(4);
    const GradientTable table(entries.data(), high.data(), lut_sequence::HashStart(4, false));
    int64_t slot = 0;
    const auto claimed_at = [&](int64_t neuron, int64_t position) {
        REQUIRE(table.claim(neuron, position, slot) == Claim::claimed);
        table.store(slot, 1, (neuron + 1) << 33 | position);
        return slot;
    };
    CHECK(claimed_at(1, 2) == 3);
    CHECK(claimed_at(2, 1) == 0);  // another key with the same start
    CHECK(claimed_at(5, 0) == 1);
    CHECK(table.claim(2, 1, slot) == Claim::present);
    CHECK(slot == 0);
    CHECK(table.find<int64_t>(0, 3) == 0);  // absent: the search ends at the empty slot
    CHECK(claimed_at(3, 0) == 2);
    CHECK(table.claim(0, 0, slot) == Claim::full);
    CHECK(table.find<int64_t>(0, 0) == 0);  // absent in a full table
    CHECK(table.find<int64_t>(2, 1) == (int64_t{3} << 33 | 1));
    CHECK(table.find<int64_t>(3, 0) == int64_t{4} << 33);
}

TEST_CASE("a buffer has room for the most events of each position", "[lut][cpu]") {
    using namespace lut_sequence;
    for (const char* events : {"buffer", "statistic"})
        for (const int64_t a_pair : {main_events, alternative_events})
            for (const int64_t anchors : {1, 2}) {
                const lut_sequence::Sizes s(parameters_with({{"events", events},
                                                             {"anchors_per_detector", anchors},
                                                             {"positional_bits", int64_t{0}},
                                                             {"sequence_length", int64_t{23}}}));
                int64_t sum = 0;
                for (int64_t j = 0; j < s.length; ++j) {
                    CHECK(events_before(s, j, a_pair) == sum);
                    const int64_t all = a_pair * j * s.detectors;
                    sum += s.statistic ? std::min(all, s.neurons()) : all;
                }
                CHECK(most_events(s, a_pair) == s.batch * sum);
            }
}
