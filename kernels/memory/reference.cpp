// The rules in double precision, one token after another.
//   titans       e = M k - v; S = eta S - theta e k^T; M = (1 - alpha) M + S; y = M q
//   delta        the same with eta = 0
//   hebbian      M = (1 - alpha) M + v k^T
//   atlas        w = W silu([k; v]); S = eta S - theta w k^T; M = (1 - alpha) M + S
//   atlas_omega  G = 1/c sum over the window of (M k_i - v_i) k_i^T; S = eta S - theta G;
//                M = (1 - alpha) M + S
//   lattice      g = sigmoid(s . k); D = g v; s = normalise(s + D - (s . D) s);
//                y = sum softmax(s . q) s
//   trellis      e = S_K x - k[:c]; S_K = (1 - alpha) S_K - theta (e x^T + lambda_k S_K);
//                z = nsilu(S_K x); f = S_V z - v; S_V = (1 - alpha) S_V - theta (f z^T + lambda_v S_V);
//                y = S_V nsilu(S_K q)

#include <algorithm>
#include <cmath>

#include "kernels/memory/parts.h"

namespace sawtooth::memory {
namespace {

using Vector = std::vector<double>;

struct Matrix {
    size_t rows = 0, columns = 0;
    Vector values;

    Matrix(size_t rows, size_t columns) : rows(rows), columns(columns), values(rows * columns) {}
    double* row(size_t i) { return values.data() + i * columns; }
    const double* row(size_t i) const { return values.data() + i * columns; }
};

double dot(const double* left, const double* right, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += left[i] * right[i];
    return sum;
}

Vector operator*(const Matrix& m, const Vector& x) {
    Vector y(m.rows);
    for (size_t i = 0; i < m.rows; ++i) y[i] = dot(m.row(i), x.data(), m.columns);
    return y;
}

Vector operator-(Vector left, const Vector& right) {
    for (size_t i = 0; i < left.size(); ++i) left[i] -= right[i];
    return left;
}

// m = factor m.
void scale(Matrix& m, double factor) {
    for (double& value : m.values) value *= factor;
}

// m = m + factor left right^T.
void add_outer(Matrix& m, double factor, const Vector& left, const Vector& right) {
    for (size_t i = 0; i < m.rows; ++i)
        for (size_t j = 0; j < m.columns; ++j) m.row(i)[j] += factor * left[i] * right[j];
}

double norm(const Vector& x) { return std::sqrt(dot(x.data(), x.data(), x.size())); }

Vector scaled(Vector x, double factor) {
    for (double& value : x) value *= factor;
    return x;
}

Vector normalised(const Vector& x) { return scaled(x, 1 / std::max(norm(x), 1e-12)); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Vector silu(Vector x) {
    for (double& value : x) value *= sigmoid(value);
    return x;
}

Vector nsilu(const Vector& w) {
    const Vector bent = silu(w);
    return scaled(bent, std::sqrt(static_cast<double>(w.size())) / std::max(norm(bent), 1e-12));
}

Vector joined(const Vector& first, const Vector& second) {
    Vector both = first;
    both.insert(both.end(), second.begin(), second.end());
    return both;
}

// The inputs of one sequence.
class Sequence {
  public:
    Sequence(const Parameters& parameters, const Arrays& inputs, size_t batch)
        : parameters_(parameters),
          inputs_(inputs),
          batch_(batch),
          length_(static_cast<size_t>(parameters.integer("length"))) {}

    Vector vector(std::string_view name, size_t token) const {
        const Array& array = *find(inputs_, name);
        const auto width = static_cast<size_t>(array.shape.back());
        const auto values = array.as<float>().subspan((batch_ * length_ + token) * width, width);
        return {values.begin(), values.end()};
    }
    Vector key(std::string_view name, size_t token) const {
        const Vector as_given = vector(name, token);
        return parameters_.flag("normalise") ? normalised(as_given) : as_given;
    }
    double gate(std::string_view name, size_t token) const {
        return find(inputs_, name)->as<float>()[batch_ * length_ + token];
    }
    // The initial state of the sequence; zeros if it is not given.
    Matrix initial(std::string_view name, size_t rows, size_t columns) const {
        Matrix state(rows, columns);
        const Array* const array = find(inputs_, name);
        if (!array) return state;
        const auto values = array->as<float>().subspan(batch_ * rows * columns, rows * columns);
        std::copy(values.begin(), values.end(), state.values.begin());
        return state;
    }
    Matrix weights() const {
        const Array& array = *find(inputs_, "w_omega");
        Matrix w(static_cast<size_t>(array.shape[0]), static_cast<size_t>(array.shape[1]));
        std::copy(array.as<float>().begin(), array.as<float>().end(), w.values.begin());
        return w;
    }
    size_t length() const { return length_; }

  private:
    const Parameters& parameters_;
    const Arrays& inputs_;
    size_t batch_, length_;
};

// The state of one sequence: M and S. For lattice M holds the slots; for trellis M is S_K and S is S_V.
struct State {
    Matrix m, s;
};

class Rule {
  public:
    Rule(const Parameters& parameters, const Sequence& tokens)
        : name_(parameters.text("rule")),
          tokens_(tokens),
          window_(static_cast<size_t>(parameters.integer("omega_window"))),
          lambda_k_(parameters.real("lambda_k")),
          lambda_v_(parameters.real("lambda_v")),
          w_(is("atlas") ? tokens.weights() : Matrix(0, 0)) {}

    State initial(const Parameters& parameters) const {
        const auto d = static_cast<size_t>(parameters.integer("d"));
        const auto m = static_cast<size_t>(parameters.integer("slot_count"));
        const auto c = static_cast<size_t>(parameters.integer("compress"));
        if (is("trellis")) return {tokens_.initial("sk0", c, d), tokens_.initial("sv0", d, c)};
        if (!is("lattice")) return {tokens_.initial("m0", d, d), tokens_.initial("s0", d, d)};
        State state{tokens_.initial("slots", m, d), Matrix(0, 0)};
        for (size_t i = 0; i < m; ++i) set_row(state.m, i, normalised(row_of(state.m, i)));
        return state;
    }

    void step(State& state, size_t t) const {
        if (is("lattice")) return step_slots(state.m, t);
        if (is("trellis")) return step_trellis(state, t);
        const Vector k = tokens_.key("k", t), v = tokens_.vector("v", t);
        const double alpha = tokens_.gate("alpha", t);
        if (is("hebbian")) {
            scale(state.m, 1 - alpha);
            return add_outer(state.m, 1, v, k);
        }
        const double theta = tokens_.gate("theta", t);
        scale(state.s, is("delta") ? 0 : tokens_.gate("eta", t));
        if (is("atlas"))
            add_outer(state.s, -theta, w_ * silu(joined(k, v)), k);
        else if (is("atlas_omega"))
            add_window(state, t, theta);
        else
            add_outer(state.s, -theta, state.m * k - v, k);
        scale(state.m, 1 - alpha);
        for (size_t i = 0; i < state.m.values.size(); ++i) state.m.values[i] += state.s.values[i];
    }

    Vector read(const State& state, size_t t) const {
        const Vector q = tokens_.key("q", t);
        if (is("trellis")) return state.s * nsilu(state.m * q);
        return is("lattice") ? read_slots(state.m, q) : state.m * q;
    }

  private:
    bool is(std::string_view name) const { return name_ == name; }
    static Vector row_of(const Matrix& m, size_t i) { return {m.row(i), m.row(i) + m.columns}; }
    static void set_row(Matrix& m, size_t i, const Vector& row) {
        std::copy(row.begin(), row.end(), m.row(i));
    }

    // 1/c also while the window is filling.
    void add_window(State& state, size_t t, double theta) const {
        for (size_t i = t + 1 - std::min(window_, t + 1); i <= t; ++i) {
            const Vector k = tokens_.key("k", i);
            add_outer(state.s, -theta / static_cast<double>(window_), state.m * k - tokens_.vector("v", i),
                      k);
        }
    }

    void step_slots(Matrix& slots, size_t t) const {
        const Vector k = tokens_.key("k", t), v = tokens_.vector("v", t);
        for (size_t i = 0; i < slots.rows; ++i) {
            Vector s = row_of(slots, i);
            const Vector added = scaled(v, sigmoid(dot(s.data(), k.data(), k.size())));
            const double along = dot(s.data(), added.data(), s.size());
            for (size_t j = 0; j < s.size(); ++j) s[j] += added[j] - along * s[j];
            set_row(slots, i, normalised(s));
        }
    }

    static Vector read_slots(const Matrix& slots, const Vector& q) {
        Vector weights = slots * q, y(slots.columns);
        const double largest = *std::max_element(weights.begin(), weights.end());
        double sum = 0;
        for (double& weight : weights) sum += weight = std::exp(weight - largest);
        for (size_t i = 0; i < slots.rows; ++i)
            for (size_t j = 0; j < y.size(); ++j) y[j] += weights[i] / sum * slots.row(i)[j];
        return y;
    }

    void step_trellis(State& state, size_t t) const {
        const Vector x = tokens_.vector("x", t), k = tokens_.key("k", t), v = tokens_.vector("v", t);
        const double alpha = tokens_.gate("alpha", t), theta = tokens_.gate("theta", t);
        const Vector first_of_k(k.begin(), k.begin() + static_cast<std::ptrdiff_t>(state.m.rows));
        const Vector e = state.m * x - first_of_k;
        scale(state.m, 1 - alpha - theta * lambda_k_);
        add_outer(state.m, -theta, e, x);
        const Vector z = nsilu(state.m * x);
        const Vector f = state.s * z - v;
        scale(state.s, 1 - alpha - theta * lambda_v_);
        add_outer(state.s, -theta, f, z);
    }

    std::string name_;
    const Sequence& tokens_;
    size_t window_;
    double lambda_k_, lambda_v_;
    Matrix w_;
};

// Calls visit(batch, t, rule, state) before every token and once more, with t = length, after the last one.
template <class Visit>
bool walk(const Parameters& parameters, const Arrays& inputs, const std::stop_token& stop, Visit&& visit) {
    for (size_t b = 0; b < static_cast<size_t>(parameters.integer("batch")); ++b) {
        const Sequence tokens(parameters, inputs, b);
        const Rule rule(parameters, tokens);
        State state = rule.initial(parameters);
        for (size_t t = 0; t < tokens.length(); ++t) {
            visit(b, t, rule, state);
            if (stop.stop_requested()) return false;
            rule.step(state, t);
        }
        visit(b, tokens.length(), rule, state);
    }
    return true;
}

Array zeros(std::string name, Shape shape) {
    return Array::zeros(std::move(name), Dtype::f64, std::move(shape));
}

// Writes row `index` of an array whose rows have the length of `values`.
void put(Array& array, size_t index, const Vector& values) {
    std::copy(values.begin(), values.end(),
              array.as<double>().begin() + static_cast<std::ptrdiff_t>(index * values.size()));
}

// The states of all sequences at multiples of a chunk and after the last token.
struct Boundaries {
    Array array;
    size_t chunk = 0, count = 0;

    Boundaries(std::string name, const Parameters& parameters, int64_t chunk_as_given) {
        const int64_t length = parameters.integer("length"), d = parameters.integer("d");
        const int64_t rows = parameters.is("rule", "lattice") ? parameters.integer("slot_count") : d;
        const int64_t of_chunk = std::min(chunk_as_given, length);
        chunk = static_cast<size_t>(of_chunk);
        count = static_cast<size_t>((length + of_chunk - 1) / of_chunk + 1);
        array = zeros(std::move(name), {parameters.integer("batch"), static_cast<int64_t>(count), rows, d});
    }
    void visit(size_t batch, size_t t, size_t length, const State& state) {
        if (t == length)
            put(array, batch * count + count - 1, state.m.values);
        else if (t % chunk == 0)
            put(array, batch * count + t / chunk, state.m.values);
    }
};

// The outputs of the queries at each level's last boundary.
struct Levels {
    std::vector<int64_t> chunks;
    Array pulse, y;
    std::vector<State> last;

    explicit Levels(const Parameters& parameters) {
        if (const auto* list = std::get_if<std::vector<int64_t>>(&parameters.at("levels"))) chunks = *list;
        const auto levels = static_cast<int64_t>(chunks.size());
        const int64_t length = parameters.integer("length");
        pulse = Array::zeros("pulse", Dtype::int32, {levels, length});
        y = zeros("level_y", {parameters.integer("batch"), levels, length, parameters.integer("d")});
        last.assign(chunks.size(), State{Matrix(0, 0), Matrix(0, 0)});
    }
    void visit(size_t batch, size_t t, size_t length, const Rule& rule, const State& state) {
        if (t == length) return;
        for (size_t n = 0; n < chunks.size(); ++n) {
            const bool fires = static_cast<int64_t>(t) % chunks[n] == 0;
            if (fires) last[n] = state;
            pulse.as<int32_t>()[n * length + t] = fires ? 1 : 0;
            put(y, (batch * chunks.size() + n) * length + t, rule.read(last[n], t));
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
        walk(parameters, inputs, stop, [&](size_t b, size_t t, const Rule& rule, const State& state) {
            // visit() runs before a token, so y of the previous token is read here.
            if (t > 0) put(y, b * length + t - 1, rule.read(state, t - 1));
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
        const bool has_shards = is_one_of(parameters, {"titans", "delta", "hebbian"});
        boundaries.emplace_back("tnt/boundaries", parameters, parameters.integer("C_G"));
        if (!has_shards || boundaries.front().chunk == boundaries.back().chunk) boundaries.pop_back();
    }
    Levels levels(parameters);
    if (boundaries.empty() && levels.chunks.empty()) return Arrays{};
    const bool whole =
        walk(parameters, inputs, stop, [&](size_t b, size_t t, const Rule& rule, const State& state) {
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
