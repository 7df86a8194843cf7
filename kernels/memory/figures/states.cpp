// The memory at one boundary, and the gates of the next chunk.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/pool.h"
#include "kernels/figures/without_arrays.h"
#include "kernels/memory/family.h"
#include "kernels/memory/figures/common.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

// With more operations the window would wait for the state.
constexpr double most_operations = 1e9;
constexpr int64_t most_tokens_drawn = 256;

// The drawn sequence of an input, up to the drawn boundary.
Array cut_input(const Array& array, const ArraySpec& spec, const Drawn& drawn) {
    if (spec.dimensions.front() != "batch") return array;
    const bool has_tokens = spec.dimensions.size() > 1 && spec.dimensions[1] == "length";
    Shape shape = array.shape;
    shape[0] = 1;
    const int64_t whole = count_of(shape);
    if (has_tokens) shape[1] = drawn.token;
    Array cut = Array::uninitialised(array.name, array.dtype, shape);
    std::copy_n(array.as<float>().begin() + drawn.batch * whole, cut.count(), cut.as<float>().begin());
    return cut;
}

Arrays cut_inputs(const Result& result, const Drawn& drawn) {
    Arrays inputs;
    for (const Array& array : result.inputs)
        inputs.push_back(cut_input(array, *memory_family().array(array.name), drawn));
    return inputs;
}

// M and S of the drawn sequence at the drawn boundary, computed by running the drawn strategy over the tokens
// before it. Fails with the reason.
Outcome<Arrays> states_at(const Result& result, const Drawn& drawn) {
    Parameters parameters = result.parameters;
    parameters.set("batch", int64_t{1});
    parameters.set("length", drawn.token);
    parameters.set("levels", std::string("none"));
    const Variant& variant = *memory_family().variant(drawn.strategy);
    if (const auto refused = variant.refusal(result.parameters, Chip{})) return Error::failure(*refused);
    if (drawn.token == 0)
        return Error::failure("boundary 0 is before the first token; choose drawn_boundary 1 or more");
    const Arrays inputs = cut_inputs(result, drawn);
    const auto plan = make_plan({memory_family(), variant, parameters, inputs});
    if (!plan) return plan.error();
    double operations = 0;
    for (const Launch& launch : plan->launches) operations += launch.info->work.operations;
    if (operations > most_operations)
        return Error::failure("it would take too long while dragging; choose an earlier drawn_boundary");
    cpu::Pool pool(1);
    Queue queue{&pool};
    for (const Launch& launch : plan->launches) launch.start(queue);
    return plan->outputs();
}

// A heat map of one state: slots, one per row, or a matrix.
Figure state_figure(const Array& state, const Drawn& drawn, bool is_slots) {
    Figure figure = new_figure("state-" + state.name, Place::outputs,
                               fmt::format("{} of sequence {}: {}", is_slots ? "Slots" : state.name,
                                           drawn.batch, drawn.boundary_words()),
                               is_slots ? "One slot per row." : "Red and blue around zero.",
                               {.label = "column"}, {.label = "row"});
    HeatMap map = heat_map(state.name, state.shape[1], state.shape[2]);
    map.colours = HeatMap::Colours::diverging;
    figure.chosen_by = {"drawn_batch", "drawn_strategy", "drawn_boundary"};
    for (int64_t i = 0; i < state.count(); ++i) map.values.push_back(state.value(i).real());
    figure.marks.push_back(std::move(map));
    return figure;
}

Figure missing_state(const Drawn& drawn, const std::string& reason) {
    Figure figure =
        new_figure("state-m", Place::outputs,
                   fmt::format("Memory of sequence {}: {}", drawn.batch, drawn.boundary_words()), "", {}, {});
    figure.missing = fmt::format("The memory at a boundary as a heat map. Not available: {}.", reason);
    return figure;
}

// The tokens of the chunk that starts at the drawn boundary, or of the last one.
Range drawn_tokens(const Drawn& drawn) {
    const int64_t first =
        drawn.token < drawn.length ? drawn.token : (drawn.length - 1) / drawn.chunk * drawn.chunk;
    return {first, std::min({first + drawn.chunk, drawn.length, first + most_tokens_drawn})};
}

