#include "kernels/memory/tensors.h"

namespace sawtooth::memory {

Sizes::Sizes(const Parameters& parameters)
    : rule(&rule_of(parameters)),
      batch(parameters.integer("batch")),
      length(parameters.integer("length")),
      d(parameters.integer("d")),
      local_tokens(std::min(parameters.integer("C_L"), length)),
      normalises(parameters.flag("normalise")),
      reads_boundary(parameters.is("readout", "boundary")),
      storage(storage_named(parameters.text("dtype"))),
      precision(parameters.text("precision")) {
    if (rule->is(State::slots)) slot_count = parameters.integer("slot_count");
    if (rule->is(State::trellis)) {
        compress = parameters.integer("compress");
        lambda_k = static_cast<float>(parameters.real("lambda_k"));
        lambda_v = static_cast<float>(parameters.real("lambda_v"));
    }
    if (rule->is_windowed) {
        omega_window = parameters.integer("omega_window");
        window = std::min(omega_window, length);
    }
}

Sizes::Sizes(const Parameters& parameters, const Strategy& strategy) : Sizes(parameters) {
    chunk = strategy.chunk_of(parameters);
    boundary_count = ceil_divide(length, chunk) + 1;
}

int64_t Sizes::state_rows() const { return slot_count ? slot_count : compress ? compress : d; }

double Sizes::tokens_of_windows(Range tokens) const {
    const auto before = [this](int64_t token) {
        const int64_t filling = std::min(token, window);
        return static_cast<double>(filling) * static_cast<double>(filling + 1) / 2 +
               static_cast<double>(token - filling) * static_cast<double>(window);
    };
    return before(tokens.last) - before(tokens.first);
}

double Sizes::operations_of(Range tokens) const {
    const double of_numbers = rule->operations * static_cast<double>(tokens.count()) +
                              rule->operations_of_windows * tokens_of_windows(tokens);
    return static_cast<double>(batch * state_rows() * d) * of_numbers;
}

double Sizes::bytes_a_token() const {
    const int vectors = rule->reads_x ? 5 : 4, gates = rule->forgets + rule->has_momentum + rule->has_step;
    return static_cast<double>(batch * (vectors * d * bytes_of(storage) + 4 * gates));
}

Tensors::Tensors(PlanBuilder& builder, const Strategy& strategy)
    : Sizes(builder.parameters(), strategy),
      k(builder.input("k", storage)),
      v(builder.input("v", storage)),
      q(builder.input("q", storage)),
      x(builder.input("x", storage)),
      alpha(builder.input("alpha")),
      eta(builder.input("eta")),
      theta(builder.input("theta")),
      omega_windows(builder.input("omega_windows")),
      w_omega(builder.input("w_omega")),
      y(builder.output("y", storage)),
      y_stride(length * d),
      boundaries(builder.output("boundaries")) {
    const bool is_trellis = rule->is(State::trellis), is_slots = rule->is(State::slots);
    const char* const second = is_trellis ? "sv" : "s";
    passes_s = rule->has_second_state() &&
               std::find(strategy.outputs.begin(), strategy.outputs.end(), second) != strategy.outputs.end();
    m.from = builder.input(is_slots ? "slots" : is_trellis ? "sk0" : "m0");
    m.to = builder.output(is_trellis ? "sk" : "m");
    if (!passes_s) return;
    s.from = builder.input(is_trellis ? "sv0" : "s0");
    s.to = builder.output(second);
}

Chain matrix_chain(const Tensors& t) { return {t, t.d, t.d}; }

Chain key_chain(const Tensors& t) {
    Chain chain{t, t.compress, t.d, t.lambda_k, "_keys", "c"};
    chain.s = {};
    return chain;
}

Chain value_chain(const Tensors& t) {
    Chain chain{t, t.d, t.compress, t.lambda_v, "_values"};
    chain.m = std::exchange(chain.s, {});
    return chain;
}

Buffer first_of(const Buffer& all, int64_t count) {
    if (!all) return all;
    Shape shape = all.shape;
    shape[1] = count;
    return all.part(std::move(shape));
}

TileArrays first_of(const TileArrays& all, int64_t rows, int64_t tiles) {
    TileArrays first = all;
    for (Buffer* const array : {&first.keys, &first.values, &first.solved}) *array = first_of(*array, rows);
    for (Buffer* const array :
         {&first.coefficients, &first.errors, &first.states_m, &first.states_s, &first.sums_m, &first.sums_s})
        *array = first_of(*array, tiles);
    return first;
}

}  // namespace sawtooth::memory
