// The definition, one sequence after another; s is 1, or 1/2 if bidirectional:
//   t[l] = conv[0] x[l - 1] + conv[1] x[l] + conv[2] x[l + 1] in every channel, x is 0 outside the sequence;
//   hidden = relu(x W1^T + b1), logits = hidden W2^T + b2;
//   gates = sigmoid(logits), or hard: 1 where logits >= 0, otherwise 0; gumbel: logits become
//   (logits + noise) / temperature before;
//   pu = x U^T, pv = x V^T, u = pu gates, v = pv gates;
//   c = scan(u), bidirectional: + scan of u from the end; w = c v;
//   y = s (t + w W_o^T) + b_o.
// Gradients, with dt = s dy:
//   dw = dt W_o, dc = dw v, dv = dw c, du = scan(dc) from the end, bidirectional: + scan(dc);
//   dlogits = (du pu + dv pv) sigmoid'(logits), hard: the same, straight through; gumbel: / temperature;
//   dhidden = dlogits W2 where hidden > 0, otherwise 0;
//   dx[l] = conv[0] dt[l + 1] + conv[1] dt[l] + conv[2] dt[l - 1]
//           + dhidden W1 + (du gates) U + (dv gates) V.
// It marks what kernels round: narrow() what all of them keep in 16 bits, stored() what some of them do.

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/ar_ssm/matrices.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/integers.h"
#include "kernels/core/noisy.h"
#include "kernels/core/range.h"
#include "kernels/core/some_rows.h"

namespace sawtooth::ar_ssm {
namespace {

// The weights as matrices; biases are single rows.
template <class Real>
struct LayerWeights {
    Matrix<Real> conv, gate_w1, gate_b1, gate_w2, gate_b2, u_proj, v_proj, out_proj, out_bias;
};

template <class Real>
struct Named {
    const char* name;
    Matrix<Real> LayerWeights<Real>::*weight;
};
template <class Real>
constexpr Named<Real> all_weights[] = {
    {"conv", &LayerWeights<Real>::conv},         {"gate_w1", &LayerWeights<Real>::gate_w1},
    {"gate_b1", &LayerWeights<Real>::gate_b1},   {"gate_w2", &LayerWeights<Real>::gate_w2},
    {"gate_b2", &LayerWeights<Real>::gate_b2},   {"u_proj", &LayerWeights<Real>::u_proj},
    {"v_proj", &LayerWeights<Real>::v_proj},     {"out_proj", &LayerWeights<Real>::out_proj},
    {"out_bias", &LayerWeights<Real>::out_bias},
};

// What the forward pass computes for one sequence. `w` holds one matrix for both directions, or one per
// direction where their roundings differ.
template <class Real>
struct Forward {
    Matrix<Real> x, hidden, logits, gates, pu, pv, v, c, y;
    std::vector<Matrix<Real>> w;
};

template <class Real>
class Definition {
  public:
    Definition(const Parameters& parameters, const Arrays& inputs, std::stop_token stop)
        : sizes_(parameters), bytes_(definition_bytes(parameters)), inputs_(inputs), stop_(std::move(stop)) {
        if constexpr (is_noisy) exact_ = std::make_unique<Definition<double>>(parameters, inputs, stop_);
        for (const auto& [name, weight] : all_weights<Real>) {
            const Array& array = *find(inputs, name);
            const int64_t columns = array.shape.back();
            Matrix<Real>& matrix = weights_.*weight;
            matrix = Matrix<Real>(array.count() / columns, columns);
            std::ranges::copy(array.as<float>(), matrix.values.begin());
            transposed_.*weight = transposed(matrix);
            gradients_.*weight = Matrix<Real>(matrix.rows, matrix.columns);
        }
        const auto add = [&](const char* name, int64_t columns) {
            Shape shape = {sizes_.batch, sizes_.length};
            if (columns > 0) shape.push_back(columns);
            outputs_.push_back(Array::uninitialised(name, Dtype::f64, std::move(shape)));
        };
        add("y", sizes_.width);
        add("gates", sizes_.rank);
        add("effective_rank", 0);
        if (sizes_.backward) add("dx", sizes_.width);
        if (!sizes_.intermediates) return;
        for (const char* name : {"u", "v", "c"}) add(name, sizes_.rank);
        for (const char* name : {"t", "uv"}) add(name, sizes_.width);
        if (!sizes_.bidirectional) return;
        add("c_rev", sizes_.rank);
        add("uv_rev", sizes_.width);
    }

