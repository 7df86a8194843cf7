#include "kernels/lut/schema.h"

#include <algorithm>
#include <limits>

#include "kernels/core/common_parameters.h"

namespace sawtooth::lut {
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

// Synapses are counted by what is there: the end of the offsets, or, in a dry plan, the length of what they
// index.
Shape synapses_shape(const Parameters&, const Arrays& inputs) {
    if (const Array* offsets = find(inputs, "synapse_offsets");
        offsets && offsets->data && offsets->count() > 0)
        return {std::max<int64_t>(offsets->as<int32_t>().back(), 0)};
    for (const char* name : {"synapse_targets", "synapse_weights"})
        if (const Array* array = find(inputs, name)) return {array->count()};
    return {0};
}

Shape metas_shape(const Parameters&, const Arrays& inputs) {
    const Array* rates = find(inputs, "meta_lr");
    return {rates ? rates->count() : 0};
}

Shape gradient_shape(const Parameters& parameters, const Arrays& inputs) {
    return is_full(parameters) ? row_shape(parameters) : synapses_shape(parameters, inputs);
}

bool writes_weights(const Parameters& parameters) {
    return runs_backward(parameters) && parameters.is("gradient_policy", "internal");
}

// "anchors[3, 1, 0]": the place of element `index` of the array.
std::string place(const Array& array, int64_t index) {
    Shape at(array.shape.size());
    for (size_t axis = at.size(); axis-- > 0;) {
        at[axis] = index % array.shape[axis];
        index /= array.shape[axis];
    }
    return array.name + to_text(at);
}

// Every number of an int32 array from `low` to `high`; an array that is not there, or has no data, is fine.
std::optional<Refusal> check_numbers(const Arrays& given, std::string_view name, int64_t low, int64_t high,
                                     const std::string& meaning) {
    const Array* array = find(given, name);
    if (!array || !array->data) return {};
    const auto numbers = array->as<int32_t>();
    for (size_t i = 0; i < numbers.size(); ++i)
        if (numbers[i] < low || numbers[i] > high)
            return Refusal{
                place(*array, static_cast<int64_t>(i)), std::to_string(numbers[i]),
                "accepted is " + std::to_string(low) + " to " + std::to_string(high) + ", " + meaning};
    return {};
}

// Offsets start at 0, never fall and end at the number of synapses.
std::optional<Refusal> check_offsets(const Array& array, std::optional<int64_t> synapses) {
    const auto offsets = array.as<int32_t>();
    if (!array.data || offsets.empty()) return {};
    const auto refuse = [&](size_t i, const std::string& accepted) {
        return Refusal{place(array, static_cast<int64_t>(i)), std::to_string(offsets[i]),
                       "accepted is " + accepted};
    };
    if (offsets[0] != 0) return refuse(0, "0, where the first neuron's synapses start");
    for (size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] < offsets[i - 1])
            return refuse(i, std::to_string(offsets[i - 1]) + " or more, as offsets never fall");
    if (synapses && offsets.back() != *synapses)
        return refuse(offsets.size() - 1, std::to_string(*synapses) + ", the number of synapses");
    return {};
}

// How many synapses the given arrays hold; the first that disagrees with the one before is refused.
std::optional<Refusal> count_synapses(const Arrays& given, std::optional<int64_t>& synapses) {
    for (const char* name : {"synapse_targets", "synapse_weights", "synapse_meta"}) {
        const Array* array = find(given, name);
        if (!array) continue;
        if (synapses && array->count() != *synapses)
            return Refusal{name, to_text(array->shape),
                           "accepted is [" + std::to_string(*synapses) + "], a number for each synapse"};
        synapses = array->count();
    }
    return {};
}

std::optional<Refusal> check_synapses(const Parameters& parameters, const Arrays& given) {
    std::optional<int64_t> synapses;
    if (const auto refusal = count_synapses(given, synapses)) return refusal;
    const Array* offsets = find(given, "synapse_offsets");
    if (synapses && !offsets)
        return Refusal{"synapse_offsets", "", "missing; accepted are synapses together with their offsets"};
    if (offsets)
        if (const auto refusal = check_offsets(*offsets, synapses)) return refusal;
    if (const auto refusal =
            check_numbers(given, "synapse_targets", 0, parameters.integer("outputs") - 1, "an output"))
        return refusal;
    if (!find(given, "synapse_meta")) return {};
    const Array* rates = find(given, "meta_lr");
    if (!rates) return Refusal{"meta_lr", "", "missing; accepted is a rate for each number in synapse_meta"};
    return check_numbers(given, "synapse_meta", 0, rates->count() - 1, "a place in meta_lr");
}

}  // namespace

