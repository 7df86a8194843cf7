// The definition in float64, one position of one channel after another:
//   v_i = a_i v_(i-1) + u_i inside a block, where the first v is u;
//   x_i = v_i + (a_0 a_1 ... a_i) c with the carry c into the block; order 1: x = v. The first block receives
//   carry0, which is 0 if absent.
// Gradients, without a division, so that a gate may be 0:
//   z_i = a_i z_(i-1), z_-1 = c;
//   w_i = dx_i + a_(i+1) w_(i+1), r_i = dx_i + a_(i+1) r_(i+1), both 0 past the block;
//   at the last position of a block w += dc of the next block, with order full r too;
//   du_i = w_i; da_i = w_i v_(i-1) + r_i z_(i-1), summed over the channels and sequences that share the
//   gates; dc = a_0 r_0, which is dcarry0 in the first block; order 1 has neither z nor dc.
// For variants that multiply with a transfer matrix the definition is v_i = sum_j Lmat_ij u_j instead, with
// the matrix built as `construction` says.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/btp/parts.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/noisy.h"
#include "kernels/core/some_rows.h"

namespace sawtooth::btp {
namespace {

// Returns Lmat of one block, [n, n] row-major with 0 above the diagonal, from its n gates.
template <class Real>
std::vector<Real> matrix_of(Construction construction, const float* a, int64_t n) {
    std::vector<Real> matrix(static_cast<size_t>(n * n));
    const auto fill = [&](auto entry_of) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j <= i; ++j) matrix[static_cast<size_t>(i * n + j)] = entry_of(i, j);
    };
    // Computes entries from a_(j+1) … a_i, which are joined from the diagonal outwards.
    const auto fill_between = [&](Real identity, auto join, auto entry_of) {
        for (int64_t i = 0; i < n; ++i) {
            Real joined = identity;
            for (int64_t j = i; j >= 0; --j) {
                matrix[static_cast<size_t>(i * n + j)] = entry_of(joined);
                joined = join(joined, Real(a[j]));
            }
        }
    };
    // Joins a_0 … a_i for every i.
    const auto prefixes = [&](auto first, auto join) {
        std::vector<Real> upto = {first(Real(a[0]))};
        for (int64_t i = 1; i < n; ++i) upto.push_back(join(upto.back(), Real(a[i])));
        return upto;
    };
    const auto logarithm = [](Real gate) { return log(gate); };
    const auto add_logarithm = [&](Real sum, Real gate) { return sum + log(gate); };
    const std::multiplies<Real> times;
    switch (construction) {
        case Construction::log_stable:
            fill_between(0, add_logarithm, [](Real sum) { return exp(sum); });
            break;
        case Construction::log_difference: {
            const std::vector<Real> sums = prefixes(logarithm, add_logarithm);
            fill([&](int64_t i, int64_t j) {
                return exp(sums[static_cast<size_t>(i)] - sums[static_cast<size_t>(j)]);
            });
            break;
        }
        case Construction::cumprod_ratio: {
            const std::vector<Real> products = prefixes(std::identity(), times);
            fill([&](int64_t i, int64_t j) {
                const Real divisor = products[static_cast<size_t>(j)];
                return divisor == Real(0) ? Real(0) : products[static_cast<size_t>(i)] / divisor;
            });
            break;
        }
        case Construction::masked_cumprod:
        case Construction::exact:
            fill_between(1, times, std::identity());
            break;
    }
    return matrix;
}

// Rounds the sums v_i = u_i + a_i v_(i-1) as a kernel does that adds their terms u_i, a_i u_(i-1),
// a_i a_(i-1) u_(i-2), … one by one: its partial sums, v_i without a decayed v_k, are larger than those of
// the recurrence. Each position is given once, in the order of the recurrence.
template <class Real>
class TermByTerm {
  public:
    Real next(double, Real v) { return v; }
};

template <>
class TermByTerm<Noisy> {
  public:
    Noisy next(double gate, Noisy v) {
        const double decay = std::min(std::abs(gate), 1.0);
        // The 16th root leaves out about as many terms as are too small to change the sum.
        terms_ = 1 + terms_ * std::sqrt(std::sqrt(std::sqrt(std::sqrt(decay))));
        sums_ = gate * (before_ + sums_);
        squares_ = gate * gate * (before_ * before_ + squares_);
        before_ = v.value();
        const double partial = terms_ * before_ * before_ - 2 * before_ * sums_ + squares_;
        return SumOfProducts<Noisy>(before_, std::max(partial, 0.0)).total();
    }

  private:
    double terms_ = 0, before_ = 0, sums_ = 0, squares_ = 0;  // of the decayed v_k
};