    Outcome<Arrays> compute() {
        const int64_t together = sequences_together();
        in_parallel(together, [&](int64_t first) {
            for (int64_t sequence = first; sequence < sizes_.batch; sequence += together)
                if (!stop_.stop_requested()) compute_sequence(sequence);
        });
        if (stop_.stop_requested()) return Error::cancelled();
        if (sizes_.backward) add_weight_gradients();
        return std::move(outputs_);
    }

  private:
    template <class Other>
    friend class Definition;
    static constexpr bool is_noisy = std::is_same_v<Real, Noisy>;

    // One per core, but no more than need as much memory as the outputs: judging them needs more. Roundings,
    // and sums over all sequences, depend on the order, so that there is one at a time.
    int64_t sequences_together() const {
        if (is_noisy || sizes_.backward) return 1;
        int64_t bytes = 0;
        for (const Array& output : outputs_) bytes += output.bytes();
        return std::clamp<int64_t>(bytes / std::max<int64_t>(bytes_, 1), 1,
                                   std::min<int64_t>(core_count(), sizes_.batch));
    }

    void compute_sequence(int64_t sequence) {
        const Forward<Real> forward = run_forward(sequence);
        if (stop_.stop_requested()) return;
        put("y", sequence, forward.y.values);
        put("gates", sequence, forward.gates.values);
        put("effective_rank", sequence, effective_ranks(forward.gates));
        if (sizes_.backward) put("dx", sequence, run_backward(sequence, forward).values);
    }

    Matrix<Real> ranks() const { return {sizes_.length, sizes_.rank}; }
    // Sizes the matrices. Once stopped it leaves the rest empty, because filling large ones takes seconds.
    void make_ranks(std::initializer_list<Matrix<Real>*> matrices) const {
        for (Matrix<Real>* const matrix : matrices)
            if (!stop_.stop_requested()) *matrix = ranks();
    }

    // One sequence of x or dy, times `scale`, a power of 2.
    Matrix<Real> tokens(const char* name, int64_t sequence, float scale = 1) const {
        Matrix<Real> matrix(sizes_.length, sizes_.width);
        const auto count = static_cast<int64_t>(matrix.values.size());
        std::transform(find(inputs_, name)->as<float>().begin() + sequence * count,
                       find(inputs_, name)->as<float>().begin() + (sequence + 1) * count,
                       matrix.values.begin(), [scale](float value) { return scale * value; });
        return matrix;
    }
    void put(const char* name, int64_t sequence, const std::vector<Real>& values) {
        std::ranges::transform(values,
                               find(outputs_, name)->as<double>().begin() + sequence * std::ssize(values),
                               [](Real value) { return value_of(value); });
    }

    // Calls each(positions) for chunks of positions, so short that products stay in the cache.
    static constexpr int64_t chunk = 64;
    template <class Each>
    void for_each_chunk(Each&& each) const {
        for (int64_t first = 0; first < sizes_.length && !stop_.stop_requested(); first += chunk)
            each(Range{first, std::min(first + chunk, sizes_.length)});
    }

    Forward<Real> run_forward(int64_t sequence) {
        Forward<Real> f;
        f.x = tokens("x", sequence);
        f.hidden = {sizes_.length, sizes_.hidden};
        f.y = {sizes_.length, sizes_.width};
        Forward<double> exact;
        if (exact_) exact = exact_->run_forward(sequence);
        Matrix<Real> u, c_rev;
        make_ranks({&f.logits, &f.gates, &f.pu, &f.pv, &f.v, &f.c, &u});
        if (sizes_.bidirectional) make_ranks({&c_rev});
        if (stop_.stop_requested()) return f;
        for_each_chunk([&](Range at) {
            compute_gates(f, at, sequence, exact);
            add_product(f.pu, at, f.x, transposed_.u_proj);
            add_product(f.pv, at, f.x, transposed_.v_proj);
            for (Matrix<Real>* projected : {&f.pu, &f.pv})
                set_elements(*projected, at, [](Real number) { return narrow(number); });
            const auto gated = [](Real projected, Real gate) { return stored(projected * gate); };
            set_elements(u, at, f.pu, f.gates, gated);
            set_elements(f.v, at, f.pv, f.gates, gated);
        });
        add_scan(f.c, u, false);
        if (sizes_.bidirectional) add_scan(c_rev, u, true);
        if (sizes_.intermediates && !stop_.stop_requested()) put_intermediates(sequence, f, u, c_rev);
        read_out(f, c_rev);
        Matrix<Real> term(std::min(chunk, sizes_.length), sizes_.width);  // a term of y, for a chunk
        for_each_chunk([&](Range at) { compute_output(f, at, term); });
        return f;
    }

