// The approximations: the definition and the kernel of every strategy that freezes something against the same
// algorithm token by token in double precision, as documented.

#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

using namespace memory_facts;

using Vector = std::vector<double>;

// One sequence of a batch of one, in double precision.
struct Frozen {
    const Parameters& parameters;
    const Arrays& inputs;
    int64_t d, length, chunk;
    bool at_boundary;
    std::vector<Vector> y = {};

    Frozen(const Parameters& p, const Arrays& i)
        : parameters(p),
          inputs(i),
          d(p.integer("d")),
          length(p.integer("length")),
          chunk(std::min(p.integer("chunk"), length)),
          at_boundary(p.is("readout", "boundary")) {}

    bool is(const char* rule) const { return parameters.is("rule", rule); }
    Vector row(const char* name, int64_t t) const {
        Vector values;
        for (int64_t j = 0; j < d; ++j) values.push_back(find(inputs, name)->value(t * d + j).real());
        return values;
    }
    Vector unit(const char* name, int64_t t) const {
        Vector values = row(name, t);
        const double norm = std::sqrt(dot(values, values));
        for (double& value : values) value /= norm;
        return values;
    }
    double gate(const char* name, int64_t t) const {
        const Array* const array = find(inputs, name);
        return array ? array->value(t).real() : 0;
    }
    // The tokens in the window of a token.
    int64_t window(int64_t t) const {
        if (!is("atlas_omega")) return 1;
        const Array* const windows = find(inputs, "omega_windows");
        return windows ? windows->as<int32_t>()[static_cast<size_t>(t)] : parameters.integer("omega_window");
    }
    static double dot(const Vector& left, const Vector& right) {
        double sum = 0;
        for (size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
        return sum;
    }
    static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
};

// A matrix as rows.
using Matrix = std::vector<Vector>;
Vector times(const Matrix& m, const Vector& x) {
    Vector y;
    for (const Vector& row : m) y.push_back(Frozen::dot(row, x));
    return y;
}
void decay(Matrix& m, double factor) {
    for (Vector& row : m)
        for (double& value : row) value *= factor;
}
void add_outer(Matrix& m, double factor, const Vector& left, const Vector& right) {
    for (size_t i = 0; i < left.size(); ++i)
        for (size_t j = 0; j < right.size(); ++j) m[i][j] += factor * left[i] * right[j];
}
Vector minus(Vector left, const Vector& right) {
    for (size_t i = 0; i < left.size(); ++i) left[i] -= right[i];
    return left;
}
Matrix zeros(int64_t rows, int64_t columns) {
    return Matrix(static_cast<size_t>(rows), Vector(static_cast<size_t>(columns)));
}
Matrix given(const Arrays& inputs, const char* name, int64_t rows, int64_t columns) {
    Matrix m = zeros(rows, columns);
    const Array* const array = find(inputs, name);
    for (int64_t i = 0; array && i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
            m[static_cast<size_t>(i)][static_cast<size_t>(j)] = array->value(i * columns + j).real();
    return m;
}

// chunkwise_gd of titans, delta and atlas_omega: e = M_boundary k - v.
std::vector<Vector> frozen_matrix(const Frozen& run) {
    Matrix m = given(run.inputs, "m0", run.d, run.d), s = given(run.inputs, "s0", run.d, run.d), boundary = m;
    std::vector<Vector> y;
    for (int64_t t = 0; t < run.length; ++t) {
        if (t % run.chunk == 0) boundary = m;
        decay(s, run.is("delta") ? 0 : run.gate("eta", t));
        const int64_t window = run.window(t);
        for (int64_t i = std::max<int64_t>(t - window + 1, 0); i <= t; ++i) {
            const Vector k = run.unit("k", i);
            add_outer(s, -run.gate("theta", t) / static_cast<double>(window),
                      minus(times(boundary, k), run.row("v", i)), k);
        }
        decay(m, 1 - run.gate("alpha", t));
        for (size_t i = 0; i < m.size(); ++i)
            for (size_t j = 0; j < m.size(); ++j) m[i][j] += s[i][j];
        y.push_back(times(run.at_boundary ? boundary : m, run.unit("q", t)));
    }
    return y;
}

Vector nsilu(Vector w) {
    for (double& value : w) value *= Frozen::sigmoid(value);
    const double factor = std::sqrt(static_cast<double>(w.size())) / std::sqrt(Frozen::dot(w, w));
    for (double& value : w) value *= factor;
    return w;
}

void normalise_rows(Matrix& m, double wanted = 1) {
    for (Vector& row : m) {
        const double norm = std::max(std::sqrt(Frozen::dot(row, row)), 1e-12);
        for (double& value : row) value *= wanted / norm;
    }
}

// chunkwise_gd, or lattice_gla, which gives rows the norm of a row of ones at every boundary.
std::vector<Vector> frozen_trellis(const Frozen& run, bool rescales) {
    const int64_t c = run.parameters.integer("compress");
    Matrix sk = given(run.inputs, "sk0", c, run.d), sv = given(run.inputs, "sv0", run.d, c);
    Matrix sk_boundary = sk, sv_boundary = sv;
    std::vector<Vector> y;
    for (int64_t t = 0; t < run.length; ++t) {
        if (t % run.chunk == 0 && rescales) {
            normalise_rows(sk, std::sqrt(static_cast<double>(run.d)));
            normalise_rows(sv, std::sqrt(static_cast<double>(c)));
        }
        if (t % run.chunk == 0) sk_boundary = sk, sv_boundary = sv;
        const double theta = run.gate("theta", t), stays = 1 - run.gate("alpha", t);
        const Vector x = run.row("x", t);
        Vector k = run.unit("k", t);
        k.resize(static_cast<size_t>(c));
        decay(sk, stays - theta * run.parameters.real("lambda_k"));
        add_outer(sk, -theta, minus(times(sk_boundary, x), k), x);
        const Vector z = nsilu(times(sk, x));
        const Vector f = minus(times(sv_boundary, z), run.row("v", t));
        decay(sv, stays - theta * run.parameters.real("lambda_v"));
        add_outer(sv, -theta, f, z);
        const Vector q = run.unit("q", t);
        y.push_back(run.at_boundary ? times(sv_boundary, nsilu(times(sk_boundary, q)))
                                    : times(sv, nsilu(times(sk, q))));
    }
    return y;
}

Vector read_slots(Matrix slots, const Vector& q) {
    normalise_rows(slots);
    Vector weights = times(slots, q), y(q.size());
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight);
    for (size_t i = 0; i < slots.size(); ++i)
        for (size_t j = 0; j < y.size(); ++j) y[j] += weights[i] / sum * slots[i][j];
    return y;
}

// chunkwise_gd: x = s + sum of (D - (s . D) s); lattice_gla: u = (1 - g (s . v)) u + g v.
std::vector<Vector> frozen_lattice(const Frozen& run, bool is_linearised) {
    const int64_t slots = run.parameters.integer("slot_count");
    Matrix x = given(run.inputs, "slots", slots, run.d);
    normalise_rows(x);
    Matrix boundary = x;
    std::vector<Vector> y;
    for (int64_t t = 0; t < run.length; ++t) {
        if (t % run.chunk == 0) {
            normalise_rows(x);
            boundary = x;
        }
        const Vector k = run.unit("k", t), v = run.row("v", t);
        for (size_t i = 0; i < x.size(); ++i) {
            const double gate = Frozen::sigmoid(Frozen::dot(boundary[i], k));
            const double along = gate * Frozen::dot(boundary[i], v);
            for (size_t j = 0; j < v.size(); ++j)
                x[i][j] += gate * v[j] - along * (is_linearised ? x[i][j] : boundary[i][j]);
        }
        y.push_back(read_slots(run.at_boundary ? boundary : x, run.unit("q", t)));
    }
    return y;
}

// Local memories start from the global memory with S = 0; then the global memory takes one step.
std::vector<Vector> shards(const Frozen& run) {
    const int64_t shard = std::min(run.parameters.integer("C_G"), run.length);
    const int64_t local = std::min(run.parameters.integer("C_L"), run.length);
    Matrix global = given(run.inputs, "m0", run.d, run.d), m, s;
    std::vector<Vector> y;
    for (int64_t first = 0; first < run.length; first += shard) {
        const int64_t last = std::min(first + shard, run.length);
        Vector mean(static_cast<size_t>(run.d));
        double alpha = 0;
        for (int64_t t = first; t < last; ++t) {
            if ((t - first) % local == 0) m = global, s = zeros(run.d, run.d);
            const Vector k = run.unit("k", t);
            decay(s, run.is("titans") ? run.gate("eta", t) : 0);
            if (run.is("hebbian"))
                add_outer(s, 1, run.row("v", t), k);
            else
                add_outer(s, -run.gate("theta", t), minus(times(m, k), run.row("v", t)), k);
            decay(m, 1 - run.gate("alpha", t));
            for (size_t i = 0; i < m.size(); ++i)
                for (size_t j = 0; j < m.size(); ++j) m[i][j] += s[i][j];
            y.push_back(times(m, run.unit("q", t)));
            for (size_t i = 0; i < mean.size(); ++i)
                mean[i] += y.back()[i] / static_cast<double>(last - first);
            alpha += run.gate("alpha", t) / static_cast<double>(last - first);
        }
        decay(global, 1 - alpha);
        add_outer(global, 1, mean, mean);
    }
    return y;
}

double distance_to(const Array& y, const std::vector<Vector>& wanted) {
    Array array = Array::zeros("y", Dtype::f64, y.shape);
    auto place = array.as<double>().begin();
    for (const Vector& row : wanted) place = std::copy(row.begin(), row.end(), place);
    return distance(y, array);
}

constexpr double tolerance_of_kernels = 1e-5, tolerance_of_definition = 1e-12;

void check(const std::string& strategy, const Parameters& parameters, const Arrays& inputs,
           const std::vector<Vector>& wanted) {
    INFO(strategy);
    CHECK(distance_to(*find(definition_of(strategy, parameters, inputs), "y"), wanted) <
          tolerance_of_definition);
    CHECK(distance_to(run(strategy, parameters, inputs)["y"], wanted) < tolerance_of_kernels);
}

TEST_CASE("frozen errors are those at the boundary for any tile size", "[memory][cpu]") {
    const std::string rule = GENERATE("titans", "delta", "atlas_omega");
    const std::string readout = GENERATE("evolving", "boundary");
    // 70 and 130 are more than a tile, and the last tile is short; 9 is less than a window.
    const int64_t chunk = GENERATE(2, 9, 16, 64, 70, 130, 1000);
    const auto parameters = parameters_with({{"rule", rule},
                                             {"length", int64_t{200}},
                                             {"d", int64_t{19}},
                                             {"chunk", chunk},
                                             {"omega_window", int64_t{12}},
                                             {"readout", readout}});
    const Arrays inputs = inputs_for(parameters);
    const auto wanted = frozen_matrix(Frozen(parameters, inputs));
    for (const char* strategy : {"chunkwise_gd", "associative_scan", "atlas_parallel"}) {
        if (memory_family().variant(strategy)->refusal(parameters, Chip{})) continue;
        INFO(rule << " chunk " << chunk << " " << readout);
        check(strategy, parameters, inputs, wanted);
    }
}

TEST_CASE("every token may have a window of its own", "[memory][cpu]") {
    const std::string readout = GENERATE("evolving", "boundary");
    const int64_t chunk = GENERATE(1, 9, 64, 70, 1000);
    // 300 is longer than the sequence.
    const int64_t longest = GENERATE(12, 100, 300);
    const auto parameters = parameters_with({{"rule", "atlas_omega"},
                                             {"length", int64_t{150}},
                                             {"d", int64_t{19}},
                                             {"chunk", chunk},
                                             {"omega_window", longest},
                                             {"readout", readout}});
    const Arrays inputs = inputs_with_windows(parameters);
    const auto wanted = frozen_matrix(Frozen(parameters, inputs));
    INFO("chunk " << chunk << " " << readout << " windows up to " << longest);
    for (const char* strategy : {"chunkwise_gd", "associative_scan", "atlas_parallel"})
        check(strategy, parameters, inputs, wanted);
    if (chunk > 1 || readout == "boundary") return;
    for (const char* strategy : {"sequential", "sequential_persistent"})
        check(strategy, parameters, inputs, wanted);
}

TEST_CASE("windows that are all alike change no bit", "[memory][cpu]") {
    const auto parameters = parameters_with({{"rule", "atlas_omega"},
                                             {"length", int64_t{150}},
                                             {"d", int64_t{19}},
                                             {"chunk", int64_t{70}},
                                             {"C_G", int64_t{48}},
                                             {"C_L", int64_t{11}}});
    const Arrays without = inputs_for(parameters);
    Arrays with = inputs_with_windows(parameters);
    std::ranges::fill(find(with, "omega_windows")->as<int32_t>(), 8);  // the default of omega_window
    for (const std::string& strategy : strategies_for(parameters)) {
        INFO(strategy);
        CHECK(same_bits(run(strategy, parameters, with).outputs, run(strategy, parameters, without).outputs));
    }
}

TEST_CASE("a window longer than the sequence averages only existing tokens", "[memory][cpu]") {
    const auto parameters = parameters_with({{"rule", "atlas_omega"},
                                             {"length", int64_t{90}},
                                             {"d", int64_t{8}},
                                             {"chunk", int64_t{20}},
                                             {"omega_window", int64_t{1} << 24}});
    const Arrays inputs = inputs_for(parameters);
    const auto wanted = frozen_matrix(Frozen(parameters, inputs));
    for (const char* strategy : {"chunkwise_gd", "associative_scan", "atlas_parallel"})
        check(strategy, parameters, inputs, wanted);
    const Arrays exact = reference_for(parameters, inputs);
    CHECK(distance(run("sequential_persistent", parameters, inputs)["y"], *find(exact, "y")) <
          tolerance_of_kernels);
}

TEST_CASE("trellis freezes only its two errors", "[memory][cpu]") {
    const std::string readout = GENERATE("evolving", "boundary");
    const int64_t chunk = GENERATE(2, 7, 64, 70);
    const auto parameters = parameters_with({{"rule", "trellis"},
                                             {"length", int64_t{150}},
                                             {"d", int64_t{19}},
                                             {"compress", int64_t{6}},
                                             {"chunk", chunk},
                                             {"readout", readout}});
    Arrays inputs = inputs_for(parameters);
    // x is not normalised: a smaller x keeps the steps so small that chunks of 70 do not diverge.
    for (float& value : find(inputs, "x")->as<float>()) value *= 0.2f;
    INFO("chunk " << chunk << " " << readout);
    const Frozen frozen(parameters, inputs);
    check("chunkwise_gd", parameters, inputs, frozen_trellis(frozen, false));
    check("lattice_gla", parameters, inputs, frozen_trellis(frozen, true));
}

TEST_CASE("slots of zeros are not rescaled", "[memory][cpu]") {
    const auto parameters = parameters_with({{"rule", "trellis"},
                                             {"length", int64_t{40}},
                                             {"d", int64_t{19}},
                                             {"compress", int64_t{6}},
                                             {"chunk", int64_t{16}}});
    const Arrays inputs = inputs_for(parameters, false);  // without sk0 and sv0
    check("lattice_gla", parameters, inputs, frozen_trellis(Frozen(parameters, inputs), true));
}

TEST_CASE("lattice freezes its gates, and lattice_gla linearises it", "[memory][cpu]") {
    const std::string readout = GENERATE("evolving", "boundary");
    const int64_t chunk = GENERATE(2, 16, 64, 70, 500);
    const auto parameters = parameters_with({{"rule", "lattice"},
                                             {"length", int64_t{150}},
                                             {"d", int64_t{19}},
                                             {"slot_count", int64_t{5}},
                                             {"chunk", chunk},
                                             {"readout", readout}});
    Arrays inputs = inputs_for(parameters);
    // Values have about length 1, as in a layer: longer ones make the factors 1 - g (s . v) unstable.
    for (float& value : find(inputs, "v")->as<float>()) value *= 0.2f;
    INFO("chunk " << chunk << " " << readout);
    const Frozen frozen(parameters, inputs);
    check("chunkwise_gd", parameters, inputs, frozen_lattice(frozen, false));
    check("lattice_gla", parameters, inputs, frozen_lattice(frozen, true));
}

TEST_CASE("tnt starts every local from the global memory", "[memory][cpu]") {
    const std::string rule = GENERATE("titans", "delta", "hebbian");
    const int64_t shard = GENERATE(16, 30, 1000);
    const auto parameters = parameters_with(
        {{"rule", rule}, {"length", int64_t{100}}, {"d", int64_t{19}}, {"C_G", shard}, {"C_L", int64_t{7}}});
    Arrays inputs = inputs_for(parameters);
    for (float& value : find(inputs, "v")->as<float>()) value *= 0.2f;
    INFO(rule << " C_G " << shard);
    check("tnt", parameters, inputs, shards(Frozen(parameters, inputs)));
}

}  // namespace
}  // namespace sawtooth
