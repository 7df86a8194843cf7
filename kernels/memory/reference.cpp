// The exact rules (formulas/exact.h) in float64, and their memory at the chunks of strategies and at
// levels.

#include "kernels/core/in_parallel.h"
#include "kernels/memory/formulas/exact.h"
#include "kernels/memory/parts.h"

namespace sawtooth::memory {
namespace {

using namespace formulas;
using Rule = ExactRule<double>;
using ExactState = MemoryState<double>;

// Calls visit(batch, t, rule, state) before every token and once more, with t = length, after the last one:
// token by token in a sequence, and for several sequences at a time. Returns false if it was stopped.
template <class Visit>
bool walk(const Parameters& parameters, const Arrays& inputs, const std::stop_token& stop, Visit&& visit) {
    in_parallel(parameters.integer("batch"), [&](int64_t number) {
        const auto b = static_cast<size_t>(number);
        const Sequence<double> tokens(parameters, inputs, b);
        Rule rule(parameters, tokens);
        ExactState state = initial_state(parameters, tokens);
        for (size_t t = 0; t < tokens.length(); ++t) {
            visit(b, t, rule, state);
            if (stop.stop_requested()) return;
            rule.step(state, t);
        }
        visit(b, tokens.length(), rule, state);
    });
    return !stop.stop_requested();
}

Array zeros(std::string name, Shape shape) {
    return Array::zeros(std::move(name), Dtype::f64, std::move(shape));
}

// Writes row `index` of an array whose rows have the length of `values`.
void put(Array& array, size_t index, const Vector<double>& values) {
    std::copy(values.begin(), values.end(),
              array.as<double>().begin() + static_cast<std::ptrdiff_t>(index * values.size()));
}

double* row_of(Array& array, size_t index) {
    return array.as<double>().data() + index * static_cast<size_t>(array.shape.back());
}

// The states of all sequences at multiples of a chunk and after the last token.
struct Boundaries {
    Array array;
    size_t chunk = 0, count = 0;

    Boundaries(std::string name, const Parameters& parameters, int64_t chunk_as_given) {
        const int64_t length = parameters.integer("length"), d = parameters.integer("d");
        const int64_t rows = parameters.is("rule", "lattice") ? parameters.integer("slot_count") : d;
        const int64_t chunk_tokens = std::min(chunk_as_given, length);
        chunk = static_cast<size_t>(chunk_tokens);
        count = static_cast<size_t>((length + chunk_tokens - 1) / chunk_tokens + 1);
        array = zeros(std::move(name), {parameters.integer("batch"), static_cast<int64_t>(count), rows, d});
    }
    void visit(size_t batch, size_t t, size_t length, const ExactState& state) {
        if (t == length)
            put(array, batch * count + count - 1, state.m.values);
        else if (t % chunk == 0)
            put(array, batch * count + t / chunk, state.m.values);
    }
};

// What the queries read from the memory at each level's last boundary.
struct Levels {
    std::vector<int64_t> chunks;
    Array pulse, y;
    std::vector<ExactState> last;  // by sequence and level

    explicit Levels(const Parameters& parameters) {
        if (const auto* list = std::get_if<std::vector<int64_t>>(&parameters.at("levels"))) chunks = *list;
        const auto levels = static_cast<int64_t>(chunks.size());
        const int64_t length = parameters.integer("length");
        pulse = Array::zeros("pulse", Dtype::int32, {levels, length});
        y = zeros("level_y", {parameters.integer("batch"), levels, length, parameters.integer("d")});
        last.resize(static_cast<size_t>(parameters.integer("batch")) * chunks.size());
    }
    void visit(size_t batch, size_t t, size_t length, Rule& rule, const ExactState& state) {
        if (t == length) return;
        for (size_t n = 0; n < chunks.size(); ++n) {
            const bool fires = static_cast<int64_t>(t) % chunks[n] == 0;
            const size_t level = batch * chunks.size() + n;
            if (fires) last[level] = state;
            if (batch == 0) pulse.as<int32_t>()[n * length + t] = fires ? 1 : 0;
            rule.read(last[level], t, row_of(y, level * length + t));
        }
    }
};

bool is_one_of(const Parameters& parameters, std::initializer_list<const char*> rules) {
    return std::any_of(rules.begin(), rules.end(),
                       [&](const char* rule) { return parameters.is("rule", rule); });
}

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    const auto length = static_cast<size_t>(parameters.integer("length"));
    const int64_t batch = parameters.integer("batch"), d = parameters.integer("d");
    const bool is_trellis = parameters.is("rule", "trellis"), is_lattice = parameters.is("rule", "lattice");
    const int64_t rows = is_trellis   ? parameters.integer("compress")
                         : is_lattice ? parameters.integer("slot_count")
                                      : d;
    Array y = zeros("y", {batch, parameters.integer("length"), d});
    Array m = zeros(is_trellis ? "sk" : "m", {batch, rows, d});
    Array s = zeros(is_trellis ? "sv" : "s", {batch, d, is_trellis ? rows : d});
    const bool whole =
        walk(parameters, inputs, stop, [&](size_t b, size_t t, Rule& rule, const ExactState& state) {
            // visit() runs before a token, so y of the previous token is read here.
            if (t > 0) rule.read(state, t - 1, row_of(y, b * length + t - 1));
            if (t < length) return;
            put(m, b, state.m.values);
            if (!is_lattice) put(s, b, state.s.values);
        });
    if (!whole) return Error::cancelled();
    Arrays outputs = {y, m};
    if (is_trellis || is_one_of(parameters, {"titans", "atlas", "atlas_omega"})) outputs.push_back(s);
    return outputs;
}

Outcome<Arrays> reference_at_chunks(const Parameters& parameters, const Arrays& inputs, bool extras,
                                    std::stop_token stop) {
    const auto length = static_cast<size_t>(parameters.integer("length"));
    std::vector<Boundaries> boundaries;
    if (extras && !parameters.is("rule", "trellis")) {
        boundaries.emplace_back("boundaries", parameters, parameters.integer("chunk"));
        boundaries.emplace_back("tnt/boundaries", parameters, parameters.integer("C_G"));
        if (boundaries.front().chunk == boundaries.back().chunk) boundaries.pop_back();
    }
    Levels levels(parameters);
    if (boundaries.empty() && levels.chunks.empty()) return Arrays{};
    const bool whole =
        walk(parameters, inputs, stop, [&](size_t b, size_t t, Rule& rule, const ExactState& state) {
            for (Boundaries& kept : boundaries) kept.visit(b, t, length, state);
            levels.visit(b, t, length, rule, state);
        });
    if (!whole) return Error::cancelled();
    Arrays outputs;
    for (Boundaries& kept : boundaries) outputs.push_back(std::move(kept.array));
    if (!levels.chunks.empty()) outputs.insert(outputs.end(), {levels.pulse, levels.y});
    return outputs;
}

}  // namespace sawtooth::memory
