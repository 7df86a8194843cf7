// The definition in double precision, one position of one channel after another:
//   v_i = a_i v_(i-1) + u_i inside a block, where the first v is u;
//   x_i = v_i + (a_0 a_1 ... a_i) c with the carry c into the block; order 1: x = v.
// Gradients, without a division, so that a gate may be 0:
//   z_i = a_i z_(i-1), z_-1 = c;
//   w_i = dx_i + a_(i+1) w_(i+1), r_i = dx_i + a_(i+1) r_(i+1), both 0 past the block;
//   at the last position of a block w += dc of the next block, with order full r too;
//   du_i = w_i; da_i = w_i v_(i-1) + r_i z_(i-1), summed over channels; dc = a_0 r_0; order 1 has neither z
//   nor dc.

#include <vector>

#include "kernels/btp/parts.h"
#include "kernels/core/common_parameters.h"

namespace sawtooth::btp {
namespace {

class Reference {
  public:
    Reference(const Parameters& parameters, const Arrays& inputs)
        : sizes_(parameters),
          order_(order_of(parameters)),
          backward_(runs_backward(parameters)),
          before_(static_cast<size_t>(sizes_.block)) {
        const int64_t batch = sizes_.batch, heads = sizes_.heads / batch;
        const Shape gates = {batch, heads, sizes_.length};
        const Shape values = {batch, heads, sizes_.width, sizes_.length};
        a_ = find(inputs, "a")->as<float>().data();
        u_ = find(inputs, "u")->as<float>().data();
        x_ = add("x", values);
        carry_ = add("carry", {batch, heads, sizes_.blocks(), sizes_.width});
        if (!backward_) return;
        dx_ = find(inputs, "dx")->as<float>().data();
        outputs_.push_back(Array::zeros("da", Dtype::f64, gates));
        da_ = outputs_.back().as<double>().data();
        du_ = add("du", values);
    }

    Outcome<Arrays> compute(const std::stop_token& stop) {
        for (int64_t head = 0; head < sizes_.heads; ++head)
            for (int64_t channel = 0; channel < sizes_.width; ++channel) {
                if (stop.stop_requested()) return Error::cancelled();
                forward(head, channel);
                if (backward_) backward(head, channel);
            }
        return std::move(outputs_);
    }

  private:
    // v and z at the position before.
    struct State {
        double v, z;
    };

    double* add(const char* name, Shape shape) {
        outputs_.push_back(Array::uninitialised(name, Dtype::f64, std::move(shape)));
        return outputs_.back().as<double>().data();
    }

    int64_t gates_at(int64_t head) const { return head * sizes_.length; }
    int64_t values_at(int64_t head, int64_t channel) const {
        return (head * sizes_.width + channel) * sizes_.length;
    }
    double& carry(int64_t head, int64_t block, int64_t channel) {
        return carry_[(head * sizes_.blocks() + block) * sizes_.width + channel];
    }

    void forward(int64_t head, int64_t channel) {
        const float* const a = a_ + gates_at(head);
        const float* const u = u_ + values_at(head, channel);
        double* const x = x_ + values_at(head, channel);
        double c = 0;
        for (int64_t block = 0; block < sizes_.blocks(); ++block) {
            const Range at = sizes_.positions(block);
            carry(head, block, channel) = c;
            double v = 0, g = 1;
            for (int64_t i = at.first; i < at.last; ++i) {
                v = i == at.first ? u[i] : a[i] * v + u[i];
                g *= a[i];
                x[i] = order_ == Order::one ? v : v + g * c;
            }
            if (order_ == Order::two) c = v;
            if (order_ == Order::full) c = x[at.last - 1];
        }
    }

    void backward(int64_t head, int64_t channel) {
        const float* const a = a_ + gates_at(head);
        double dc = 0;  // of the next block
        for (int64_t block = sizes_.blocks() - 1; block >= 0; --block) {
            const Range at = sizes_.positions(block);
            repeat(at, a, u_ + values_at(head, channel), carry(head, block, channel));
            const double r = add_gradients(at, head, channel, dc);
            if (order_ != Order::one) dc = a[at.first] * r;
        }
    }

    void repeat(Range at, const float* a, const float* u, double c) {
        State state = {0, c};
        for (int64_t i = at.first; i < at.last; ++i) {
            before_[static_cast<size_t>(i - at.first)] = state;
            state = {i == at.first ? u[i] : a[i] * state.v + u[i], a[i] * state.z};
        }
    }

    // Returns r_0.
    double add_gradients(Range at, int64_t head, int64_t channel, double dc) {
        const float* const a = a_ + gates_at(head);
        const float* const dx = dx_ + values_at(head, channel);
        double* const da = da_ + gates_at(head);
        double* const du = du_ + values_at(head, channel);
        double w = 0, r = 0;
        for (int64_t i = at.last - 1; i >= at.first; --i) {
            const bool is_last = i == at.last - 1;
            w = dx[i] + (is_last ? dc : a[i + 1] * w);
            r = dx[i] + (!is_last ? a[i + 1] * r : order_ == Order::full ? dc : 0);
            const State& before = before_[static_cast<size_t>(i - at.first)];
            du[i] = w;
            if (i > at.first) da[i] += w * before.v;
            if (order_ != Order::one) da[i] += r * before.z;
        }
        return r;
    }

    Sizes sizes_;
    Order order_;
    bool backward_;
    std::vector<State> before_;  // at each position of one block
    Arrays outputs_;
    const float *a_, *u_, *dx_ = nullptr;
    double *x_, *carry_, *da_ = nullptr, *du_ = nullptr;
};

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Reference(parameters, inputs).compute(stop);
}

}  // namespace sawtooth::btp
