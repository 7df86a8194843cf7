#include "app/engine/run/definitions.h"

#include <algorithm>

#include "app/engine/machine/memory.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/integers.h"

namespace sawtooth {
namespace {

// Every machine computes several references at once if they need no more bytes together.
constexpr int64_t always_fits = int64_t{1} << 30;

// The number of references of that size to compute at once in that much memory.
int threads_within(int64_t memory, int64_t reference_bytes) {
    const int64_t that_fit = memory / std::max<int64_t>(reference_bytes, 1);
    return static_cast<int>(std::clamp<int64_t>(that_fit, 1, core_count()));
}

int64_t bytes_of(const std::vector<Expected>& outputs) {
    int64_t bytes = 0;
    for (const Expected& output : outputs) bytes += output.want.bytes();
    return bytes;
}

std::map<std::string, Value> read_by_definitions(const Configuration& configuration, Backend backend) {
    const Family& family = *configuration.family;
    const Parameters acting = family.acting(configuration.parameters, backend);
    std::map<std::string, Value> values;
    for (const std::string& name : family.definition_reads) values[name] = acting.at(name);
    return values;
}

// The exact outputs under their plain names: taken from the reference if possible, otherwise computed.
Outcome<Arrays> exact_outputs(const Definitions::Source& source, const DefinitionRequest& request) {
    if (source.reference.empty() || !request.variant.is_exact(request.parameters))
        return source.configuration.family->definition(request);
    Arrays outputs;
    for (Array array : source.reference) {
        const size_t slash = array.name.find('/');
        if (slash != std::string::npos) {
            if (array.name.substr(0, slash) != request.variant.name) continue;
            array.name = array.name.substr(slash + 1);
        } else if (find(source.reference, request.variant.name + "/" + array.name)) {
            continue;
        }
        const auto& given = request.variant.outputs;
        if (std::find(given.begin(), given.end(), array.name) != given.end())
            outputs.push_back(std::move(array));
    }
    return outputs;
}

DefinitionRequest request_of(const Definitions::Source& source, const Variant& variant,
                             std::stop_token stop) {
    return {.variant = variant,
            .parameters = source.configuration.parameters,
            .inputs = source.inputs,
            .stores_extras = source.stores_extras,
            .stop = std::move(stop)};
}

int threads_for(const Definitions::Source& source, const std::vector<Expected>& outputs) {
    if (source.threads > 0) return source.threads;
    const Configuration& configuration = source.configuration;
    const auto& bytes_of_definition = configuration.family->definition_bytes;
    const int64_t computing = bytes_of_definition ? bytes_of_definition(configuration.parameters) : 0;
    return threads_within(std::max(always_fits, free_memory_bytes() / 8),
                          saturating_add(bytes_of(outputs), computing));
}

Rounding rounding_for(const Definitions::Source& source, const Variant& variant) {
    return rounding_of(*source.configuration.family, variant, source.configuration.parameters,
                       source.backend);
}

std::optional<Error> set_spread(const Definitions::Source& source, const DefinitionRequest& request,
                                int draws, std::vector<Expected>& outputs) {
    return add_spread(*source.configuration.family, request, rounding_for(source, request.variant),
                      threads_for(source, outputs), outputs, draws);
}

// Draws what a verdict on `one` of the outputs that is not final still needs.
std::optional<Error> draw_more(const Definitions::Source& source, const DefinitionRequest& request,
                               const Expected& one, std::vector<Expected>& outputs) {
    if (one.draws < few_draws || !one.may_diverge || !one.steady_spread.empty())
        return set_spread(source, request, draws_after(one.draws), outputs);
    return add_steady_spread(*source.configuration.family, request, rounding_for(source, request.variant),
                             threads_for(source, outputs), outputs);
}

const Expected* expected_of(const Array& output, const std::vector<Expected>& expected) {
    const auto found = std::find_if(expected.begin(), expected.end(), [&](const Expected& one) {
        return one.want.name == output.name && one.want.whole_shape() == output.shape;
    });
    return found == expected.end() ? nullptr : &*found;
}

}  // namespace

void Definitions::renew(const Configuration& configuration, Backend backend) {
    const auto parameters = read_by_definitions(configuration, backend);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.parameters != parameters; });
}

