#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/common_parameters.h"
#include "kernels/core/family.h"
#include "kernels/core/storage.h"

namespace sawtooth::ar_ssm {

// Whether the gates are drawn at random, from given noise.
inline bool draws_gates(const Parameters& p) { return p.is("gate_mode", "gumbel"); }
// Whether the layer also scans from the end.
inline bool scans_from_end(const Parameters& p) {
    return p.flag("bidirectional") && p.flag("use_anticausal");
}

// Whether what the steps pass on is returned, too.
inline bool returns_intermediates(const Parameters& p) { return p.flag("intermediates"); }

// The sizes of a layer. Arrays of tokens are [batch, length, …]; the token at a position of a sequence is
// their row sequence * length + position.
struct Sizes {
    explicit Sizes(const Parameters& p)
        : batch(p.integer("batch")),
          length(p.integer("length")),
          width(p.integer("d_model")),
          rank(p.integer("max_rank")),
          hidden(p.integer("gate_hidden")),
          bidirectional(scans_from_end(p)),
          hard(p.is("gate_mode", "hard")),
          gumbel(draws_gates(p)),
          temperature(gumbel ? p.real("gate_temperature") : 1),
          intermediates(returns_intermediates(p)),
          backward(runs_backward(p)),
          storage(storage_named(p.text("dtype"))) {}

    int64_t tokens() const { return batch * length; }
    // The factor in y = scale (t + (c + c_rev) v W_o^T) + b_o, where c_rev is absent unless bidirectional.
    float scale() const { return bidirectional ? 0.5f : 1.0f; }

    int64_t batch, length, width, rank, hidden;
    bool bidirectional, hard, gumbel;
    double temperature;  // of gumbel gates, otherwise 1
    bool intermediates, backward;
    Storage storage;  // how x, dy, y and the weights are stored
};

// The number of positions in a tile of the variant fused.
constexpr int64_t tile_rows_on_cuda = 64;
// Chosen so that the tile's rows of x, padded to `stride` numbers, stay in the cache of a core.
inline int64_t tile_rows_on_cpu(int64_t stride) {
    constexpr int64_t numbers = 1 << 16;
    return std::clamp<int64_t>(numbers / stride, 16, 64);
}

}  // namespace sawtooth::ar_ssm
