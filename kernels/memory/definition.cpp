// What every strategy computes, for any number type: token by token (sequential, sequential_persistent, the
// local memories of tnt, associative_scan), chunks in matrix form (chunkwise_gd, atlas_parallel, exact_chunk)
// and slots in chunks (lattice). The formulas are in formulas/.

#include <atomic>
#include <iterator>
#include <type_traits>

#include "kernels/core/in_parallel.h"
#include "kernels/core/some_rows.h"
#include "kernels/memory/family.h"
#include "kernels/memory/formulas/chunks.h"
#include "kernels/memory/formulas/exact.h"
#include "kernels/memory/formulas/slots.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

using namespace formulas;

// A run over one sequence: its chunk, what its tokens read, and where its outputs go (null if an output is
// not stored).
struct Run {
    size_t chunk = 1;
    bool reads_boundary = false;
    double *y = nullptr, *m = nullptr, *s = nullptr, *boundaries = nullptr;
};

template <class Real>
double* put(double* to, const Real* values, size_t count) {
    if (!to) return to;
    return std::transform(values, values + count, to, [](Real value) { return value_of(value); });
}

// Computes the outputs of a strategy for one sequence.
template <class Real>
class Definition {
  public:
    Definition(const DefinitionRequest& request, size_t batch)
        : parameters_(request.parameters),
          strategy_(strategy_of(request.variant)),
          rule_(rule_of(request.parameters)),
          tokens_(request.parameters, request.inputs, batch),
          length_(tokens_.length()),
          d_(tokens_.d()),
          tile_(static_cast<size_t>(rounds_factors() ? usual_tile : strategy_.most_tile())),
          stop_(request.stop) {}

    // Returns false if it was stopped.
    bool compute(const Run& run) {
        if (strategy_.walks_by_token() || strategy_.scans) return walk_tokens(run);
        if (strategy_.exact == Exact::inside_locals) return walk_shards(run);
        switch (rule_.state) {
            case State::matrix:
                return walk_chunks(run);
            case State::slots:
                return walk_slots(run);
            case State::trellis:
                return walk_trellis(run);
        }
        return false;
    }

  private:
    // Walks token by token, either exactly or with the errors of a chunk taken at its boundary.
    bool walk_tokens(Run run) {
        const bool is_frozen = !strategy_.walks_by_token();
        ExactRule<Real> rule(parameters_, tokens_);
        MemoryState<Real> state = initial_state(parameters_, tokens_), boundary;
        Vector<Real> y(d_);
        for (size_t t = 0; t < length_; ++t) {
            if (stop_.stop_requested()) return false;
            if (t % run.chunk == 0) {
                put_boundary(run, state.m);
                if (is_frozen) boundary.m = state.m;
            }
            rule.step(state, t, is_frozen ? boundary.m : state.m);
            rule.read(is_frozen && run.reads_boundary ? boundary : state, t, y.data());
            run.y = put(run.y, y.data(), d_);
        }
        put_final(run, state.m, state.s);
        return true;
    }

    // Walks shard by shard. In a shard, local memories start from the global memory. Then
    // M = (1 - a) M + mean mean^T with the means of y and of alpha over the shard; slots are those of the
    // last local memory.
    bool walk_shards(Run run) {
        const auto local_tokens = static_cast<size_t>(parameters_.integer("C_L"));
        const bool is_matrix = rule_.is(State::matrix);
        ExactRule<Real> rule(parameters_, tokens_);
        MemoryState<Real> global = initial_state(parameters_, tokens_), local;
        if (is_matrix) global.s = Matrix<Real>(d_, d_);
        Vector<Real> y(d_), mean(d_);
        for (size_t first = 0; first < length_; first += run.chunk) {
            const size_t last = std::min(first + run.chunk, length_);
            const auto count = Real(last - first);
            put_boundary(run, global.m);
            std::fill(mean.begin(), mean.end(), Real(0));
            double alpha = 0;
            for (size_t t = first; t < last; ++t) {
                if (stop_.stop_requested()) return false;
                if ((t - first) % local_tokens == 0) {
                    local = global;
                    rule.start_at(t);
                }
                rule.step(local, t);
                rule.read(local, t, y.data());
                run.y = put(run.y, y.data(), d_);
                if (!is_matrix) continue;
                for (size_t i = 0; i < d_; ++i) mean[i] += y[i];
                alpha += value_of(tokens_.alpha(t));  // kernels sum it in double too
            }
            if (!is_matrix) {
                global = local;
                continue;
            }
            for (Real& value : mean) value /= count;
            scale(global.m.values.data(), Real(1) - Real(alpha) / count, d_ * d_);
            for (size_t i = 0; i < d_; ++i) add(global.m.row(i), mean[i], mean.data(), d_);
        }
        put_final(run, global.m, global.s);
        return true;
    }

