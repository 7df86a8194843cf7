#include "kernels/lut/family.h"

#include "kernels/core/common_parameters.h"
#include "kernels/lut/schema.h"

namespace sawtooth {
namespace {

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = lut::shape_parameters({.batch = 16,
                                                        .inputs = 64,
                                                        .outputs = 32,
                                                        .detectors = 32,
                                                        .anchors_per_detector = 6,
                                                        .most_batch = 65536});
    for (Parameter& row : lut::common_parameters()) all.push_back(std::move(row));
    return all;
}

std::vector<ArraySpec> arrays() {
    const std::string rows = "2^anchors_per_detector";
    const std::vector<std::string> found = {"batch", "detectors"};
    std::vector<ArraySpec> all = {
        {.name = "x", .meaning = "What the detectors compare.", .dimensions = {"batch", "inputs"}}};
    const auto add = [&](std::vector<ArraySpec> more) { all.insert(all.end(), more.begin(), more.end()); };
    add(lut::table_arrays(rows));
    add({
        {.name = "dy",
         .meaning = "Gradient of y.",
         .role = Role::output_gradient,
         .dimensions = {"batch", "outputs"},
         .used = runs_backward},
        {.name = "y",
         .meaning = "Sum of the rows that the detectors chose.",
         .role = Role::output,
         .dimensions = {"batch", "outputs"}},
        {.name = "lookup_index",
         .meaning = "Row that each detector chose; bit r is set where its pair r has a positive difference.",
         .role = Role::output,
         .dtype = Dtype::int32,
         .dimensions = found},
        {.name = "min_delta",
         .meaning = "The difference of smallest magnitude of each detector.",
         .role = Role::output,
         .dimensions = found},
        {.name = "min_delta_index",
         .meaning = "Bit of that difference; -1 where all pairs are skipped.",
         .role = Role::output,
         .dtype = Dtype::int32,
         .dimensions = found},
        {.name = "dx",
         .meaning = "Gradient of x, through each detector's weakest bit.",
         .role = Role::output,
         .dimensions = {"batch", "inputs"},
         .used = runs_backward},
    });
    add(lut::table_gradients(rows));
    return all;
}

std::vector<Variant> variants() {
    const std::vector<Backend> both = {Backend::cpu, Backend::cuda};
    const std::vector<std::string> outputs = {"y",  "lookup_index", "min_delta",    "min_delta_index",
                                              "dx", "dweights",     "weights_after"};
    return {
        {"unfused", "Each kernel of the source a launch of its own, with its grid.", both, outputs},
        {"fused", "Detectors and tables in one launch forward, gradients in as few as possible.", both,
         outputs},
    };
}

Family make_family() {
    Family family;
    family.name = "lut";
    family.title = "Look-up tables";
    family.summary =
        "Detectors compare inputs, their bits choose rows of tables, and the rows add up to the output.";
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
    family.settle = lut::settle;
    family.check = lut::check;
    family.check_inputs = lut::check_inputs;
    return family;
}

}  // namespace

const Family& lut_family() {
    static const Family family = make_family();
    return family;
}

}  // namespace sawtooth