size_t Definitions::index_of(const Source& source, const Variant& variant) const {
    const Rounding rounding = rounding_for(source, variant);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.definition == variant.definition && entry.rounding == rounding &&
               entry.stores_extras == source.stores_extras;
    });
    return static_cast<size_t>(found - entries_.begin());
}

const std::vector<Expected>* Definitions::known(const Source& source, const Variant& variant) const {
    const size_t index = index_of(source, variant);
    return index < entries_.size() ? &entries_[index].outputs : nullptr;
}

Outcome<std::vector<Expected>*> Definitions::find(const Source& source, const Variant& variant,
                                                  std::stop_token stop) {
    if (const size_t index = index_of(source, variant); index < entries_.size())
        return &entries_[index].outputs;
    const DefinitionRequest request = request_of(source, variant, std::move(stop));
    auto exact = exact_outputs(source, request);
    if (!exact) return exact.error();
    Entry entry{variant.definition,
                rounding_for(source, variant),
                read_by_definitions(source.configuration, source.backend),
                source.stores_extras,
                {}};
    for (Array& array : *exact) entry.outputs.push_back({std::move(array)});
    if (auto error = set_spread(source, request, first_draws, entry.outputs)) return *error;
    entries_.push_back(std::move(entry));
    return &entries_.back().outputs;
}

OutputVerdict verdict_on(const Array& output, const Variant& variant, const Definitions::Source& source,
                         const std::vector<Expected>& expected) {
    const Family& family = *source.configuration.family;
    const Parameters& parameters = source.configuration.parameters;
    const Expected* const own = expected_of(output, expected);
    if (!own) return {.output = output.name};
    OutputVerdict verdict = judge(output, *own, rounding_for(source, variant),
                                  storage_of(*family.array(output.name), parameters));
    if (!is_final(verdict, *own)) return {.output = output.name};
    if (verdict.worst)
        verdict.worst->where = tile_words(family, variant, output.name, parameters, source.backend,
                                          output.shape, verdict.worst->index);
    return verdict;
}

Outcome<std::vector<OutputVerdict>> verdicts_on(const Arrays& outputs, const Variant& variant,
                                                const Definitions::Source& source,
                                                std::vector<Expected>& expected, std::stop_token stop) {
    std::vector<OutputVerdict> verdicts;
    const DefinitionRequest request = request_of(source, variant, std::move(stop));
    for (const Array& output : outputs) {
        OutputVerdict verdict = verdict_on(output, variant, source, expected);
        const Expected* const own = expected_of(output, expected);
        while (own && verdict.verdict == Verdict::pending) {
            if (auto error = draw_more(source, request, *own, expected)) return *error;
            verdict = verdict_on(output, variant, source, expected);
        }
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

const Array* reference_of(const Arrays& reference, const std::string& variant, const Array& output) {
    const Array* wanted = sawtooth::find(reference, variant + "/" + output.name);
    if (!wanted) wanted = sawtooth::find(reference, output.name);
    return wanted && wanted->whole_shape() == output.shape ? wanted : nullptr;
}

// This is the minimum: with more free memory, more references are computed at once. A definition keeps its
// exact outputs, half as many bytes of spread, and as many of a steady spread if it may diverge. While it is
// computed, there are also the sums of squares and the draws of all threads, each with the exact numbers that
// it may settle on.
int64_t judging_bytes(int64_t reference_bytes, int64_t computing_bytes, int64_t definitions,
                      bool may_diverge) {
    const int64_t threads = threads_within(always_fits, saturating_add(reference_bytes, computing_bytes));
    const int64_t halves = saturating_multiply(may_diverge ? 4 : 3, definitions) + 2 * (1 + threads);
    return saturating_add(saturating_multiply(reference_bytes / 2 + 1, halves),
                          saturating_multiply(computing_bytes, 2 * threads));
}

}  // namespace sawtooth
