// exact_chunk: the errors of the delta rule in a chunk obey e_t = a_(t-1) M k_t - v_t - sum over s < t of
// w_(t-1)s (k_s . k_t) e_s, a triangular system (I + T) E = diag(a) K M - V (the WY form). M is not known yet
// when all chunks are solved at once, so the system is solved for K and V: (I + T) X = [diag(a) K, V], and
// the walk has E = X_K M - X_V. Blocks of 16 tokens: products take off what earlier blocks give, and a
// product with the inverse of the block's own triangle does the rest.

#include <algorithm>

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/chain.h"
#include "kernels/memory/cpu/strategies.h"

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
        cpu::multiply({.left = {t + r * stride},
                       .right = {inverse},
                       .target = {inverse + r * lanes},
                       .rows = 1,
                       .inner = r,
                       .into = cpu::Into::subtract});
    }
}

// Rows first … of a [tile, stride] matrix of right-hand sides become the solution's: what earlier rows give
// is taken off by `t` [count, sources], then the block's own triangle is solved.
void solve_rows(const float* t, int64_t t_stride, const float* inverse, float* x, int64_t stride,
                int64_t first, int64_t count) {
    float* const here = x + first * stride;
    float* const before = cpu::at_least(scratch.rows, count * stride);
    const auto product = [&](cpu::Left left, const float* right, int64_t inner, cpu::Into into) {
        return cpu::Product{left, {right, stride, lanes}, {here, stride, lanes}, count, inner, stride / lanes,
                            into};
    };
    cpu::multiply(product({t, t_stride, 1}, x, first, cpu::Into::subtract));
    std::copy_n(here, count * stride, before);
    cpu::multiply_lower(product({inverse, lanes, 1}, before, count, cpu::Into::set), 1);
}

// Turns keys and values of a tile into those whose product with the boundary memory is the exact error.
void solve_tile(const TiledChain& tiled, int64_t sequence, int64_t tile, const std::stop_token& stop) {
    const StripChain& chain = tiled.chain;
    const Range tokens = tiled.tiling.at(tile);
    const int64_t slot = tiled.slot(sequence, tile), stride = tiled.sources, key_row = padded(chain.columns);
    const float* const keys = tiled.keys_of(slot);
    float* const solved = tiled.solved_of(slot);
    float* const rows = cpu::at_least(scratch.coefficients, (block_rows + 2) * stride);
    float *const w = rows + block_rows * stride, *const t =
                                                     cpu::at_least(scratch.triangle, block_rows * stride);
    float inverse[block_rows * lanes];
    TileCoefficients coefficients(chain, sequence, tokens, w, w + stride);
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
        cpu::multiply({.left = {keys + first, 1, stride},
                       .right = {keys, stride, lanes},
                       .target = {t, stride, lanes},
                       .rows = count,
                       .inner = chain.columns,
                       .blocks = strips_of(reach)});
        for (int64_t r = 0; r < count; ++r)
            cpu::multiply_elements(t + r * stride, rows + r * stride, padded(reach));
        invert(t + first, stride, count, inverse);
        solve_rows(t, stride, inverse, solved, key_row, first, count);
        solve_rows(t, stride, inverse, tiled.values_of(slot), padded(chain.rows), first, count);
    }
}

// A tile is a whole chunk.
TiledChain tile_chunks(const CpuJob& job, Range tokens, Pieces& room) {
    TiledChain tiled = tile_matrix(job, tokens, job.chunk, room);
    tiled.solved = room.take(tiled.slots() * tiled.tiling.tile() * padded(job.d));
    return tiled;
}

}  // namespace

void forward::exact_chunk(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float* room) {
    Pieces pieces(room);
    const TiledChain& tiled = builder.keep(tile_chunks(job, tokens, pieces));
    builder.launch(describe::solve(tiled.words()), tiled.sides(), [&tiled](const cpu::Item& item) {
        const int64_t sequence = item.index / tiled.tiles(), tile = item.index % tiled.tiles();
        prepare_tile(tiled, sequence, tile);
        solve_tile(tiled, sequence, tile, item.stop);
    });
    add_walk(builder, tiled);
    add_read(builder, tiled);
}

int64_t room::exact_chunk(const CpuJob& job, Range tokens) {
    Pieces counted(nullptr);
    tile_chunks(job, tokens, counted);
    return counted.taken();
}

}  // namespace sawtooth::memory
