#pragma once

#include "kernels/attention/cpu/job.h"
#include "kernels/attention/cpu/tile_products.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::attention {

// Scores of one tile, and the gradients that flow through them.

// What a worker needs beside the tile, whose rows are `stride` numbers apart.
struct ScoreRooms {
    float *queries, *other;

    ScoreRooms(cpu::Scratch& scratch, const CpuJob& job, int64_t stride)
        : queries(scratch.take<float>(job.block_m * job.d)),
          other(scratch.take<float>(job.block_m * stride)) {}
};

// Computes scale q k^T of the tile into `to` with the encodings that the kind needs; forbidden pairs and the
// rest up to whole strips become -infinity.
void compute_scores(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                    const ScoreRooms& rooms, float* to);

// `to` becomes the probabilities of the tile, from the shift and sum of the softmax of every query.
void compute_probabilities(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                           const ScoreRooms& rooms, float* to);

// `to` becomes the gradients of the scores of the tile.
void compute_score_gradients(const CpuJob& job, int64_t head, const ScoreTile& tile,
                             const float* probabilities, float* to);

// Where the gradients of a tile are added: rows of the first query, and of the first key.
struct TileGradients {
    float *dq1 = nullptr, *dq2 = nullptr, *dk1 = nullptr, *dk2 = nullptr;
};
// Adds those of queries and keys from the gradients of scores; null: not wanted.
void add_gradients(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                   const float* score_gradients, const ScoreRooms& rooms, const TileGradients& to);

}  // namespace sawtooth::attention
