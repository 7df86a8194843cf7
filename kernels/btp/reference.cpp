// The definition in float64, one position of one channel after another:
//   v_i = a_i v_(i-1) + u_i inside a block, where the first v is u;
//   x_i = v_i + (a_0 a_1 ... a_i) c with the carry c into the block; order 1: x = v.
// Gradients, without a division, so that a gate may be 0:
//   z_i = a_i z_(i-1), z_-1 = c;
//   w_i = dx_i + a_(i+1) w_(i+1), r_i = dx_i + a_(i+1) r_(i+1), both 0 past the block;
//   at the last position of a block w += dc of the next block, with order full r too;
//   du_i = w_i; da_i = w_i v_(i-1) + r_i z_(i-1), summed over channels; dc = a_0 r_0; order 1 has neither z
//   nor dc.
// Variants that multiply with a transfer matrix have v_i = sum_j Lmat_ij u_j instead, with the matrix built
// as `construction` says.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/btp/parts.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/noisy.h"

namespace sawtooth::btp {
namespace {

// Lmat of one block, [n, n] row-major, 0 above the diagonal, from its gates a.
template <class Real>
std::vector<Real> matrix_of(Construction construction, const float* a, int64_t n) {
    std::vector<Real> matrix(static_cast<size_t>(n * n));
    const auto fill = [&](auto entry_of) {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j <= i; ++j) matrix[static_cast<size_t>(i * n + j)] = entry_of(i, j);
    };
    // From a_(j+1) … a_i, joined from the diagonal outwards.
    const auto fill_between = [&](Real identity, auto join, auto entry_of) {
        for (int64_t i = 0; i < n; ++i) {
            Real joined = identity;
            for (int64_t j = i; j >= 0; --j) {
                matrix[static_cast<size_t>(i * n + j)] = entry_of(joined);
                joined = join(joined, Real(a[j]));
            }
        }
    };
    // a_0 … a_i joined.
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

// At most so many numbers of x are computed with noise, some of which a judge draws one after another.
constexpr int64_t most_noisy = 1 << 22;

// Heads, the first and the last among them, spread evenly; null: all of them.
std::shared_ptr<const ChosenRows> chosen_heads(const Sizes& sizes) {
    const int64_t fit = std::max<int64_t>(most_noisy / std::max<int64_t>(sizes.width * sizes.length, 1), 2);
    if (sizes.heads <= fit) return nullptr;
    ChosenRows rows{{sizes.batch, sizes.heads / sizes.batch}, {}};
    for (int64_t i = 0; i < fit; ++i) rows.places.push_back(i * (sizes.heads - 1) / (fit - 1));
    return std::make_shared<const ChosenRows>(std::move(rows));
}

template <class Real>
class Reference {
  public:
    // Of chosen heads, or of all. With a construction, blocks are solved by transfer matrices.
    Reference(const Parameters& parameters, const Arrays& inputs, std::optional<Construction> construction,
              std::shared_ptr<const ChosenRows> chosen = nullptr)
        : sizes_(parameters),
          order_(order_of(parameters)),
          backward_(runs_backward(parameters)),
          construction_(construction),
          inputs_(inputs),
          chosen_(std::move(chosen)),
          before_(static_cast<size_t>(sizes_.block)) {
        add("x", {sizes_.width, sizes_.length});
        add("carry", {sizes_.blocks(), sizes_.width});
        if (!backward_) return;
        add("da", {sizes_.length});
        add("du", {sizes_.width, sizes_.length});
    }

    Outcome<Arrays> compute(const std::stop_token& stop) {
        const int64_t heads = chosen_ ? std::ssize(chosen_->places) : sizes_.heads;
        for (int64_t row = 0; row < heads; ++row) {
            point_to(chosen_ ? chosen_->places[static_cast<size_t>(row)] : row, row);
            build_matrices();
            if (backward_) sums_.assign(static_cast<size_t>(sizes_.length), 0);
            for (int64_t channel = 0; channel < sizes_.width; ++channel) {
                if (stop.stop_requested()) return Error::cancelled();
                forward(channel);
                if (backward_) backward(channel);
            }
            for (size_t i = 0; i < sums_.size(); ++i) head_.da[i] = value_of(sums_[i]);
        }
        return std::move(outputs_);
    }

  private:
    // v and z at the position before.
    struct State {
        Real v, z;
    };
    // Where the arrays of one head begin; without a backward pass some are null.
    struct Head {
        const float *a, *u, *dx;
        double *x, *carry, *da, *du;
    };

    // An output with this shape for each head.
    void add(const char* name, Shape shape) {
        if (chosen_)
            shape.insert(shape.begin(), std::ssize(chosen_->places));
        else
            shape.insert(shape.begin(), {sizes_.batch, sizes_.heads / sizes_.batch});
        outputs_.push_back(Array::uninitialised(name, Dtype::f64, std::move(shape)));
        outputs_.back().rows = chosen_;
    }