    void compute_gates(Forward<Real>& f, Range at, int64_t sequence, const Forward<double>& exact) const {
        set_rows(f.hidden, at, weights_.gate_b1);
        add_product(f.hidden, at, f.x, transposed_.gate_w1);
        if constexpr (is_noisy) settle_units(f.hidden, at, exact.hidden);
        set_elements(f.hidden, at, [](Real unit) { return unit < Real(0) ? Real(0) : unit; });  // NaN stays
        const auto keep_units = [&] { set_elements(f.hidden, at, [](Real unit) { return narrow(unit); }); };
        if (!sizes_.hard) keep_units();
        set_rows(f.logits, at, weights_.gate_b2);
        add_product(f.logits, at, f.hidden, transposed_.gate_w2);
        if (sizes_.gumbel) add_noise(f.logits, at, sequence);
        if (sizes_.hard) keep_units();  // only now, as hard gates also use what the units lose
        if constexpr (is_noisy)
            if (sizes_.hard) settle_logits(f.logits, at, exact.logits);
        set_elements(f.gates, at, f.logits, f.logits, [&](Real logit, Real) {
            if (sizes_.hard) return logit >= Real(0) ? Real(1) : Real(0);
            return 1 / (1 + exp(-logit));
        });
    }

    void add_noise(Matrix<Real>& logits, Range at, int64_t sequence) const {
        const float* const noise =
            find(inputs_, "gate_noise")->template as<float>().data() + sequence * sizes_.length * sizes_.rank;
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t i = 0; i < sizes_.rank; ++i)
                logits.row(l)[i] =
                    (logits.row(l)[i] + Real(noise[l * sizes_.rank + i])) / Real(sizes_.temperature);
    }

    // The sign of a hidden unit decides whether it has a gradient, and the sign of a logit decides a hard
    // gate. Near 0 kernels compute both in double, so that their signs are exact unless rounding moves a
    // number further.
    static void settle_units(Matrix<Noisy>& units, Range at, const Matrix<double>& exact) {
        for (int64_t l = at.first; l < at.last; ++l) {
            Noisy largest = 0;
            for (int64_t i = 0; i < units.columns; ++i) largest = std::max(largest, abs(units.row(l)[i]));
            settle(units.row(l), exact.row(l), units.columns, 0x1p-14 * largest.value(),
                   [](double unit) { return unit > 0; });
        }
    }
    static void settle_logits(Matrix<Noisy>& logits, Range at, const Matrix<double>& exact) {
        for (int64_t l = at.first; l < at.last; ++l)
            settle(logits.row(l), exact.row(l), logits.columns, 0x1p-10,
                   [](double logit) { return logit >= 0; });
    }
    template <class IsBeyond>
    static void settle(Noisy* row, const double* exact, int64_t count, double near, IsBeyond is_beyond) {
        for (int64_t i = 0; i < count; ++i)
            if (abs(row[i]) < Noisy(near) && is_beyond(row[i].value()) != is_beyond(exact[i]))
                row[i] = exact[i];
    }

    // Puts the intermediates; f.y serves as memory.
    void put_intermediates(int64_t sequence, Forward<Real>& f, const Matrix<Real>& u,
                           const Matrix<Real>& c_rev) {
        const Range all = {0, sizes_.length};
        put("u", sequence, u.values);
        put("v", sequence, f.v.values);
        set_convolution(f.y, all, f.x);
        put("t", sequence, f.y.values);
        const auto put_direction = [&](const char* c_name, const char* uv_name, const Matrix<Real>& c) {
            put(c_name, sequence, c.values);
            Matrix<Real> w = ranks();
            set_elements(w, all, c, f.v, [](Real scanned, Real v) { return narrow(scanned * v); });
            set_rows(f.y, all, weights_.out_bias);
            add_product(f.y, all, w, transposed_.out_proj);
            put(uv_name, sequence, f.y.values);
        };
        put_direction("c", "uv", f.c);
        if (sizes_.bidirectional) put_direction("c_rev", "uv_rev", c_rev);
    }

