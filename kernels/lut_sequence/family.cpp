#include "kernels/lut_sequence/family.h"

#include <limits>

#include "kernels/core/common_parameters.h"
#include "kernels/lut_sequence/events.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/parts.h"

namespace sawtooth {
namespace {

constexpr int64_t most_row_bits = 24;

std::vector<Parameter> parameters() {
    using enum Group;
    std::vector<Parameter> all = lut_table::shape_parameters({.batch = 1,
                                                              .inputs = 32,
                                                              .outputs = 16,
                                                              .detectors = 8,
                                                              .anchors_per_detector = 3,
                                                              .most_batch = 16384,
                                                              .batch_title = "sequences"});
    const auto add = [&](const std::string& kernels, Parameter row) {
        all.push_back(cited(lut_table::source + kernels, std::move(row)));
    };
    add(", Sequence Processing Kernels",
        titled("positions",
               integer_parameter("sequence_length",
                                 "Positions per sequence; every pair of positions is looked up.", shape,
                                 "tokens", 32, 1, 16384, Step::powers_of_two, Renews::inputs)));
    add(", 11. check_positional_embeddings_logic",
        integer_parameter("positional_bits",
                          "Bits of the lookup index that come from the distance of a pair.", shape, "bits", 2,
                          0, 22, Step::linear, Renews::inputs));
    add(", 12. fill_after_detectors_firing_stat_logic",
        choice_parameter("tile", "Edge of the tile of pairs of a thread block.", tiling, 16, {8, 16, 32},
                         Renews::kernels));
    add(", 12 and 13",
        choice_parameter(
            "events",
            "buffer: firing events go straight to a buffer. statistic: through a dense count per row.",
            algorithm, "buffer", {"buffer", "statistic"}, Renews::kernels));
    add(", 15. gather_x_gradients_for_sequence_logic",
        only_backward(
            choice_parameter("hash",
                             "First slot that a key of the hash table tries. sum: neuron + position, "
                             "which crowds the first slots. mixed: all bits of the key count.",
                             algorithm, "sum", {"sum", "mixed"}, Renews::kernels)));
    for (Parameter& row : lut_table::common_parameters()) all.push_back(std::move(row));
    all.push_back(drawn_parameter("drawn_batch", "sequence", "batch", 16383));
    const auto position = [&](const char* name, const char* meaning, int64_t initial, int64_t least) {
        all.push_back(ends_at("sequence_length", 1,
                              integer_parameter(name, meaning, Group::run, "position", initial, least, 16383,
                                                Step::linear, Renews::figures)));
    };
    position("drawn_query", "Later position of the pair shown in figures.", 20, 1);
    position("drawn_key", "Earlier position of the pair shown in figures; before drawn_query.", 7, 0);
    all.push_back(drawn_parameter("drawn_detector", "detector", "detectors", 16383));
    all.push_back(drawn_parameter("drawn_input", "input", "inputs", 65535));
    all.push_back(drawn_parameter("drawn_output", "output", "outputs", 65535));
    return all;
}

Shape positional_shape(const Parameters& parameters, const Arrays&) {
    return {parameters.integer("sequence_length") - 1, parameters.integer("detectors"),
            parameters.integer("positional_bits")};
}

Shape distances_shape(const Parameters& parameters, const Arrays&) {
    return {parameters.integer("sequence_length") - 1, parameters.integer("detectors")};
}

ArraySpec output(std::string name, std::string meaning, Dtype dtype, std::vector<std::string> dimensions) {
    return {.name = std::move(name),
            .meaning = std::move(meaning),
            .role = Role::output,
            .dtype = dtype,
            .dimensions = std::move(dimensions)};
}

// The outputs with the weakest bits of each position and of each distance.
std::vector<ArraySpec> found_arrays() {
    const std::vector<std::string> positions = {"batch", "sequence_length", "detectors"};
    const std::vector<std::string> distances = {"sequence_length - 1", "detectors"};
    std::vector<ArraySpec> all = {
        output("lookup_index", "Bits of each detector at each position.", Dtype::int32, positions),
        output("min_delta", "Smallest difference, by magnitude, of each detector.", Dtype::f32, positions),
        output("min_delta_index", "Bit of that difference; -1 if all pairs are skipped.", Dtype::int32,
               positions),
        output("positional_lookup_index", "Bits of each distance.", Dtype::int32, distances),
        output("positional_min_delta", "Smallest positional value, by magnitude.", Dtype::f32, distances),
        output("positional_min_delta_index", "Bit of that value.", Dtype::int32, distances),
    };
    for (size_t i = 3; i < all.size(); ++i) all[i].shape = distances_shape;
    return all;
}

std::vector<ArraySpec> arrays() {
    const std::string rows = "2^(2 anchors_per_detector + positional_bits)";
    const std::vector<std::string> inputs = {"batch", "sequence_length", "inputs"};
    const std::vector<std::string> outputs = {"batch", "sequence_length", "outputs"};
    const std::vector<std::string> distances = {"sequence_length - 1", "detectors", "positional_bits"};
    std::vector<ArraySpec> all = {{.name = "x",
                                   .meaning = "Inputs that the detectors compare, at each position.",
                                   .dimensions = inputs},
                                  {.name = "positional",
                                   .meaning = "Values of each distance; a value above eps sets its bit.",
                                   .dimensions = distances,
                                   .shape = positional_shape}};
    const auto add = [&](std::vector<ArraySpec> more) { all.insert(all.end(), more.begin(), more.end()); };
    add(lut_table::table_arrays(rows));
    add({{.name = "dy",
          .meaning = "Gradient of y.",
          .role = Role::output_gradient,
          .dimensions = outputs,
          .used = runs_backward},
         output("y", "Sum of the rows chosen by each position with every earlier one.", Dtype::f32,
                outputs)});
    add(found_arrays());
    add({{.name = "dx",
          .meaning = "Gradient of x, through the weaker of the two weakest bits of a pair.",
          .role = Role::output,
          .dimensions = inputs,
          .used = runs_backward},
         {.name = "dpositional",
          .meaning = "Gradient of positional, summed over the batch and all pairs of a distance.",
          .role = Role::output,
          .dimensions = distances,
          .shape = positional_shape,
          .used = runs_backward}});
    add(lut_table::table_gradients(rows));
    return all;
}

// Why there are more of something than 32-bit numbers can count; absent if there are not.
std::optional<std::string> check_count(int64_t count, const std::string& what) {
    const int64_t most = std::numeric_limits<int32_t>::max();
    if (count <= most) return {};
    return "has up to " + std::to_string(count) + " " + what + ", but only " + std::to_string(most) +
           " have a number of 32 bits";
}

// On a GPU events are counted in 32 bits. On the CPU each position counts its own events, but the hash table
// stores their numbers in 32 bits on both.
std::optional<std::string> check_events(const Variant&, const Parameters& parameters, const Chip& chip) {
    using namespace lut_sequence;
    const lut_sequence::Sizes sizes(parameters);
    if (runs_backward(parameters))
        return check_count(most_events(sizes, alternative_events), "alternative events");
    if (chip.backend == Backend::cpu) return {};
    return check_count(most_events(sizes, main_events), "events");
}

// A GPU sorts the pairs of a detector, which have 32-bit numbers.
std::optional<std::string> check_pairs(const Variant&, const Parameters& parameters, const Chip& chip) {
    if (chip.backend == Backend::cpu || !runs_backward(parameters)) return {};
    const lut_sequence::Sizes sizes(parameters);
    return check_count(sizes.batch * sizes.pairs(), "pairs of positions");
}

std::vector<Variant> variants() {
    const std::vector<std::string> outputs = {"y",
                                              "lookup_index",
                                              "min_delta",
                                              "min_delta_index",
                                              "positional_lookup_index",
                                              "positional_min_delta",
                                              "positional_min_delta_index",
                                              "dx",
                                              "dpositional",
                                              "dweights",
                                              "weights_after"};
    return {
        {.name = "unfused",
         .idea = "One launch for each kernel of " + lut_table::source +
                 ", with its grid: events and a hash table in "
                 "memory; on a GPU floats are added by atomics, so that their last bits depend on the order.",
         .outputs = outputs,
         .unordered = lut_table::adds_floats,
         .check = check_events,
         .exact = lut_table::is_exact,
         .plan_cpu = lut_sequence::plan_unfused_on_cpu,
         .plan_cuda = lut_sequence::plan_unfused_on_cuda,
         .extra_steps = lut_sequence::probes_of_crowded_table},
        {.name = "fused",
         .idea = "Pairs update outputs and gradients directly, without events or a hash table; every sum has "
                 "one order.",
         .outputs = outputs,
         .check = check_pairs,
         .exact = lut_table::is_exact,
         .plan_cpu = lut_sequence::plan_fused_on_cpu,
         .plan_cuda = lut_sequence::plan_fused_on_cuda},
    };
}

std::optional<Refusal> check(const Parameters& parameters) {
    const int64_t anchors = parameters.integer("anchors_per_detector"),
                  bits = lut_table::row_bits(parameters);
    if (bits > most_row_bits)
        return Refusal{"anchors_per_detector", std::to_string(anchors),
                       "a row has " + std::to_string(bits) +
                           " bits with positional_bits = " + to_text(parameters.at("positional_bits")) +
                           "; 2 anchors_per_detector + positional_bits must be up to " +
                           std::to_string(most_row_bits)};
    // The number of a neuron plus one must fit the 32 bits of events and of the hash table.
    if (const int64_t most = std::numeric_limits<int32_t>::max(); lut_table::neurons(parameters) >= most)
        return Refusal{"detectors", to_text(parameters.at("detectors")),
                       "must be up to " + std::to_string((most - 1) >> bits) + " with tables of 2^" +
                           std::to_string(bits) + " rows: neurons have 32-bit numbers"};
    return lut_table::check(parameters);
}

// Pairs of positions are divided into tiles; on CUDA, the detectors that y sums over into blocks. A thread of
// fused sums four neighbouring outputs of full tables.
std::vector<Tiling> tilings(const Variant& variant, const std::string& output, const Parameters& parameters,
                            Backend backend) {
    std::vector<Tiling> tilings = {{"sequence_length", "tile", parameters.integer("tile")}};
    if (backend == Backend::cpu || output != "y") return tilings;
    if (variant.name != "fused") {
        tilings.push_back({"detectors", "block_size", parameters.integer("block_size")});
        return tilings;
    }
    tilings.push_back({"detectors", "rows of a thread block", lut_sequence::threads_of_fused});
    if (parameters.text("connectivity") == "full")
        tilings.push_back({"outputs", "outputs of a thread", lut_table::outputs_of_thread});
    return tilings;
}

Family make_family() {
    Family family;
    family.name = "lut_sequence";
    family.title = "Look-up tables on sequences";
    family.summary =
        "Every pair of positions chooses table rows by the bits of both positions and of their distance.";
    family.source = lut_table::source;
    family.parameters = parameters();
    family.presets = {{"paper",
                       {{"batch", 8},
                        {"sequence_length", 128},
                        {"inputs", 256},
                        {"outputs", 256},
                        {"detectors", 32},
                        {"anchors_per_detector", 4},
                        {"positional_bits", 4},
                        {"tile", 16},
                        {"hash", "mixed"}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = lut_table::settle;
    family.check = check;
    family.check_inputs = lut_table::check_inputs;
    family.sequence_axis = "sequence_length";
    family.main_parameters = {"sequence_length", "detectors", "anchors_per_detector", "positional_bits",
                              "events"};
    family.generate = lut_table::generate;
    family.reference = lut_sequence::reference;
    family.kernel_reference = lut_sequence::unrounded_reference;
    family.definition = lut_sequence::definition;
    family.rounding = lut_table::rounding;
    family.tilings = tilings;
    family.main_output = "y";
    family.work = lut_sequence::work;
    family.causal = [](const Parameters& p) { return !runs_backward(p); };
    family.bench_cases = lut_sequence::bench_cases;
    family.sweeps = lut_sequence::sweeps;
    family.figures = lut_sequence::figures;
    family.story = lut_sequence::story();
    family.about = lut_sequence::about();
    return family;
}

}  // namespace

const Family& lut_sequence_family() {
    static const Family family = make_family();
    return family;
}

}  // namespace sawtooth
