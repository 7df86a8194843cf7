#include "kernels/lut_table/schema.h"

#include <algorithm>
#include <limits>

#include "kernels/core/common_parameters.h"
#include "kernels/core/integers.h"

namespace sawtooth::lut_table {
namespace {

Shape row_shape(const Parameters& parameters) {
    return {parameters.integer("detectors"), int64_t{1} << row_bits(parameters),
            parameters.integer("outputs")};
}

Shape weights_shape(const Parameters& parameters, const Arrays&) { return row_shape(parameters); }

Shape anchors_shape(const Parameters& parameters, const Arrays&) {
    return {parameters.integer("detectors"), parameters.integer("anchors_per_detector"), 2};
}

Shape offsets_shape(const Parameters& parameters, const Arrays&) { return {neurons(parameters) + 1}; }

// The arrays determine the number of synapses: the last offset, or in a dry plan the length of the indexed
// arrays. Before any of them is known, it is the largest number that may be generated.
Shape synapses_shape(const Parameters& parameters, const Arrays& inputs) {
    if (const Array* offsets = find(inputs, "synapse_offsets");
        offsets && offsets->data && offsets->count() > 0)
        return {std::max<int64_t>(offsets->as<int32_t>().back(), 0)};
    for (const char* name : {"synapse_targets", "synapse_weights"})
        if (const Array* array = find(inputs, name)) return {array->count()};
    return {neurons(parameters) * parameters.integer("synapses_per_neuron")};
}

Shape metas_shape(const Parameters&, const Arrays& inputs) {
    const Array* rates = find(inputs, "meta_lr");
    return {rates ? rates->count() : generated_metas};
}

Shape gradient_shape(const Parameters& parameters, const Arrays& inputs) {
    return is_full(parameters) ? row_shape(parameters) : synapses_shape(parameters, inputs);
}

bool writes_weights(const Parameters& parameters) {
    return runs_backward(parameters) && parameters.is("gradient_policy", "internal");
}

// "anchors[3, 1, 0]": element `index` of the array by its coordinates.
std::string place(const Array& array, int64_t index) {
    Shape at(array.shape.size());
    for (size_t axis = at.size(); axis-- > 0;) {
        at[axis] = index % array.shape[axis];
        index /= array.shape[axis];
    }
    return array.name + to_text(at);
}

// Checks that the numbers of an int32 array lie in `low` to `high`. An array that is missing or has no data
// passes.
std::optional<Refusal> check_numbers(const Arrays& given, std::string_view name, int64_t low, int64_t high,
                                     const std::string& meaning) {
    const Array* array = find(given, name);
    if (!array || !array->data) return {};
    const auto numbers = array->as<int32_t>();
    for (size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] < low || numbers[i] > high)
            return Refusal{place(*array, static_cast<int64_t>(i)), std::to_string(numbers[i]),
                           "must be " + std::to_string(low) + " to " + std::to_string(high) + ", " + meaning};
    return {};
}

// Checks that offsets start at 0, never decrease and end at the number of synapses.
std::optional<Refusal> check_offsets(const Array& array, std::optional<int64_t> synapses) {
    const auto offsets = array.as<int32_t>();
    if (!array.data || offsets.empty()) return {};
    const auto refuse = [&](size_t i, const std::string& accepted) {
        return Refusal{place(array, static_cast<int64_t>(i)), std::to_string(offsets[i]),
                       "must be " + accepted};
    };
    if (offsets[0] != 0) return refuse(0, "0, the start of the first neuron");
    for (size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] < offsets[i - 1])
            return refuse(i, std::to_string(offsets[i - 1]) + " or more: offsets never decrease");
    if (synapses && offsets.back() != *synapses)
        return refuse(offsets.size() - 1, std::to_string(*synapses) + ", the number of synapses");
    return {};
}

// Finds the number of synapses of the given arrays. Refuses the first array that disagrees.
std::optional<Refusal> count_synapses(const Arrays& given, std::optional<int64_t>& synapses) {
    for (const char* name : {"synapse_targets", "synapse_weights", "synapse_meta"}) {
        const Array* array = find(given, name);
        if (!array) continue;
        if (synapses && array->count() != *synapses)
            return Refusal{name, to_text(array->shape),
                           "must be [" + std::to_string(*synapses) + "], one number per synapse"};
        synapses = array->count();
    }
    return {};
}