template <class Real>
class Reference {
  public:
    // With a construction, blocks are solved by transfer matrices; without one, by the recurrence.
    Reference(const Parameters& parameters, const Arrays& inputs, std::optional<Construction> construction)
        : sizes_(parameters),
          order_(order_of(parameters)),
          backward_(runs_backward(parameters)),
          construction_(construction),
          carries_(static_cast<size_t>(sizes_.rows())),
          before_(static_cast<size_t>(sizes_.block)) {
        const int64_t batch = sizes_.batch, heads = sizes_.heads / batch;
        const Shape values = {batch, heads, sizes_.width, sizes_.length};
        const Array* const carry0 = find(inputs, "carry0");
        a_ = find(inputs, "a")->as<float>().data();
        u_ = find(inputs, "u")->as<float>().data();
        const bool starts = carry0 && order_ != Order::one;
        if (starts) std::ranges::copy(carry0->as<float>(), carries_.begin());
        x_ = add("x", values);
        carry_ = add("carry", {batch, heads, sizes_.blocks(), sizes_.width});
        if (!backward_) return;
        dx_ = find(inputs, "dx")->as<float>().data();
        da_ = add("da", shares_gates(parameters) ? Shape{heads, sizes_.length}
                                                 : Shape{batch, heads, sizes_.length});
        du_ = add("du", values);
        if (starts) dcarry0_ = add("dcarry0", {batch, heads, sizes_.width});
    }

    Outcome<Arrays> compute(const std::stop_token& stop) {
        for (int64_t gates = 0; gates < sizes_.gate_rows; ++gates) {
            for (int64_t block = 0; block < sizes_.blocks(); ++block) {
                const Range at = sizes_.positions(block);
                if (construction_) build_matrix(gates_of(gates) + at.first, at.count());
                if (!for_each_channel(gates, stop,
                                      [&](int64_t head, int64_t channel) { forward(head, channel, block); }))
                    return Error::cancelled();
            }
            if (!backward_) continue;
            sums_.assign(static_cast<size_t>(sizes_.length), 0);
            if (!for_each_channel(gates, stop,
                                  [&](int64_t head, int64_t channel) { backward(head, channel); }))
                return Error::cancelled();
            for (size_t i = 0; i < sums_.size(); ++i)
                da_[gates * sizes_.length + static_cast<int64_t>(i)] = value_of(sums_[i]);
        }
        return std::move(outputs_);
    }

  private:
    // The numbers v and z of a position.
    struct State {
        Real v, z;
    };

    double* add(const char* name, Shape shape) {
        outputs_.push_back(Array::uninitialised(name, Dtype::f64, std::move(shape)));
        return outputs_.back().as<double>().data();
    }

    const float* gates_of(int64_t head) const { return a_ + sizes_.gate_row(head) * sizes_.length; }
    int64_t values_at(int64_t head, int64_t channel) const {
        return (head * sizes_.width + channel) * sizes_.length;
    }
    // Calls each(head, channel) for all channels that share a row of gates. Returns false if it was stopped.
    template <class Each>
    bool for_each_channel(int64_t gates, const std::stop_token& stop, Each&& each) const {
        for (int64_t head = gates; head < sizes_.heads; head += sizes_.gate_rows)
            for (int64_t channel = 0; channel < sizes_.width; ++channel) {
                if (stop.stop_requested()) return false;
                each(head, channel);
            }
        return true;
    }

    void build_matrix(const float* gates, int64_t count) {
        matrix_ = matrix_of<Real>(*construction_, gates, count);
        for (Real& entry : matrix_) entry = narrow(entry);
    }

    // Returns v at position i of a block. `before` is v at the position before, for blocks without a matrix.
    Real local(Range at, int64_t i, const float* a, const float* u, Real before) const {
        if (!construction_) return i == at.first ? Real(u[i]) : a[i] * before + u[i];
        const Real* const row = matrix_.data() + (i - at.first) * at.count();
        SumOfProducts<Real> sum;
        for (int64_t j = at.first; j <= i; ++j) sum.add(row[j - at.first], u[j]);
        return sum.total();
    }

    double& carry(int64_t head, int64_t block, int64_t channel) {
        return carry_[(head * sizes_.blocks() + block) * sizes_.width + channel];
    }

    void forward(int64_t head, int64_t channel, int64_t block) {
        const float* const a = gates_of(head);
        const float* const u = u_ + values_at(head, channel);
        double* const x = x_ + values_at(head, channel);
        const Range at = sizes_.positions(block);
        Real& c = carries_[static_cast<size_t>(head * sizes_.width + channel)];
        carry(head, block, channel) = value_of(c);
        Real v = 0, sum = 0, g = 1;
        TermByTerm<Real> sums;
        for (int64_t i = at.first; i < at.last; ++i) {
            v = local(at, i, a, u, v);
            g *= a[i];
            sum = construction_ ? sums.next(i == at.first ? 0 : a[i], v) : v;
            x[i] = value_of(order_ == Order::one ? sum : stored(sum) + g * c);  // two_pass stores v
        }
        if (order_ == Order::two) c = sum;
        if (order_ == Order::full) c = sum + g * c;  // the last x, from a v that is not stored
    }

    void backward(int64_t head, int64_t channel) {
        const float* const a = gates_of(head);
        Real dc = 0;  // the gradient of the carry into the next block
        for (int64_t block = sizes_.blocks() - 1; block >= 0; --block) {
            const Range at = sizes_.positions(block);
            repeat(at, a, u_ + values_at(head, channel), carry(head, block, channel));
            const Real r = add_gradients(at, head, channel, dc);
            if (order_ != Order::one) dc = a[at.first] * r;
        }
        if (dcarry0_) dcarry0_[head * sizes_.width + channel] = value_of(dc);
    }

