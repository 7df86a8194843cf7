#include "app/engine/run/definitions.h"

#include <algorithm>
#include <thread>

#include "app/engine/machine/memory.h"
#include "kernels/core/integers.h"

namespace sawtooth {
namespace {

// Every machine computes several references at once if they need no more bytes together.
constexpr int64_t always_fits = int64_t{1} << 30;

// The number of references of that size to compute at once in that much memory.
int threads_within(int64_t memory, int64_t reference_bytes) {
    const auto cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
    return static_cast<int>(std::clamp<int64_t>(memory / std::max<int64_t>(reference_bytes, 1), 1, cores));
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

}  // namespace

void Definitions::renew(const Configuration& configuration, Backend backend) {
    const auto parameters = read_by_definitions(configuration, backend);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.parameters != parameters; });
}

const Definitions::Entry* Definitions::entry_of(const Source& source, const Variant& variant) const {
    const Parameters& parameters = source.configuration.parameters;
    const Rounding rounding = rounding_of(*source.configuration.family, variant, parameters, source.backend);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.definition == variant.definition && entry.rounding == rounding &&
               entry.stores_extras == source.stores_extras;
    });
    return found == entries_.end() ? nullptr : &*found;
}

const std::vector<Expected>* Definitions::known(const Source& source, const Variant& variant) const {
    const Entry* const entry = entry_of(source, variant);
    return entry ? &entry->outputs : nullptr;
}

Outcome<const std::vector<Expected>*> Definitions::find(const Source& source, const Variant& variant,
                                                        std::stop_token stop) {
    if (const auto* const outputs = known(source, variant)) return outputs;
    const Family& family = *source.configuration.family;
    const Parameters& parameters = source.configuration.parameters;
    const DefinitionRequest request{.variant = variant,
                                    .parameters = parameters,
                                    .inputs = source.inputs,
                                    .stores_extras = source.stores_extras,
                                    .stop = std::move(stop)};
    auto exact = exact_outputs(source, request);
    if (!exact) return exact.error();
    Entry entry{variant.definition,
                rounding_of(family, variant, parameters, source.backend),
                read_by_definitions(source.configuration, source.backend),
                source.stores_extras,
                {}};
    for (Array& array : *exact) entry.outputs.push_back({std::move(array)});
    const int64_t computing = family.definition_bytes ? family.definition_bytes(parameters) : 0;
    const int64_t bytes = saturating_add(bytes_of(entry.outputs), computing);
    const int threads = source.threads > 0
                            ? source.threads
                            : threads_within(std::max(always_fits, free_memory_bytes() / 8), bytes);
    if (auto error = add_spread(family, request, entry.rounding, threads, entry.outputs)) return *error;
    entries_.push_back(std::move(entry));
    return &entries_.back().outputs;
}

OutputVerdict verdict_on(const Array& output, const Variant& variant, const Definitions::Source& source,
                         const std::vector<Expected>& expected) {
    const Family& family = *source.configuration.family;
    const Parameters& parameters = source.configuration.parameters;
    const auto own = std::find_if(expected.begin(), expected.end(), [&](const Expected& one) {
        return one.want.name == output.name && one.want.whole_shape() == output.shape;
    });
    if (own == expected.end()) return {.output = output.name};
    OutputVerdict verdict = judge(output, *own, rounding_of(family, variant, parameters, source.backend),
                                  storage_of(*family.array(output.name), parameters));
    if (verdict.worst)
        verdict.worst->where = tile_words(family, variant, output.name, parameters, source.backend,
                                          output.shape, verdict.worst->index);
    return verdict;
}

const Array* reference_of(const Arrays& reference, const std::string& variant, const Array& output) {
    const Array* wanted = sawtooth::find(reference, variant + "/" + output.name);
    if (!wanted) wanted = sawtooth::find(reference, output.name);
    return wanted && wanted->whole_shape() == output.shape ? wanted : nullptr;
}

// This is the minimum: with more free memory, more references are computed at once. A definition keeps its
// exact outputs and half as many bytes of spread. While it is computed, there are also the sums of squares
// and the draws of all threads, each with the exact numbers that it may settle on.
int64_t judging_bytes(int64_t reference_bytes, int64_t computing_bytes, int64_t definitions) {
    const int64_t threads = threads_within(always_fits, saturating_add(reference_bytes, computing_bytes));
    const int64_t halves = saturating_multiply(3, definitions) + 2 * (1 + threads);
    return saturating_add(saturating_multiply(reference_bytes / 2 + 1, halves),
                          saturating_multiply(computing_bytes, 2 * threads));
}

}  // namespace sawtooth