    // Computes w, and adds the other direction to c. With roundings there is a w for each direction, because
    // unfused rounds both of them and fused only their sum.
    void read_out(Forward<Real>& f, const Matrix<Real>& c_rev) const {
        const Range all = {0, sizes_.length};
        const auto read = [&](const Matrix<Real>& c) {
            Matrix<Real> w = ranks();
            set_elements(w, all, c, f.v, [](Real scanned, Real v) { return stored(scanned * v); });
            return w;
        };
        const auto sum = [](Real left, Real right) { return left + right; };
        if (is_noisy && sizes_.bidirectional) {
            f.w = {read(f.c), read(c_rev)};
            set_elements(f.w[1], all, f.w[0], f.w[1],
                         [](Real w, Real w_rev) { return narrow(w + w_rev) - w; });
        }
        if (sizes_.bidirectional) set_elements(f.c, all, f.c, c_rev, sum);
        if (f.w.empty()) {
            f.w = {read(f.c)};
            set_elements(f.w[0], all, [](Real w) { return narrow(w); });
        }
    }

    // y = s (t + w W_o^T + b_o / s). With a w for each direction, their products are rounded one by one.
    void compute_output(Forward<Real>& f, Range at, Matrix<Real>& term) const {
        set_convolution(f.y, at, f.x);
        Real* const y = f.y.row(at.first);
        const int64_t count = at.count() * sizes_.width;
        const double biases = sizes_.bidirectional && f.w.size() == 1 ? 2 : 1;
        for (const Matrix<Real>& w : f.w) {
            set_rows(term, {0, at.count()}, weights_.out_bias);
            if (biases > 1) set_elements(term, {0, at.count()}, [&](Real bias) { return biases * bias; });
            add_product<Real>(term.row(0), at.count(), term.columns, {w.row(at.first), w.columns, 1},
                              transposed_.out_proj.row(0), w.columns);
            for (int64_t i = 0; i < count; ++i) y[i] += stored(term.values[static_cast<size_t>(i)]);
        }
        if (sizes_.bidirectional) set_elements(f.y, at, [&](Real sum) { return sizes_.scale() * sum; });
    }

    void set_convolution(Matrix<Real>& t, Range at, const Matrix<Real>& x) const {
        for (int64_t l = at.first; l < at.last; ++l) {
            const int64_t first = l == 0 ? 1 : 0, last = l + 1 == sizes_.length ? 2 : 3;  // taps inside
            for (int64_t d = 0; d < sizes_.width; ++d) {
                Real sum = 0;
                for (int64_t k = first; k < last; ++k) sum += weights_.conv.row(d)[k] * x.row(l + k - 1)[d];
                t.row(l)[d] = stored(sum);
            }
        }
    }

    std::vector<Real> effective_ranks(const Matrix<Real>& gates) const {
        std::vector<Real> sums;
        for (int64_t l = 0; l < gates.rows; ++l)
            sums.push_back(std::accumulate(gates.row(l), gates.row(l + 1), Real(0)));
        return sums;
    }

    // Returns dx; adds to the gradients of the weights.
    Matrix<Real> run_backward(int64_t sequence, const Forward<Real>& f) {
        const Matrix<Real> dt = tokens("dy", sequence, sizes_.scale());
        Matrix<Real> dw, dc, dv, du, dpu, dpv, dlogits;
        make_ranks({&dw, &dc, &dv, &du, &dpu, &dpv, &dlogits});
        if (stop_.stop_requested()) return {};
        const auto product = [](Real left, Real right) { return left * right; };
        for_each_chunk([&](Range at) {
            add_product(dw, at, dt, weights_.out_proj);
            set_elements(dc, at, dw, f.v, product);
            set_elements(dv, at, dw, f.c, product);
            for (const Matrix<Real>& w : f.w) add_outer_product(gradients_.out_proj, at, dt, w);
            for (int directions = sizes_.bidirectional ? 2 : 1; directions > 0; --directions)
                add_rows(gradients_.out_bias, at, dt);
        });
        add_scan(du, dc, true);
        if (sizes_.bidirectional) add_scan(du, dc, false);
        Matrix<Real> dhidden(sizes_.length, sizes_.hidden), dx(sizes_.length, sizes_.width);
        const auto kept_product = [](Real left, Real right) { return narrow(left * right); };
        for_each_chunk([&](Range at) {
            set_elements(dpu, at, du, f.gates, kept_product);
            set_elements(dpv, at, dv, f.gates, kept_product);
            compute_gate_gradients(dlogits, dhidden, at, f, du, dv);
            add_convolution_gradients(dx, at, f.x, dt);
            add_product(dx, at, dhidden, weights_.gate_w1);
            add_product(dx, at, dpu, weights_.u_proj);
            add_product(dx, at, dpv, weights_.v_proj);
            add_outer_product(gradients_.gate_w1, at, dhidden, f.x);
            add_outer_product(gradients_.gate_w2, at, dlogits, f.hidden);
            add_outer_product(gradients_.u_proj, at, dpu, f.x);
            add_outer_product(gradients_.v_proj, at, dpv, f.x);
            add_rows(gradients_.gate_b1, at, dhidden);
            add_rows(gradients_.gate_b2, at, dlogits);
        });
        return dx;
    }