    // The arrays of a head of the inputs, which is a row of the outputs.
    void point_to(int64_t head, int64_t row) {
        const int64_t gates = sizes_.length, values = sizes_.width * sizes_.length;
        const auto input = [&](const char* name, int64_t each) {
            const Array* const array = find(inputs_, name);
            return array ? array->as<float>().data() + head * each : nullptr;
        };
        const auto output = [&](const char* name, int64_t each) {
            Array* const array = find(outputs_, name);
            return array ? array->as<double>().data() + row * each : nullptr;
        };
        head_ = {.a = input("a", gates),
                 .u = input("u", values),
                 .dx = input("dx", values),
                 .x = output("x", values),
                 .carry = output("carry", sizes_.blocks() * sizes_.width),
                 .da = output("da", gates),
                 .du = output("du", values)};
    }

    void build_matrices() {
        matrices_.clear();
        for (int64_t block = 0; construction_ && block < sizes_.blocks(); ++block) {
            const Range at = sizes_.positions(block);
            matrices_.push_back(matrix_of<Real>(*construction_, head_.a + at.first, at.count()));
            for (Real& entry : matrices_.back()) entry = narrow(entry);
        }
    }

    // v at position i of a block, without its matrix from v at the position before.
    Real local(int64_t block, int64_t i, const float* u, Real before) const {
        const Range at = sizes_.positions(block);
        if (!construction_) return i == at.first ? Real(u[i]) : head_.a[i] * before + u[i];
        const Real* const row = matrices_[static_cast<size_t>(block)].data() + (i - at.first) * at.count();
        SumOfProducts<Real> sum;
        for (int64_t j = at.first; j <= i; ++j) sum.add(row[j - at.first], u[j]);
        return sum.total();
    }

    double& carry(int64_t block, int64_t channel) { return head_.carry[block * sizes_.width + channel]; }

    void forward(int64_t channel) {
        const float* const u = head_.u + channel * sizes_.length;
        double* const x = head_.x + channel * sizes_.length;
        Real c = 0;
        for (int64_t block = 0; block < sizes_.blocks(); ++block) {
            const Range at = sizes_.positions(block);
            carry(block, channel) = value_of(c);
            Real v = 0, g = 1, last = 0;
            for (int64_t i = at.first; i < at.last; ++i) {
                v = local(block, i, u, v);
                g *= head_.a[i];
                last = order_ == Order::one ? v : narrow(v) + g * c;  // two_pass stores v
                x[i] = value_of(last);
            }
            if (order_ == Order::two) c = v;
            if (order_ == Order::full) c = last;
        }
    }

    void backward(int64_t channel) {
        Real dc = 0;  // of the next block
        for (int64_t block = sizes_.blocks() - 1; block >= 0; --block) {
            const Range at = sizes_.positions(block);
            repeat(at, head_.u + channel * sizes_.length, carry(block, channel));
            const Real r = add_gradients(at, channel, dc);
            if (order_ != Order::one) dc = head_.a[at.first] * r;
        }
    }

    void repeat(Range at, const float* u, Real c) {
        State state = {0, c};
        for (int64_t i = at.first; i < at.last; ++i) {
            const float a = head_.a[i];
            before_[static_cast<size_t>(i - at.first)] = state;
            state = {i == at.first ? Real(u[i]) : narrow(a * state.v) + u[i], narrow(a * state.z)};
        }
    }

    // Returns r_0.
    Real add_gradients(Range at, int64_t channel, Real dc) {
        const float *const a = head_.a, *const dx = head_.dx + channel * sizes_.length;
        double* const du = head_.du + channel * sizes_.length;
        Real w = 0, r = 0;
        for (int64_t i = at.last - 1; i >= at.first; --i) {
            const bool is_last = i == at.last - 1;
            w = dx[i] + (is_last ? dc : narrow(a[i + 1] * w));
            r = dx[i] + (!is_last ? narrow(a[i + 1] * r) : order_ == Order::full ? dc : Real(0));
            const State& before = before_[static_cast<size_t>(i - at.first)];
            Real& da = sums_[static_cast<size_t>(i)];
            du[i] = value_of(w);
            if (i > at.first) da += w * before.v;
            if (order_ != Order::one) da += r * before.z;
        }
        return r;
    }

    Sizes sizes_;
    Order order_;
    bool backward_;
    std::optional<Construction> construction_;
    const Arrays& inputs_;
    std::shared_ptr<const ChosenRows> chosen_;
    Head head_ = {};
    std::vector<std::vector<Real>> matrices_;  // of the blocks of one head
    std::vector<Real> sums_;                   // da of one head
    std::vector<State> before_;                // at each position of one block
    Arrays outputs_;
};

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Reference<double>(parameters, inputs, {}).compute(stop);
}

Outcome<Arrays> definition(const DefinitionRequest& request) {
    std::optional<Construction> construction;
    if (request.variant.rounds_inside) construction = construction_of(request.parameters);
    if (request.noisy)
        return Reference<Noisy>(request.parameters, request.inputs, construction,
                                chosen_heads(Sizes(request.parameters)))
            .compute(request.stop);
    return Reference<double>(request.parameters, request.inputs, construction).compute(request.stop);
}

}  // namespace sawtooth::btp
