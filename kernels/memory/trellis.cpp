#include "kernels/memory/trellis.h"

#include "kernels/memory/matrix_chain.h"
#include "kernels/memory/walk.h"

namespace sawtooth::memory {
namespace {

// The rows that one chain makes for the other: z = nsilu(S_K x) and r = nsilu(S_K q), [batch, tokens,
// padded(c)].
struct Between {
    int64_t first, tokens, width;
    float *z, *r;

    Between(const Job& job, Range range, Pieces& room)
        : first(range.first), tokens(range.count()), width(job.compress) {
        z = room.take(job.batch * tokens * padded(width));
        r = room.take(job.batch * tokens * padded(width));
    }
    float* row(float* of, int64_t batch, int64_t token) const {
        return of + (batch * tokens + token - first) * padded(width);
    }
    LoadRows loader(float* of) const {
        return [here = *this, of](int64_t batch, Range range, float* to) {
            std::copy_n(here.row(of, batch, range.first), range.count() * padded(here.width), to);
        };
    }
    PutRows putter(float* of) const {
        return [here = *this, of](int64_t batch, Range range, float* rows) {
            const int64_t stride = padded(here.width);
            for (int64_t row = 0; row < range.count(); ++row) norm_silu(rows + row * stride, here.width);
            std::copy_n(rows, range.count() * stride, here.row(of, batch, range.first));
        };
    }
};

// The first c numbers of normalised keys: what the key memory of trellis learns.
void load_compressed(const Job& job, int64_t batch, Range tokens, float* to) {
    thread_local std::vector<float> keys;
    const int64_t from = padded(job.width), stride = padded(job.compress);
    keys.resize(static_cast<size_t>(tokens.count() * from));
    job.load_keys(job.k, batch, tokens, keys.data());
    for (int64_t row = 0; row < tokens.count(); ++row, to += stride) {
        std::copy_n(keys.data() + row * from, job.compress, to);
        std::fill(to + job.compress, to + stride, 0.0f);
    }
}

LoadRows loader(const Rows& rows) {
    return [&rows](int64_t batch, Range of, float* to) { rows.load(batch, of, to, padded(rows.width)); };
}

TiledChain tile_keys(const Job& job, Range tokens, Pulse pulse, const Between& between, Pieces& room) {
    TiledChain tiled(job.memory, Tiling(tokens, pulse, usual_tile), 2, false, room);
    tiled.load_keys = loader(job.x);
    tiled.load_values = [&job](int64_t batch, Range of, float* to) { load_compressed(job, batch, of, to); };
    // z is of the evolving memory whatever is read, as one chunk of a token must be the exact step.
    tiled.readers.push_back({loader(job.x), between.putter(between.z), false});
    tiled.readers.push_back(
        {[&job](int64_t batch, Range of, float* to) { job.load_keys(job.q, batch, of, to); },
         between.putter(between.r), job.reads_boundary});
    return tiled;
}

TiledChain tile_values(const Job& job, Range tokens, Pulse pulse, const Between& between, Pieces& room) {
    TiledChain tiled(job.values, Tiling(tokens, pulse, usual_tile), 1, false, room);
    tiled.load_keys = between.loader(between.z);
    tiled.load_values = loader(job.v);
    tiled.readers.push_back({between.loader(between.r),
                             [&job](int64_t batch, Range of, float* rows) { put_rows(job, batch, of, rows); },
                             job.reads_boundary});
    return tiled;
}

}  // namespace

void add_trellis_launches(Plan& plan, const Job& job, Range tokens, Pulse pulse, float* room) {
    Pieces pieces(room);
    const Between between(job, tokens, pieces);
    const SharedChain keys =
        std::make_shared<const TiledChain>(tile_keys(job, tokens, pulse, between, pieces));
    const SharedChain values =
        std::make_shared<const TiledChain>(tile_values(job, tokens, pulse, between, pieces));
    add_prepare(plan, keys, "prepare_keys", "What the key slots learn and are asked, tile by tile.");
    add_walk(plan, keys, "walk_keys");
    add_read(plan, keys, "read_keys");
    add_prepare(plan, values, "prepare_values", "What the value slots learn and are asked, tile by tile.");
    add_walk(plan, values, "walk_values");
    add_read(plan, values, "read_values");
}

int64_t trellis_room(const Job& job, Range tokens, Pulse pulse) {
    Pieces counted(nullptr);
    const Between between(job, tokens, counted);
    tile_keys(job, tokens, pulse, between, counted);
    tile_values(job, tokens, pulse, between, counted);
    return counted.taken();
}

}  // namespace sawtooth::memory
