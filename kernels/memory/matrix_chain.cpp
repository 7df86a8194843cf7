#include "kernels/memory/matrix_chain.h"

namespace sawtooth::memory {

TiledChain tile_matrix(const Job& job, Range tokens, Pulse pulse, int64_t tile, bool solves, Pieces& room) {
    TiledChain tiled(job.memory, Tiling(tokens, pulse, tile), 1, solves, room);
    tiled.load_keys = [&job](int64_t batch, Range of, float* to) { job.load_keys(job.k, batch, of, to); };
    tiled.load_values = [&job](int64_t batch, Range of, float* to) { job.load_values(batch, of, to); };
    tiled.readers.push_back(
        {[&job](int64_t batch, Range of, float* to) { job.load_keys(job.q, batch, of, to); },
         [&job](int64_t batch, Range of, float* rows) { put_rows(job, batch, of, rows); },
         job.reads_boundary});
    return tiled;
}

void put_rows(const Job& job, int64_t batch, Range tokens, const float* rows) {
    const int64_t stride = padded(job.width);
    for (int64_t row = 0; row < tokens.count(); ++row)
        job.y.put(batch, tokens.first + row, 0, rows + row * stride, stride);
}

int64_t matrix_room(const Job& job, Range tokens, Pulse pulse, int64_t tile, bool solves) {
    Pieces counted(nullptr);
    tile_matrix(job, tokens, pulse, tile, solves, counted);
    return counted.taken();
}

void add_tiled_launches(Plan& plan, const SharedChain& tiled, const std::string& meaning) {
    add_prepare(plan, tiled, tiled->solves ? "solve" : "prepare", meaning);
    add_walk(plan, tiled, "walk");
    add_read(plan, tiled, "read");
}

}  // namespace sawtooth::memory
