// exact_chunk: the errors of the delta rule in a chunk obey e_t = a_(t-1) M k_t - v_t - sum over s < t of
// w_(t-1)s (k_s . k_t) e_s, a triangular system (I + T) E = diag(a) K M - V (the WY form). M is not known yet
// when all chunks are solved at once, so the system is solved for K and V: (I + T) X = [diag(a) K, V], and
// the walk has E = X_K M - X_V. Blocks of 16 tokens: products take off what earlier blocks give, and a
// product with the inverse of the block's own triangle does the rest.

#include <algorithm>

#include "kernels/memory/matrix_chain.h"
#include "kernels/memory/scratch.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t block_rows = 16;

struct Scratch {
    std::vector<float> coefficients, triangle, rows;
};
thread_local Scratch scratch;

// The inverse of I + the triangle below the diagonal of `t` [count, stride], into [16, 16].
void invert(const float* t, int64_t stride, int64_t count, float* inverse) {
    std::fill_n(inverse, block_rows * lanes, 0.0f);
    for (int64_t r = 0; r < count; ++r) {
        inverse[r * lanes + r] = 1;
        multiply({.left = {t + r * stride},
                  .right = {inverse},
                  .target = {inverse + r * lanes},
                  .rows = 1,
                  .inner = r,
                  .into = Into::subtract});
    }
}

// Rows first … of a [tile, stride] matrix of right-hand sides become the solution's: what earlier rows give
// is taken off by `t` [count, sources], then the block's own triangle is solved.
void solve_rows(const float* t, int64_t t_stride, const float* inverse, float* x, int64_t stride,
                int64_t first, int64_t count) {
    float* const here = x + first * stride;
    float* const before = at_least(scratch.rows, count * stride);
    const auto product = [&](Left left, const float* right, int64_t inner, Into into) {
        return Product{left, {right, stride, lanes}, {here, stride, lanes}, count, inner, stride / lanes,
                       into};
    };
    multiply(product({t, t_stride, 1}, x, first, Into::subtract));
    std::copy_n(here, count * stride, before);
    multiply_lower(product({inverse, lanes, 1}, before, count, Into::set), 1);
}

}  // namespace

void solve_tile(const TiledChain& tiled, int64_t batch, int64_t tile, const std::stop_token& stop) {
    const Chain& chain = tiled.chain;
    const Range tokens = tiled.tiling.at(tile);
    const int64_t slot = tiled.slot(batch, tile), stride = tiled.sources, key_row = padded(chain.columns);
    const float* const keys = tiled.keys_of(slot);
    float* const solved = tiled.solved_of(slot);
    float* const rows = at_least(scratch.coefficients, (block_rows + 2) * stride);
    float *const w = rows + block_rows * stride, *const t = at_least(scratch.triangle, block_rows * stride);
    float inverse[block_rows * lanes];
    TileCoefficients coefficients(chain, batch, tokens, w, w + stride);
    for (int64_t first = 0; first < tokens.count() && !stop.stop_requested(); first += block_rows) {
        const int64_t count = std::min(block_rows, tokens.count() - first), reach = first + count;
        for (int64_t r = 0; r < count; ++r) {
            std::copy_n(w, padded(reach), rows + r * stride);
            float* const line = solved + (first + r) * key_row;
            for (int64_t c = 0; c < chain.columns; ++c)
                line[c] = coefficients.of_memory * keys[c * stride + first + r];
            std::fill(line + chain.columns, line + key_row, 0.0f);
            coefficients.advance(tokens.first + first + r);
        }
        multiply({.left = {keys + first, 1, stride},
                  .right = {keys, stride, lanes},
                  .target = {t, stride, lanes},
                  .rows = count,
                  .inner = chain.columns,
                  .blocks = strips_of(reach)});
        for (int64_t r = 0; r < count; ++r)
            multiply_elements(t + r * stride, rows + r * stride, padded(reach));
        invert(t + first, stride, count, inverse);
        solve_rows(t, stride, inverse, solved, key_row, first, count);
        solve_rows(t, stride, inverse, tiled.values_of(slot), padded(chain.rows), first, count);
    }
}

void forward::exact_chunk(Plan& plan, const Job& state, Range tokens, Pulse pulse, float* room) {
    Pieces pieces(room);
    add_tiled_launches(
        plan,
        std::make_shared<const TiledChain>(tile_matrix(state, tokens, pulse, pulse.chunk, true, pieces)),
        "Every chunk's triangular system is solved for its keys and values (WY form).");
}

int64_t room::exact_chunk(const Job& job, Range tokens, Pulse pulse) {
    return matrix_room(job, tokens, pulse, pulse.chunk, true);
}

}  // namespace sawtooth::memory
