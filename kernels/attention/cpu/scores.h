#pragma once

#include "kernels/attention/cpu/job.h"
#include "kernels/attention/cpu/tile_products.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::attention {

// The scores of one tile, and the gradients that flow through them.

// The scratch memory for one tile, whose rows are `stride` numbers apart: scaled queries, and a second tile.
struct ScoreRooms {
    float *queries, *other;

    ScoreRooms(cpu::Scratch& scratch, const CpuJob& job, int64_t stride)
        : queries(scratch.take<float>(job.block_m * job.width)),
          other(scratch.take<float>(job.block_m * stride)) {}
};

// Computes scale q k^T of the tile into `to` with the encodings that the kind needs. Forbidden pairs, and the
// padding of rows to whole strips, become -infinity.
void compute_scores(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                    const ScoreRooms& rooms, float* to);

// Computes the probabilities of the tile into `to`, from the shift and sum of the softmax of every query.
void compute_probabilities(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                           const ScoreRooms& rooms, float* to);

// Computes the gradients of the scores of the tile into `to`.
void compute_score_gradients(const CpuJob& job, int64_t head, const ScoreTile& tile,
                             const float* probabilities, float* to);

// The places to which the gradients of a tile are added: dq1 and dq2 from its first query on, dk1 and dk2
// from its first key on. Null pointers mark gradients that are not wanted.
struct TileGradients {
    float *dq1 = nullptr, *dq2 = nullptr, *dk1 = nullptr, *dk2 = nullptr;
};
// Adds the gradients of queries and keys, from the gradients of the scores of the tile.
void add_gradients(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                   const float* score_gradients, const ScoreRooms& rooms, const TileGradients& to);

}  // namespace sawtooth::attention