    void compute_gate_gradients(Matrix<Real>& dlogits, Matrix<Real>& dhidden, Range at,
                                const Forward<Real>& f, const Matrix<Real>& du,
                                const Matrix<Real>& dv) const {
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t i = 0; i < sizes_.rank; ++i) {
                const Real dgate = du.row(l)[i] * f.pu.row(l)[i] + dv.row(l)[i] * f.pv.row(l)[i];
                const Real dlogit = dgate * slope(f.logits.row(l)[i]);
                dlogits.row(l)[i] = narrow(sizes_.gumbel ? dlogit / Real(sizes_.temperature) : dlogit);
            }
        add_product(dhidden, at, dlogits, weights_.gate_w2);
        set_elements(dhidden, at, dhidden, f.hidden,
                     [](Real gradient, Real unit) { return unit > Real(0) ? narrow(gradient) : Real(0); });
    }

    // The derivative of the sigmoid; it loses no digits where the sigmoid is near 1.
    static Real slope(Real logit) {
        using std::abs;
        const Real nearer = 1 / (1 + exp(abs(logit)));  // to 0, among gate and 1 - gate
        return nearer * (1 - nearer);
    }

    // Adds to the gradients of x and of the taps.
    void add_convolution_gradients(Matrix<Real>& dx, Range at, const Matrix<Real>& x,
                                   const Matrix<Real>& dt) {
        for (int64_t l = at.first; l < at.last; ++l)
            for (int64_t k = 0; k < 3; ++k) {
                const int64_t from = l - k + 1;  // x[l] is under tap k there
                if (from < 0 || from >= sizes_.length) continue;
                for (int64_t d = 0; d < sizes_.width; ++d) {
                    dx.row(l)[d] += weights_.conv.row(d)[k] * dt.row(from)[d];
                    gradients_.conv.row(d)[k] += dt.row(from)[d] * x.row(l)[d];
                }
            }
    }

    void add_weight_gradients() {
        for (const auto& [name, weight] : all_weights<Real>) {
            outputs_.push_back(
                Array::uninitialised("d" + std::string(name), Dtype::f64, find(inputs_, name)->shape));
            std::ranges::transform((gradients_.*weight).values, outputs_.back().as<double>().begin(),
                                   [](Real value) { return value_of(value); });
        }
    }

    Sizes sizes_;
    int64_t bytes_;  // while one sequence is computed
    const Arrays& inputs_;
    std::stop_token stop_;
    LayerWeights<Real> weights_, transposed_, gradients_;
    std::unique_ptr<Definition<double>> exact_;  // null unless Real is Noisy
    Arrays outputs_;
};

}  // namespace

int64_t definition_bytes(const Parameters& parameters) {
    const Sizes sizes(parameters);
    // How many matrices of each width run_forward and run_backward hold at once.
    int64_t ranks = 8, widths = 2, hiddens = 1;
    if (sizes.bidirectional) ranks += 2;
    if (sizes.backward) ranks += 7, widths += 2, hiddens += 1;
    const int64_t numbers = saturating_add(
        saturating_multiply(ranks, sizes.rank),
        saturating_add(saturating_multiply(widths, sizes.width), saturating_multiply(hiddens, sizes.hidden)));
    return saturating_multiply(saturating_multiply(numbers, sizes.length), sizeof(double));
}

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Definition<double>(parameters, inputs, std::move(stop)).compute();
}

Outcome<Arrays> definition(const DefinitionRequest& request) {
    if (!request.noisy) return Definition<double>(request.parameters, request.inputs, request.stop).compute();
    const auto noisy = [&](const Parameters& parameters, const Arrays& inputs) {
        return Definition<Noisy>(parameters, inputs, request.stop).compute();
    };
    const Sizes sizes(request.parameters);
    // Gradients of weights are sums over all sequences.
    if (sizes.backward) return noisy(request.parameters, request.inputs);
    std::set<std::string> shared;
    for (const auto& [name, weight] : all_weights<Noisy>) shared.insert(name);
    return compute_some_rows(request.inputs, shared, {sizes.batch}, sizes.length * sizes.width,
                             [&](const Arrays& inputs, int64_t sequences) {
                                 Parameters parameters = request.parameters;
                                 parameters.set("batch", sequences);
                                 return noisy(parameters, inputs);
                             });
}

}  // namespace sawtooth::ar_ssm