    // Computes v and z before every position of a block again.
    void repeat(Range at, const float* a, const float* u, Real c) {
        State state = {0, c};
        for (int64_t i = at.first; i < at.last; ++i) {
            before_[static_cast<size_t>(i - at.first)] = state;
            state = {i == at.first ? Real(u[i]) : narrow(a[i] * state.v) + u[i], narrow(a[i] * state.z)};
        }
    }

    // Adds the gradients of a block, whose next block has the gradient dc of its carry. Returns r_0.
    Real add_gradients(Range at, int64_t head, int64_t channel, Real dc) {
        const float* const a = gates_of(head);
        const float* const dx = dx_ + values_at(head, channel);
        double* const du = du_ + values_at(head, channel);
        Real w = 0, r = 0;
        TermByTerm<Real> sums_of_w, sums_of_r;
        for (int64_t i = at.last - 1; i >= at.first; --i) {
            const bool is_last = i == at.last - 1;
            const double gate = is_last ? 0 : a[i + 1];
            w = dx[i] + (is_last ? dc : narrow(gate * w));
            r = dx[i] + (!is_last ? narrow(gate * r) : order_ == Order::full ? dc : Real(0));
            const Real dv = construction_ ? sums_of_w.next(gate, w) : w;
            const Real dz = construction_ ? sums_of_r.next(gate, r) : r;
            const State& before = before_[static_cast<size_t>(i - at.first)];
            Real& da = sums_[static_cast<size_t>(i)];
            du[i] = value_of(dv);
            if (i > at.first) da += dv * before.v;
            if (order_ != Order::one) da += dz * before.z;
        }
        return r;
    }

    Sizes sizes_;
    Order order_;
    bool backward_;
    std::optional<Construction> construction_;
    std::vector<Real> matrix_;   // of the block
    std::vector<Real> carries_;  // into the block, for every channel of all heads
    std::vector<Real> sums_;     // da of a row of gates
    std::vector<State> before_;  // the state before each position of a block
    Arrays outputs_;
    const float *a_, *u_, *dx_ = nullptr;
    double *x_, *carry_, *da_ = nullptr, *du_ = nullptr, *dcarry0_ = nullptr;
};

// Computes some heads with noise, as compute_some_rows does, where the batch shares its gates: da is a sum
// over all sequences of a head.
Outcome<Arrays> noisy_with_shared_gates(const DefinitionRequest& request,
                                        std::optional<Construction> construction) {
    constexpr int64_t most = 1 << 22;
    const Sizes sizes(request.parameters);
    const int64_t batch = sizes.batch, heads = sizes.gate_rows;
    const int64_t count = std::min(heads, std::max<int64_t>(most / (batch * sizes.width * sizes.length), 2));
    if (count == heads)
        return Reference<Noisy>(request.parameters, request.inputs, construction).compute(request.stop);
    const auto of_gates = std::make_shared<ChosenRows>(ChosenRows{{heads}, {}});
    const auto of_heads = std::make_shared<ChosenRows>(ChosenRows{{batch, heads}, {}});
    for (int64_t i = 0; i < count; ++i) of_gates->places.push_back(i * (heads - 1) / (count - 1));
    for (int64_t sequence = 0; sequence < batch; ++sequence)
        for (const int64_t head : of_gates->places) of_heads->places.push_back(sequence * heads + head);
    Arrays inputs;
    for (const Array& input : request.inputs)
        inputs.push_back(chosen(input, input.name == "a" ? of_gates : of_heads));
    Parameters parameters = request.parameters;
    parameters.set("H", count);
    auto outputs = Reference<Noisy>(parameters, inputs, construction).compute(request.stop);
    if (!outputs) return outputs;
    for (Array& output : *outputs) {
        output.rows = output.name == "da" ? of_gates : of_heads;
        if (output.name == "da") continue;
        output.shape.erase(output.shape.begin());
        output.shape[0] *= batch;
    }
    return outputs;
}

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Reference<double>(parameters, inputs, {}).compute(stop);
}

Outcome<Arrays> definition(const DefinitionRequest& request) {
    std::optional<Construction> construction;
    if (request.variant.rounds_inside) construction = construction_of(request.parameters);
    if (!request.noisy)
        return Reference<double>(request.parameters, request.inputs, construction).compute(request.stop);
    if (shares_gates(request.parameters)) return noisy_with_shared_gates(request, construction);
    const Sizes sizes(request.parameters);
    return compute_some_rows(
        request.inputs, {}, {sizes.batch, sizes.heads / sizes.batch}, sizes.width * sizes.length,
        [&](const Arrays& inputs, int64_t heads) {
            Parameters parameters = request.parameters;
            parameters.set("B", int64_t{1});
            parameters.set("H", heads);
            return Reference<Noisy>(parameters, inputs, construction).compute(request.stop);
        });
}

}  // namespace sawtooth::btp