    // Walks the chunks of a matrix rule in tiles.
    bool walk_chunks(Run run) {
        MemoryState<Real> initial = initial_state(parameters_, tokens_);
        MatrixChunks<Real> chain(chunk_settings(), std::move(initial.m), std::move(initial.s));
        AtlasUpdate<Real> atlas(rule_.reads_w_omega ? tokens_.weights() : Matrix<Real>());
        TileTokens<Real> tile;
        Vector<Real> queries, y;
        const bool whole = each_tile(run.chunk, [&](size_t first, size_t last, bool opens_chunk) {
            tile = {gates_of(first, last), rows_of(first, last, &Sequence<Real>::load_k),
                    rows_of(first, last, &Sequence<Real>::load_v)};
            if (rule_.reads_w_omega) make_updates(atlas, tile);
            if (opens_chunk) put_boundary(run, chain.m());
            chain.take(tile, opens_chunk);
            chain.read(rows_of(first, last, &Sequence<Real>::load_q), run.reads_boundary, y);
            run.y = put(run.y, y.data(), y.size());
            chain.advance();
        });
        put_final(run, chain.m(), chain.s());
        return whole;
    }

    // Walks two chains: the output z of the key slots is the key of the value slots, and r is their query.
    // The errors of both are frozen; z always reads the evolving memory.
    bool walk_trellis(Run run) {
        MemoryState<Real> initial = initial_state(parameters_, tokens_);
        const size_t c = initial.m.rows;
        MatrixChunks<Real> keys(chunk_settings(), std::move(initial.m), {});
        MatrixChunks<Real> values(chunk_settings(), std::move(initial.s), {});
        const auto rescale = [&] {
            keys.rescale();
            values.rescale();
        };
        if (strategy_.rescales) rescale();
        Vector<Real> y;
        TileTokens<Real> key_tile, value_tile;
        const bool whole = each_tile(run.chunk, [&](size_t first, size_t last, bool opens_chunk) {
            key_tile = {gates_of(first, last, parameters_.real("lambda_k")),
                        rows_of(first, last, &Sequence<Real>::load_x),
                        first_numbers(rows_of(first, last, &Sequence<Real>::load_k), c)};
            value_tile.gates = gates_of(first, last, parameters_.real("lambda_v"));
            value_tile.values = rows_of(first, last, &Sequence<Real>::load_v);
            Vector<Real>&z = value_tile.keys, r;
            keys.take(key_tile, opens_chunk);
            keys.read(key_tile.keys, false, z);
            keys.read(rows_of(first, last, &Sequence<Real>::load_q), run.reads_boundary, r);
            keys.advance();
            for (size_t t = 0; t < last - first; ++t) {
                nsilu(z.data() + t * c, c);
                nsilu(r.data() + t * c, c);
            }
            values.take(value_tile, opens_chunk);
            values.read(r, run.reads_boundary, y);
            run.y = put(run.y, y.data(), y.size());
            values.advance();
            if (strategy_.rescales && closes_chunk(run, last)) rescale();
        });
        put_final(run, keys.m(), values.m());
        return whole;
    }