std::optional<Refusal> check_synapses(const Parameters& parameters, const Arrays& given) {
    std::optional<int64_t> synapses;
    if (const auto refusal = count_synapses(given, synapses)) return refusal;
    const Array* offsets = find(given, "synapse_offsets");
    if (synapses && !offsets)
        return Refusal{"synapse_offsets", "", "missing, but synapses must come with their offsets"};
    if (offsets)
        if (const auto refusal = check_offsets(*offsets, synapses)) return refusal;
    if (const auto refusal =
            check_numbers(given, "synapse_targets", 0, parameters.integer("outputs") - 1, "an output"))
        return refusal;
    if (!find(given, "synapse_meta")) return {};
    const Array* rates = find(given, "meta_lr");
    if (!rates) return Refusal{"meta_lr", "", "missing, but synapse_meta needs a rate for each number"};
    return check_numbers(given, "synapse_meta", 0, rates->count() - 1, "an index into meta_lr");
}

// A limit of the weights that are updated in place.
Parameter weight_limit(const char* name, const char* meaning) {
    Parameter row = real_parameter(name, meaning, Group::algorithm, 0, -16, 16, Renews::inputs);
    row.initial = row.word = "none";
    return only_backward(only_for("gradient_policy", {"internal"}, std::move(row)));
}

}  // namespace

bool is_full(const Parameters& parameters) { return parameters.is("connectivity", "full"); }
bool is_sparse(const Parameters& parameters) { return parameters.is("connectivity", "sparse"); }

bool normalises(const Parameters& parameters) {
    return runs_backward(parameters) && parameters.is("gradient_policy", "external") &&
           parameters.flag("normalise_gradients");
}

WeightLimits::WeightLimits(const Parameters& parameters) {
    const auto set = [&](float& limit, const char* name) {
        if (!parameters.is(name, "none")) limit = static_cast<float>(parameters.real(name));
    };
    set(least, "weight_min");
    set(most, "weight_max");
}

int64_t row_bits(const Parameters& parameters) {
    const int64_t anchors = parameters.integer("anchors_per_detector");
    return parameters.has("positional_bits") ? 2 * anchors + parameters.integer("positional_bits") : anchors;
}

int64_t neurons(const Parameters& parameters) {
    return parameters.integer("detectors") << row_bits(parameters);
}

std::vector<Parameter> shape_parameters(const ShapeDefaults& sizes) {
    using enum Group;
    return {
        titled(sizes.batch_title,
               integer_parameter("batch", "Inputs computed in parallel.", shape, sizes.batch_title,
                                 sizes.batch, 1, sizes.most_batch, Step::powers_of_two, Renews::inputs)),
        integer_parameter("inputs", "Input numbers that the detectors compare.", shape, "inputs",
                          sizes.inputs, 1, 65536, Step::powers_of_two, Renews::inputs),
        integer_parameter("outputs", "Output numbers, sums of table rows.", shape, "outputs", sizes.outputs,
                          1, 65536, Step::powers_of_two, Renews::inputs),
        cited(source + ", 1. check_detectors_logic",
              integer_parameter("detectors", "Detectors, each with its own table.", shape, "detectors",
                                sizes.detectors, 1, 16384, Step::powers_of_two, Renews::inputs)),
        cited(source + ", 1. check_detectors_logic",
              integer_parameter("anchors_per_detector",
                                "Pairs of inputs that a detector compares: bits of its lookup index.", shape,
                                "bits", sizes.anchors_per_detector, 1, 16, Step::linear, Renews::inputs)),
    };
}

