// The table of rules and strategies, the lists of all figures and sweeps, and the story.

#include "kernels/memory/figures/common.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/figures/correctness.h"
#include "kernels/figures/without_arrays.h"
#include "kernels/memory/family.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"
#include "kernels/memory/tensors.h"

namespace sawtooth::memory {
namespace {

// A table that says for which rules each strategy is exact.
Figure table_figure(const Parameters& parameters) {
    Figure figure = new_figure("rules-and-strategies", Place::error, "Rules and variants",
                               "Where each variant equals the exact rule, with readout evolving. Empty: the "
                               "variant does not support the rule.",
                               {}, {});
    static const char* const texts[] = {"exact", "at chunk 1", "in locals", "never"};
    Matrix matrix;
    matrix.kinds = {{"exact", {Ink::Role::accent}},
                    {"exact at chunk 1", {Ink::Role::quiet}},
                    {"exact inside a local memory", {Ink::Role::limit}},
                    {"never exact", {Ink::Role::highlight}}};
    for (const UpdateRule& rule : rules())
        matrix.column_labels.push_back(parameters.is("rule", rule.name) ? "[" + rule.name + "]" : rule.name);
    for (const Strategy& strategy : strategies()) {
        matrix.row_labels.push_back(strategy.name);
        for (const UpdateRule& rule : rules()) {
            const bool goes = strategy.goes_with(rule);
            const int kind = goes ? static_cast<int>(strategy.exact_for(rule)) : -1;
            matrix.cells.push_back(kind);
            matrix.texts.push_back(goes ? texts[kind] : "");
        }
    }
    figure.marks.push_back(std::move(matrix));
    return figure;
}

// The error of a variant; absent if it did not run.
std::optional<double> error_of(const Result& result, const char* name) {
    const VariantResult* const variant = find(result, name);
    return variant && variant->ran() ? reference_error(result, *variant) : std::nullopt;
}

bool frozen_diverges(const Result& result) {
    return error_of(result, "chunkwise_gd").value_or(0) > 1 &&
           error_of(result, "exact_chunk").value_or(1) < 1e-5;
}
bool rescaled_is_bounded(const Result& result) {
    return error_of(result, "chunkwise_gd").value_or(0) > 10 * error_of(result, "lattice_gla").value_or(1e9);
}
bool frozen_is_exact(const Result& result) { return error_of(result, "chunkwise_gd").value_or(1) < 1e-5; }

}  // namespace

bool has_chunks(const std::string& strategy) { return !strategy_named(strategy).walks_by_token(); }

DrawnLine drawn_line(const Array& output, const Parameters& parameters) {
    const LineChooser chooser{memory_family(), "token", {{"batch", "drawn_batch"}, {"d", "drawn_channel"}}};
    return *chooser.line(output, parameters);
}

Drawn::Drawn(const Parameters& parameters)
    : batch(std::min(parameters.integer("drawn_batch"), parameters.integer("batch") - 1)),
      length(parameters.integer("length")),
      strategy(parameters.text("drawn_strategy")),
      chunk(strategy_named(strategy).chunk_of(parameters)) {
    boundary = std::min(parameters.integer("drawn_boundary"), (length + chunk - 1) / chunk);
    token = std::min(boundary * chunk, length);
}

std::string Drawn::boundary_words() const {
    return token == length ? fmt::format("{}, boundary {}, after the last token", strategy, boundary)
                           : fmt::format("{}, boundary {}, before token {}", strategy, boundary, token);
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    const auto powers_to = [](int64_t last) {
        std::vector<Value> values;
        for (int64_t chunk = 1; chunk <= last; chunk *= 2) values.emplace_back(chunk);
        return values;
    };
    FigureSweep chunks{
        "chunk",      "error and time against chunk", {{"chunk", powers_to(1024), {"C_G"}}}, {}, {},
        chunk_figures};
    // The sequence is long enough for many long chunks, unless a token of the rule is too expensive.
    const int64_t d = parameters.integer("d"), a_token = Sizes(parameters).window * d * d;
    const int64_t length = a_token > 1 << 14 ? parameters.integer("length") : 8192;
    // In a narrow memory tokens share the same places sooner, so frozen steps add up.
    const int64_t narrow = rule_of(parameters).is(State::trellis) ? parameters.integer("compress") : 4;
    std::vector<Value> widths = {d};
    if (narrow < d) widths.emplace_back(narrow);
    FigureSweep growth{"growth",
                       "error against chunk until it diverges",
                       {{"chunk", powers_to(std::max<int64_t>(length / 2, 1)), {}}, {"d", widths, {}}},
                       {{"batch", int64_t{1}}, {"length", length}, {"levels", "none"}},
                       {"chunkwise_gd"},
                       growth_figures};
    const std::vector<Value> ways = memory_family().parameter("launch")->choices;
    FigureSweep launches{"launch",       "ways to launch", {{"launch", ways, {}}}, {{"levels", "none"}},
                         {"sequential"}, launch_figures,   Backend::cuda};
    FigureSweep readouts{"readout",
                         "error by token, both readouts",
                         {{"readout", memory_family().parameter("readout")->choices}},
                         {{"levels", "none"}},
                         {"chunkwise_gd"},
                         readout_figures};
    return {std::move(chunks), std::move(readouts), std::move(growth), std::move(launches)};
}

std::vector<Figure> figures(const Result& result, const View& view) {
    std::vector<Figure> all = sawtooth_figures(result, view);
    const auto add = [&](std::vector<Figure> more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(token_figures(result, view));
    all.push_back(table_figure(result.parameters));
    add(has_arrays(result) ? state_figures(result) : states_without_arrays(result));
    add(level_figures(result, view));
    return all;
}

std::vector<StoryRow> story() {
    return {{{"sawtooth"}, 80},
            {{"sawtooth-zoom"}, 100},
            {{"error-against-chunk", "time-against-chunk", "time-against-error", "prediction",
              "utilisation-against-chunk"},
             220},
            {{"output-y", "error-y", "error-readouts"}, 180}};
}

About about() {
    return {
        "A memory M maps keys to values. Each token updates M with its prediction error e = M k - v. With "
        "one "
        "launch per token, each launch waits for the previous one and workers idle in between: the "
        "sawtooth. A chunk takes all its prediction errors from the memory at its start: fewer launches, but "
        "an approximation that gets worse as the chunk grows. exact_chunk computes the true prediction "
        "errors by solving a small triangular system. sequential_persistent walks token by token in one "
        "launch, without gaps; on an H200 it takes 369 us where exact_chunk takes 71 us (rule delta, batch "
        "4, length 1024, d 64: docs/speed-h200.csv).",
        "e = M k - v\nS = eta S - theta e k^T\nM = (1 - alpha) M + S\ny = M q",
        {{"d = 4, chunk 256, length 1024: frozen errors diverge",
          "Error against chunk: chunkwise_gd is more than 100 % off, exact_chunk stays exact. A narrow "
          "memory "
          "has no room for 256 independent updates.",
          {{"d", int64_t{4}}, {"chunk", int64_t{256}}, {"length", int64_t{1024}}},
          frozen_diverges},
         {"chunk 1: nothing is frozen",
          "Error: chunkwise_gd agrees with sequential up to rounding. Times: see what its advantage was.",
          {{"chunk", int64_t{1}}},
          frozen_is_exact},
         {"rule hebbian: exact at every chunk",
          "Error against chunk: updates do not depend on the memory, so chunks of any size are exact.",
          {{"rule", "hebbian"}},
          frozen_is_exact},
         {"rule trellis, chunk 64: rescaled slots stay bounded, but not right",
          "Error against chunk: chunkwise_gd diverges. lattice_gla scales the rows of its slots at every "
          "boundary, so they cannot grow, but it is more than 100 % off even at chunk 1.",
          {{"rule", "trellis"}, {"chunk", int64_t{64}}},
          rescaled_is_bounded}},
    };
}

}  // namespace sawtooth::memory