bool is_full(const Parameters& parameters) { return parameters.is("connectivity", "full"); }
bool is_sparse(const Parameters& parameters) { return parameters.is("connectivity", "sparse"); }

int64_t row_bits(const Parameters& parameters) {
    const int64_t anchors = parameters.integer("anchors_per_detector");
    return parameters.has("positional_bits") ? 2 * anchors + parameters.integer("positional_bits") : anchors;
}

int64_t neurons(const Parameters& parameters) {
    return parameters.integer("detectors") << row_bits(parameters);
}

std::vector<Parameter> shape_parameters(const Sizes& sizes) {
    using enum Group;
    return {
        integer_parameter("batch", "Inputs that are computed side by side.", shape, "items", sizes.batch, 1,
                          sizes.most_batch, Step::powers_of_two, Renews::inputs),
        integer_parameter("inputs", "Numbers that the detectors compare.", shape, "inputs", sizes.inputs, 1,
                          65536, Step::powers_of_two, Renews::inputs),
        integer_parameter("outputs", "Numbers that the tables add to.", shape, "outputs", sizes.outputs, 1,
                          65536, Step::powers_of_two, Renews::inputs),
        cited(source + ", 1. check_detectors_logic",
              integer_parameter("detectors", "Detectors, each with a table of its own.", shape, "detectors",
                                sizes.detectors, 1, 16384, Step::powers_of_two, Renews::inputs)),
        cited(source + ", 1. check_detectors_logic",
              integer_parameter("anchors_per_detector",
                                "Pairs of inputs that a detector compares: the bits of its lookup index.",
                                shape, "bits", sizes.anchors_per_detector, 1, 16, Step::linear,
                                Renews::inputs)),
    };
}

std::vector<Parameter> common_parameters() {
    using enum Group;
    return {
        cited(source + ", 3 and 4",
              choice_parameter(
                  "connectivity",
                  "Whether a row of a table reaches every output (full) or has synapses of its own "
                  "(sparse); arrays of either form set it.",
                  shape, "full", {"full", "sparse"}, Renews::inputs)),
        only_for("connectivity", {"sparse"},
                 integer_parameter("synapses_per_neuron",
                                   "The most synapses that are drawn for a row, where none are given.", shape,
                                   "synapses", 4, 0, 4096, Step::linear, Renews::inputs)),
        cited(source + ", 3. fill_outputs_by_forward_groups_logic",
              only_for(
                  "connectivity", {"sparse"},
                  integer_parameter("synapse_group_size", "Synapses of a row that are taken at a time.",
                                    tiling, "synapses", 32, 1, 1024, Step::powers_of_two, Renews::kernels))),
        cited(source + ", Launch Grid", choice_parameter("block_size", "Threads a thread block.", tiling, 256,
                                                         {64, 128, 256, 512, 1024}, Renews::kernels)),
        cited(source + ", Launch Grid",
              automatic(integer_parameter(
                  "output_blocks",
                  "Parts into which the outputs are cut, a thread for each; auto: parts of 32.", tiling,
                  "blocks", 1, 1, 65536, Step::powers_of_two, Renews::kernels))),
        cited(source + ", 18. convert_integers_to_floats_logic",
              choice_parameter(
                  "arithmetic",
                  "Whether sums are floats, whose last bits depend on the order, or integers, whose do "
                  "not.",
                  numerics, "float", {"float", "integer"}, Renews::kernels)),
        cited(
            source + ", 18. convert_integers_to_floats_logic",
            only_for("arithmetic", {"integer"},
                     real_parameter("rescale", "What a term is multiplied with before it becomes an integer.",
                                    numerics, 0.0625, 1e-6, 1024, Renews::kernels))),
        cited(
            source + ", 16. gather_w_gradients_for_sequence_logic",
            only_backward(real_parameter("lr", "Learning rate that multiplies the gradients of the weights.",
                                         numerics, 1, 0, 1000, Renews::inputs))),
        only_backward(choice_parameter(
            "gradient_policy",
            "Whether gradients of the weights are only returned (external) or also taken from the "
            "weights in place (internal).",
            algorithm, "external", {"external", "internal"}, Renews::inputs)),
        backward_parameter(),
    };
}