std::vector<Parameter> common_parameters() {
    using enum Group;
    return {
        cited(source + ", 3 and 4",
              choice_parameter(
                  "connectivity",
                  "full: a row of a table reaches every output. sparse: a row has its own synapses. "
                  "Input arrays of either form set it.",
                  shape, "full", {"full", "sparse"}, Renews::inputs)),
        only_for(
            "connectivity", {"sparse"},
            integer_parameter("synapses_per_neuron", "Most synapses generated per row, if none are given.",
                              shape, "synapses", 4, 0, 4096, Step::linear, Renews::inputs)),
        cited(source + ", 3. fill_outputs_by_forward_groups_logic",
              only_on_cuda(only_for(
                  "connectivity", {"sparse"},
                  integer_parameter("synapse_group_size", "Synapses of a row processed at a time.", tiling,
                                    "synapses", 32, 1, 1024, Step::powers_of_two, Renews::kernels)))),
        cited(source + ", Launch Grid",
              only_on_cuda(choice_parameter("block_size", "Threads per thread block.", tiling, 256,
                                            {64, 128, 256, 512, 1024}, Renews::kernels))),
        cited(
            source + ", Launch Grid",
            automatic(integer_parameter(
                "output_blocks",
                "Number of parts of the outputs, one thread each; auto: parts of 32 on CUDA, and on the CPU "
                "one part, as its vectors take many outputs.",
                tiling, "blocks", 1, 1, 65536, Step::powers_of_two, Renews::kernels))),
        titled("tolerance",
               real_parameter("eps",
                              "Tolerance of comparisons: a bit is set where a difference is above eps, and a "
                              "gradient du of magnitude eps or less is dropped.",
                              numerics, 0, 0, 4, Renews::inputs)),
        cited(source + ", 18. convert_integers_to_floats_logic",
              choice_parameter(
                  "arithmetic",
                  "float: the last bits of sums depend on the order. integer: sums are exact in any order.",
                  numerics, "float", {"float", "integer"}, Renews::inputs)),
        cited(source + ", 18. convert_integers_to_floats_logic",
              only_for("arithmetic", {"integer"},
                       real_parameter("rescale", "A term times rescale 2^20 is rounded to an integer.",
                                      numerics, 0.0625, 1e-6, 1024, Renews::inputs))),
        cited(source + ", 16. gather_w_gradients_for_sequence_logic",
              titled("learning_rate",
                     only_backward(real_parameter("lr", "A factor of the gradients of the weights.", numerics,
                                                  1, 0, 1000, Renews::inputs)))),
        only_backward(choice_parameter(
            "gradient_policy",
            "external: returns the gradients of the weights. internal: also subtracts them from the "
            "weights in place.",
            algorithm, "external", {"external", "internal"}, Renews::inputs)),
        only_backward(only_for(
            "gradient_policy", {"external"},
            flag_parameter("normalise_gradients",
                           "Divides dweights by its largest magnitude, but at least by 1e-16; on sequences "
                           "dpositional likewise.",
                           algorithm, false, Renews::inputs))),
        weight_limit("weight_min", "Least weight that an update leaves; smaller ones are set to it."),
        weight_limit("weight_max", "Largest weight that an update leaves; larger ones are set to it."),
        backward_parameter(),
    };
}

std::vector<ArraySpec> table_arrays(const std::string& rows) {
    return {
        {.name = "anchors",
         .meaning = "Pairs of inputs that each detector compares; -1 skips the pair.",
         .dtype = Dtype::int32,
         .dimensions = {"detectors", "anchors_per_detector", "2"},
         .shape = anchors_shape,
         .rounded = false},
        {.name = "weights",
         .meaning = "Contribution of each table row to each output.",
         .dimensions = {"detectors", rows, "outputs"},
         .shape = weights_shape,
         .used = is_full},
        {.name = "synapse_offsets",
         .meaning = "First synapse of each row, then the end of the last row.",
         .dtype = Dtype::int32,
         .dimensions = {"detectors * " + rows + " + 1"},
         .shape = offsets_shape,
         .used = is_sparse,
         .rounded = false},
        {.name = "synapse_targets",
         .meaning = "Output that each synapse adds to.",
         .dtype = Dtype::int32,
         .dimensions = {"synapses"},
         .shape = synapses_shape,
         .used = is_sparse,
         .rounded = false},
        {.name = "synapse_weights",
         .meaning = "Contribution of each synapse.",
         .dimensions = {"synapses"},
         .shape = synapses_shape,
         .used = is_sparse},
        {.name = "synapse_meta",
         .meaning = "Index into meta_lr of each synapse, a factor of its learning rate.",
         .role = Role::optional,
         .dtype = Dtype::int32,
         .dimensions = {"synapses"},
         .shape = synapses_shape,
         .used = is_sparse,
         .rounded = false},
        {.name = "meta_lr",
         .meaning = "Rates that synapse_meta refers to.",
         .role = Role::optional,
         .dimensions = {"metas"},
         .shape = metas_shape,
         .used = is_sparse},
    };
}

