#include "kernels/lut/family.h"

#include "kernels/core/common_parameters.h"
#include "kernels/lut/parts.h"

namespace sawtooth {
namespace {

// The parameters that choose what figures show and that drag an input.
std::vector<Parameter> figure_parameters() {
    using enum Group;
    Parameter dragged_by = real_parameter(
        "dragged_by", "Number added to one generated input: watch bits flip.", run, 0, -4, 4, Renews::inputs);
    dragged_by.unit = "added";
    return {
        ends_at("inputs", 1,
                integer_parameter("dragged_input", "The input that dragged_by moves, in every item.", run,
                                  "input", 0, 0, 65535, Step::linear, Renews::inputs)),
        dragged_by,
        drawn_parameter("drawn_batch", "item", "batch", 65535),
        drawn_parameter("drawn_detector", "detector", "detectors", 16383),
        drawn_parameter("drawn_output", "output", "outputs", 65535),
    };
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = lut::shape_parameters({.batch = 16,
                                                        .inputs = 64,
                                                        .outputs = 32,
                                                        .detectors = 32,
                                                        .anchors_per_detector = 6,
                                                        .most_batch = 65536,
                                                        .batch_title = "items"});
    for (const std::vector<Parameter>& rows : {lut::common_parameters(), figure_parameters()})
        all.insert(all.end(), rows.begin(), rows.end());
    return all;
}

std::vector<ArraySpec> arrays() {
    const std::string rows = "2^anchors_per_detector";
    const std::vector<std::string> found = {"batch", "detectors"};
    std::vector<ArraySpec> all = {
        {.name = "x", .meaning = "Inputs that the detectors compare.", .dimensions = {"batch", "inputs"}}};
    const auto add = [&](std::vector<ArraySpec> more) { all.insert(all.end(), more.begin(), more.end()); };
    add(lut::table_arrays(rows));
    add({
        {.name = "dy",
         .meaning = "Gradient of y.",
         .role = Role::output_gradient,
         .dimensions = {"batch", "outputs"},
         .used = runs_backward},
        {.name = "y",
         .meaning = "Sum of the rows chosen by the detectors.",
         .role = Role::output,
         .dimensions = {"batch", "outputs"}},
        {.name = "lookup_index",
         .meaning = "Row chosen by each detector; bit r is set if the difference of pair r is above eps.",
         .role = Role::output,
         .dtype = Dtype::int32,
         .dimensions = found},
        {.name = "min_delta",
         .meaning = "Smallest difference, by magnitude, of each detector.",
         .role = Role::output,
         .dimensions = found},
        {.name = "min_delta_index",
         .meaning = "Bit of that difference; -1 if all pairs are skipped.",
         .role = Role::output,
         .dtype = Dtype::int32,
         .dimensions = found},
        {.name = "dx",
         .meaning = "Gradient of x, through the weakest bit of each detector.",
         .role = Role::output,
         .dimensions = {"batch", "inputs"},
         .used = runs_backward},
    });
    add(lut::table_gradients(rows));
    return all;
}

std::vector<Variant> variants() {
    const std::vector<std::string> outputs = {"y",  "lookup_index", "min_delta",    "min_delta_index",
                                              "dx", "dweights",     "weights_after"};
    return {
        {.name = "unfused",
         .idea = "One launch for each kernel of " + lut::source +
                 ", with its grid; on a GPU floats are "
                 "added by atomics, so that their last bits depend on the order.",
         .outputs = outputs,
         .unordered = lut_table::adds_floats,
         .exact = lut::is_exact,
         .plan_cpu = lut::plan_unfused_on_cpu,
         .plan_cuda = lut::plan_unfused_on_cuda},
        {.name = "fused",
         .idea = "One launch for detectors and tables (for many items on Hopper two or three), as few as "
                 "possible "
                 "for gradients; every sum has one order.",
         .outputs = outputs,
         .exact = lut::is_exact,
         .plan_cpu = lut::plan_fused_on_cpu,
         .plan_cuda = lut::plan_fused_on_cuda,
         .rare_on_cuda = {{"tables in slices",
                           {{"batch", int64_t{1300}},
                            {"detectors", int64_t{64}},
                            {"anchors_per_detector", int64_t{4}},
                            {"outputs", int64_t{256}},
                            {"connectivity", "full"},
                            {"arithmetic", "float"},
                            {"backward", true}}}}},
    };
}

// Only generated inputs can be dragged.
void settle(Parameters& parameters, const Arrays& given, Backend backend) {
    lut::settle(parameters, given, backend);
    if (find(given, "x")) parameters.set("dragged_by", 0.0);
}

// A thread block of unfused compares the inputs of block_size detectors.
std::vector<Tiling> tilings(const Variant& variant, const std::string& output, const Parameters& parameters,
                            Backend backend) {
    const bool is_found = output == "lookup_index" || output.starts_with("min_delta");
    if (backend == Backend::cpu || variant.name != "unfused" || !is_found) return {};
    return {{"detectors", "block_size", parameters.integer("block_size")}};
}

Family make_family() {
    Family family;
    family.name = "lut";
    family.title = "Look-up tables";
    family.summary =
        "Detectors compare inputs, the bits choose rows of tables, and the rows add up to the output.";
    family.source = lut::source;
    family.parameters = parameters();
    family.presets = {{"paper",
                       {{"batch", 4096},
                        {"detectors", 256},
                        {"anchors_per_detector", 8},
                        {"inputs", 512},
                        {"outputs", 256},
                        {"block_size", 256}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = settle;
    family.check = lut::check;
    family.check_inputs = lut::check_inputs;
    family.main_parameters = {"detectors", "anchors_per_detector", "inputs",
                              "outputs",   "arithmetic",           "dragged_by"};
    family.generate = lut::generate;
    family.reference = lut::reference;
    family.kernel_reference = lut::unrounded_reference;
    family.definition = lut::definition;
    family.rounding = lut::rounding;
    family.tilings = tilings;
    family.main_output = "y";
    family.work = lut::work;
    family.bench_cases = lut::bench_cases;
    family.sweeps = lut::sweeps;
    family.figures = lut::figures;
    family.story = lut::story();
    family.about = lut::about();
    return family;
}

}  // namespace

const Family& lut_family() {
    static const Family family = make_family();
    return family;
}

}  // namespace sawtooth