Figure decay_figure(const Result& result, const Drawn& drawn) {
    const Range tokens = drawn_tokens(drawn);
    const auto alpha = find(result.inputs, "alpha")
                           ->as<float>()
                           .subspan(static_cast<size_t>(drawn.batch * drawn.length + tokens.first),
                                    static_cast<size_t>(tokens.count()));
    const std::vector<float> products = decay_products(alpha);
    Figure figure =
        new_figure("decay-products", Place::outputs,
                   fmt::format("Decay products of tokens {} to {}, sequence {}", tokens.first,
                               tokens.last - 1, drawn.batch),
                   "How much of token s remains at token t: the product of 1 - alpha from s + 1 to t.",
                   {.label = "s, writing"}, {.label = "t, reading"});
    HeatMap map = heat_map("remaining", tokens.count(), tokens.count(), tokens.first, tokens.first);
    for (int64_t t = 0; t < tokens.count(); ++t)
        for (int64_t s = 0; s < tokens.count(); ++s)
            map.values.push_back(s <= t ? double{products[static_cast<size_t>(t * tokens.count() + s)]}
                                        : gap);
    figure.marks.push_back(std::move(map));
    return figure;
}

// The gates sigmoid(s_i . k_t) of the slots at the boundary for the keys of the next chunk.
Figure gate_figure(const Result& result, const Drawn& drawn, const Array& slots) {
    const Range tokens = drawn_tokens(drawn);
    const Array& k = *find(result.inputs, "k");
    Figure figure = new_figure("gates", Place::outputs,
                               fmt::format("Gates of slots for tokens {} to {}, sequence {}", tokens.first,
                                           tokens.last - 1, drawn.batch),
                               "The gate of each boundary slot for each token of the chunk: sigmoid(s . k).",
                               {.label = "token"}, {.label = "slot"});
    const int64_t count = slots.shape[1], width = slots.shape[2];
    HeatMap map = heat_map("gate", count, tokens.count(), 0, tokens.first);
    for (int64_t i = 0; i < count; ++i)
        for (int64_t t = tokens.first; t < tokens.last; ++t) {
            double along = 0, square = 0;
            for (int64_t j = 0; j < width; ++j) {
                const double key = k.value((drawn.batch * drawn.length + t) * width + j).real();
                along += slots.value(i * width + j).real() * key;
                square += key * key;
            }
            if (result.parameters.flag("normalise")) along /= std::max(std::sqrt(square), 1e-12);
            map.values.push_back(1 / (1 + std::exp(-along)));
        }
    figure.marks.push_back(std::move(map));
    return figure;
}

}  // namespace

std::vector<float> decay_products(std::span<const float> alpha) {
    const size_t count = alpha.size();
    std::vector<float> products(count * count, 0.0f);
    for (size_t t = 0; t < count; ++t) {
        for (size_t s = 0; s < t; ++s)
            products[t * count + s] = products[(t - 1) * count + s] * (1 - alpha[t]);
        products[t * count + t] = 1;
    }
    return products;
}

std::vector<Figure> states_without_arrays(const Result& result) {
    const bool has_slots = rule_of(result.parameters).is(State::slots);
    const FigureName chunk = has_slots ? FigureName{"gates", Place::outputs, "Gates of slots"}
                                       : FigureName{"decay-products", Place::outputs, "Decay products"};
    return left_out_without_arrays({{"state-m", Place::outputs, "Memory at a boundary"}, chunk});
}

std::vector<Figure> state_figures(const Result& result) {
    const Drawn drawn(result.parameters);
    const bool has_slots = rule_of(result.parameters).is(State::slots);
    const auto states = states_at(result, drawn);
    std::vector<Figure> figures;
    if (!states) figures.push_back(missing_state(drawn, states.error().text));
    if (states)
        for (const Array& state : *states)
            if (state.name != "y") figures.push_back(state_figure(state, drawn, has_slots));
    if (!has_slots) figures.push_back(decay_figure(result, drawn));
    if (has_slots && states) figures.push_back(gate_figure(result, drawn, *find(*states, "m")));
    return figures;
}

}  // namespace sawtooth::memory