std::vector<ArraySpec> table_gradients(const std::string& rows) {
    const std::vector<std::string> dimensions = {"detectors", rows, "outputs"};  // [synapses] if sparse
    return {
        {.name = "dweights",
         .meaning =
             "Gradient of the weights, times the learning rate, in the shape of weights or synapse_weights.",
         .role = Role::output,
         .dimensions = dimensions,
         .shape = gradient_shape,
         .used = runs_backward},
        {.name = "weights_after",
         .meaning = "Weights minus the learning rate times their gradients, within the limits.",
         .role = Role::output,
         .dimensions = dimensions,
         .shape = gradient_shape,
         .used = writes_weights},
    };
}

bool is_exact(const Variant&, const Parameters& parameters) { return adds_floats(parameters); }

bool adds_floats(const Parameters& parameters) { return !parameters.is("arithmetic", "integer"); }

Rounding rounding(const Variant&, const Parameters& parameters, Backend) {
    if (!parameters.is("arithmetic", "integer")) return {};
    return {.arithmetic = 0, .narrow = unit_of(Storage::f32)};
}

// Given arrays of one form, full or sparse, choose that form. If both are given, check_inputs refuses them.
void settle(Parameters& parameters, const Arrays& given, Backend backend) {
    const bool sparse =
        find(given, "synapse_offsets") || find(given, "synapse_targets") || find(given, "synapse_weights");
    const bool full = find(given, "weights");
    if (sparse != full) parameters.set("connectivity", sparse ? "sparse" : "full");
    // A thread goes through all synapses of a sparse row even if it needs only those of one output block.
    const bool whole = backend == Backend::cpu || is_sparse(parameters);
    const int64_t outputs_a_block = whole ? parameters.integer("outputs") : 32;
    settle_automatic(parameters, "output_blocks",
                     ceil_divide(parameters.integer("outputs"), outputs_a_block));
    settle_backward(parameters, given, "dy");
}

std::optional<Refusal> check(const Parameters& parameters) {
    const int64_t outputs = parameters.integer("outputs");
    if (parameters.integer("output_blocks") > outputs)
        return Refusal{"output_blocks", to_text(parameters.at("output_blocks")),
                       "must be auto or 1 to " + std::to_string(outputs) + ", the number of outputs"};
    if (const WeightLimits limits(parameters); writes_weights(parameters) && limits.least > limits.most)
        return Refusal{"weight_min", to_text(parameters.at("weight_min")),
                       "must be up to weight_max = " + to_text(parameters.at("weight_max"))};
    // Offsets and targets are int32, which limits the number of synapses.
    const int64_t most = std::numeric_limits<int32_t>::max();
    const int64_t synapses = neurons(parameters) * parameters.integer("synapses_per_neuron");
    if (is_sparse(parameters) && synapses > most)
        return Refusal{"synapses_per_neuron", to_text(parameters.at("synapses_per_neuron")),
                       "must be up to " + std::to_string(most / neurons(parameters)) + " with " +
                           std::to_string(neurons(parameters)) + " neurons: offsets are 32-bit"};
    return {};
}

std::optional<Refusal> check_inputs(const Parameters& parameters, const Arrays& given) {
    for (const char* name : {"synapse_offsets", "synapse_targets", "synapse_weights"})
        if (find(given, name) && find(given, "weights"))
            return Refusal{name, "", "given together with weights, but it must be one or the other"};
    if (const auto refusal = check_numbers(given, "anchors", -1, parameters.integer("inputs") - 1,
                                           "an input, or -1 to skip the pair"))
        return refusal;
    return is_sparse(parameters) ? check_synapses(parameters, given) : std::nullopt;
}

}  // namespace sawtooth::lut_table