std::vector<ArraySpec> table_arrays(const std::string& rows) {
    return {
        {.name = "anchors",
         .meaning = "Pairs of inputs that each detector compares; -1: the pair is skipped.",
         .dtype = Dtype::int32,
         .dimensions = {"detectors", "anchors_per_detector", "2"},
         .shape = anchors_shape,
         .rounded = false},
        {.name = "weights",
         .meaning = "What each row of each table adds to each output.",
         .dimensions = {"detectors", rows, "outputs"},
         .shape = weights_shape,
         .used = is_full},
        {.name = "synapse_offsets",
         .meaning = "Where the synapses of each row start, and where the last ones end.",
         .dtype = Dtype::int32,
         .dimensions = {"detectors * " + rows + " + 1"},
         .shape = offsets_shape,
         .used = is_sparse,
         .rounded = false},
        {.name = "synapse_targets",
         .meaning = "The output that each synapse adds to.",
         .dtype = Dtype::int32,
         .dimensions = {"synapses"},
         .shape = synapses_shape,
         .used = is_sparse,
         .rounded = false},
        {.name = "synapse_weights",
         .meaning = "What each synapse adds.",
         .dimensions = {"synapses"},
         .shape = synapses_shape,
         .used = is_sparse},
        {.name = "synapse_meta",
         .meaning = "Which rate of meta_lr multiplies the learning rate of each synapse.",
         .role = Role::optional,
         .dtype = Dtype::int32,
         .dimensions = {"synapses"},
         .shape = synapses_shape,
         .used = is_sparse,
         .rounded = false},
        {.name = "meta_lr",
         .meaning = "Rates that synapses choose from.",
         .role = Role::optional,
         .dimensions = {"metas"},
         .shape = metas_shape,
         .used = is_sparse},
    };
}

std::vector<ArraySpec> table_gradients(const std::string& rows) {
    const std::vector<std::string> dimensions = {"detectors", rows, "outputs"};  // [synapses] where sparse
    return {
        {.name = "dweights",
         .meaning =
             "Gradient of the weights, times the learning rate, in the shape of weights or synapse_weights.",
         .role = Role::output,
         .dimensions = dimensions,
         .shape = gradient_shape,
         .used = runs_backward},
        {.name = "weights_after",
         .meaning = "The weights less their gradients times the learning rate.",
         .role = Role::output,
         .dimensions = dimensions,
         .shape = gradient_shape,
         .used = writes_weights},
    };
}

// Arrays of one form choose it; where both are given, `check_inputs` refuses.
void settle(Parameters& parameters, const Arrays& given, Backend) {
    const bool sparse =
        find(given, "synapse_offsets") || find(given, "synapse_targets") || find(given, "synapse_weights");
    if (sparse) parameters.set("connectivity", "sparse");
    if (find(given, "weights")) parameters.set("connectivity", "full");
    settle_automatic(parameters, "output_blocks", (parameters.integer("outputs") + 31) / 32);
    settle_backward(parameters, given, "dy");
}

std::optional<Refusal> check(const Parameters& parameters) {
    const int64_t outputs = parameters.integer("outputs");
    if (parameters.integer("output_blocks") > outputs)
        return Refusal{"output_blocks", to_text(parameters.at("output_blocks")),
                       "accepted is auto or 1 to " + std::to_string(outputs) + ", the number of outputs"};
    // Offsets and targets are int32.
    const int64_t most = std::numeric_limits<int32_t>::max();
    const int64_t synapses = neurons(parameters) * parameters.integer("synapses_per_neuron");
    if (is_sparse(parameters) && synapses > most)
        return Refusal{"synapses_per_neuron", to_text(parameters.at("synapses_per_neuron")),
                       "accepted is up to " + std::to_string(most / neurons(parameters)) + " with " +
                           std::to_string(neurons(parameters)) + " neurons, as offsets are 32-bit"};
    return {};
}

std::optional<Refusal> check_inputs(const Parameters& parameters, const Arrays& given) {
    for (const char* name : {"synapse_offsets", "synapse_targets", "synapse_weights"})
        if (find(given, name) && find(given, "weights"))
            return Refusal{name, "", "given beside weights; accepted is one of the two forms"};
    if (const auto refusal = check_numbers(given, "anchors", -1, parameters.integer("inputs") - 1,
                                           "an input, or -1 to skip the pair"))
        return refusal;
    return is_sparse(parameters) ? check_synapses(parameters, given) : std::nullopt;
}

}  // namespace sawtooth::lut