    bool walk_slots(Run run) {
        SlotChunks<Real> slots(initial_state(parameters_, tokens_).m, strategy_.linearises);
        Vector<Real> y;
        const bool whole = each_tile(run.chunk, [&](size_t first, size_t last, bool opens_chunk) {
            if (opens_chunk) put_boundary(run, slots.slots());
            slots.take(rows_of(first, last, &Sequence<Real>::load_k),
                       rows_of(first, last, &Sequence<Real>::load_v), opens_chunk);
            slots.read(rows_of(first, last, &Sequence<Real>::load_q), run.reads_boundary, y);
            run.y = put(run.y, y.data(), y.size());
            slots.advance(closes_chunk(run, last));
        });
        put_final(run, slots.slots(), {});
        return whole;
    }

    bool closes_chunk(const Run& run, size_t last) const { return last % run.chunk == 0 || last == length_; }
    // True for half of the noisy sequences if factors are rounded, as they are on a GPU, whose tiles are
    // short.
    static bool rounds_factors() { return value_of(narrow(Real(1))) < 1; }
    typename MatrixChunks<Real>::Settings chunk_settings() const {
        return {.window = rule_.is_windowed
                              ? std::min(static_cast<size_t>(parameters_.integer("omega_window")), length_)
                              : 1,
                .reads_memory = rule_.reads_memory,
                .has_momentum = rule_.has_momentum,
                .solves = strategy_.solves(),
                .multiplies_bf16 = parameters_.is("precision", "bf16")};
    }

    // Calls act(first, last, opens_chunk) for the tiles of all chunks. Returns false if it was stopped.
    template <class Act>
    bool each_tile(size_t chunk, Act&& act) const {
        for (size_t first = 0, last = 0; first < length_; first = last) {
            if (stop_.stop_requested()) return false;
            last = std::min({first + tile_, (first / chunk + 1) * chunk, length_});
            act(first, last, first % chunk == 0);
        }
        return true;
    }

    std::vector<Gate<Real>> gates_of(size_t first, size_t last, double lambda = 0) const {
        std::vector<Gate<Real>> gates;
        for (size_t t = first; t < last; ++t) {
            const size_t window = rule_.is_windowed ? tokens_.window(t) : 1;
            Real step = rule_.has_step ? tokens_.theta(t) : Real(1);
            if (rule_.is_windowed) step *= Real(1) / Real(window);
            const Real keep = rule_.has_momentum ? tokens_.eta(t) : Real(0);
            gates.push_back({Real(1) - tokens_.alpha(t), keep, step, window});
            if (lambda != 0) gates.back().decay -= step * Real(lambda);
        }
        return gates;
    }

    Vector<Real> rows_of(size_t first, size_t last, void (Sequence<Real>::*load)(size_t, Real*) const) const {
        Vector<Real> rows((last - first) * d_);
        for (size_t t = first; t < last; ++t) (tokens_.*load)(t, rows.data() + (t - first) * d_);
        return rows;
    }
    // The first `count` numbers of every row.
    Vector<Real> first_numbers(const Vector<Real>& rows, size_t count) const {
        Vector<Real> kept;
        for (auto row = rows.begin(); row != rows.end(); std::advance(row, d_))
            kept.insert(kept.end(), row, row + static_cast<std::ptrdiff_t>(count));
        return kept;
    }
    // Sets v = -W silu([k; v]), so that the error without the memory, e = -v, is W silu([k; v]).
    void make_updates(AtlasUpdate<Real>& atlas, TileTokens<Real>& tile) const {
        Vector<Real> w(d_);
        for (size_t t = 0; t < tile.gates.size(); ++t) {
            Real* const v = tile.values.data() + t * d_;
            atlas.compute(tile.keys.data() + t * d_, v, w.data());
            std::transform(w.begin(), w.end(), v, [](Real value) { return -value; });
        }
    }

    static void put_boundary(Run& run, const Matrix<Real>& m) {
        run.boundaries = put(run.boundaries, m.values.data(), m.values.size());
    }
    static void put_final(Run& run, const Matrix<Real>& m, const Matrix<Real>& s) {
        put_boundary(run, m);
        put(run.m, m.values.data(), m.values.size());
        put(run.s, s.values.data(), s.values.size());
    }

    const Parameters& parameters_;
    const Strategy& strategy_;
    const UpdateRule& rule_;
    Sequence<Real> tokens_;
    size_t length_, d_, tile_;
    std::stop_token stop_;
};

Array pulses(const std::vector<int64_t>& levels, int64_t length) {
    Array pulse = Array::zeros("pulse", Dtype::int32, {static_cast<int64_t>(levels.size()), length});
    auto to = pulse.as<int32_t>().begin();
    for (const int64_t chunk : levels)
        for (int64_t t = 0; t < length; ++t) *to++ = t % chunk == 0;
    return pulse;
}

// The outputs in f64, with the shapes of the variant.
Arrays outputs_of(const DefinitionRequest& request) {
    Arrays outputs;
    for (const std::string& name : request.variant.outputs) {
        const ArraySpec& row = *memory_family().array(name);
        if (!row.is_used(request.parameters) || (row.extra && !request.stores_extras)) continue;
        outputs.push_back(
            name == "pulse"
                ? pulses(levels_of(request.parameters), request.parameters.integer("length"))
                : Array::uninitialised(name, Dtype::f64,
                                       request.variant.shape_of(row, request.parameters, request.inputs)));
    }
    return outputs;
}

template <class Real>
Outcome<Arrays> define(const DefinitionRequest& request) {
    const Parameters& parameters = request.parameters;
    const Strategy& strategy = strategy_of(request.variant);
    const auto levels = levels_of(parameters);
    Arrays outputs = outputs_of(request);
    const auto batch_count = static_cast<size_t>(parameters.integer("batch"));
    // Returns false if it was stopped.
    const auto define_sequence = [&](size_t batch) {
        // Where the sequence begins in an output; null if the output is not stored.
        const auto start_of = [&](std::string_view name) -> double* {
            Array* const array = find(outputs, name);
            if (!array) return nullptr;
            return array->as<double>().data() + batch * (array->as<double>().size() / batch_count);
        };
        const bool is_trellis = rule_of(parameters).is(State::trellis);
        Definition<Real> definition(request, batch);
        if (!definition.compute({static_cast<size_t>(strategy.chunk_of(parameters)),
                                 parameters.is("readout", "boundary"), start_of("y"),
                                 start_of(is_trellis ? "sk" : "m"), start_of(is_trellis ? "sv" : "s"),
                                 start_of("boundaries")}))
            return false;
        double* level_y = start_of("level_y");
        for (size_t level = 0; level_y && level < levels.size(); ++level) {
            if (!definition.compute(
                    {.chunk = static_cast<size_t>(levels[level]), .reads_boundary = true, .y = level_y}))
                return false;
            level_y += parameters.integer("length") * parameters.integer("d");
        }
        return true;
    };
    std::atomic<bool> stopped = false;
    if constexpr (std::is_same_v<Real, double>)
        in_parallel(parameters.integer("batch"), [&](int64_t batch) {
            if (!define_sequence(static_cast<size_t>(batch))) stopped = true;
        });
    else
        for (size_t batch = 0; batch < batch_count && !stopped; ++batch) stopped = !define_sequence(batch);
    if (stopped) return Error::cancelled();
    return outputs;
}

// Computes some sequences with noise. W of atlas and the pulses of levels belong to all sequences.
Outcome<Arrays> define_some(const DefinitionRequest& request) {
    const Parameters& parameters = request.parameters;
    std::optional<Array> pulse;
    auto outputs = compute_some_rows(
        request.inputs, {"w_omega"}, {parameters.integer("batch")},
        parameters.integer("length") * parameters.integer("d"),
        [&](const Arrays& of_rows, int64_t sequences) -> Outcome<Arrays> {
            Parameters of_sequences = parameters;
            of_sequences.set("batch", sequences);
            auto computed = define<Noisy>(
                {request.variant, of_sequences, of_rows, request.stores_extras, true, request.stop});
            if (computed && find(*computed, "pulse")) pulse = *find(*computed, "pulse");
            if (computed) std::erase_if(*computed, [](const Array& array) { return array.name == "pulse"; });
            return computed;
        });
    if (outputs && pulse) outputs->push_back(*pulse);
    return outputs;
}

}  // namespace

Outcome<Arrays> definition(const DefinitionRequest& request) {
    return request.noisy ? define_some(request) : define<double>(request);
}

}  // namespace sawtooth::memory
