#include "kernels/attention/cpu/scores.h"

#include <limits>

#include "kernels/attention/cpu/rows.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::attention {
namespace {

constexpr float forbidden = -std::numeric_limits<float>::infinity();

bool has_near(TileKind kind) { return kind != TileKind::far; }
bool has_far(TileKind kind) { return kind != TileKind::near; }

void multiply_with(const CpuJob& job, int64_t head, const ScoreTile& tile, const Buffer& q,
                   const Buffer& strips, float* scaled, float* to) {
    const int64_t count = tile.queries.count() * job.width;
    std::copy_n(job.query_vectors(q, head, tile.queries.first), count, scaled);
    cpu::scale(scaled, job.scale, count);
    multiply_scores(tile, scaled, job.strip(strips, head, tile.keys.first), job.width, to);
}

// Returns the interval of keys that are near query `row`; both are counted from the start of the tile.
Range near_keys(const CpuJob& job, const ScoreTile& tile, int64_t row) {
    const int64_t query = tile.queries.first + row;
    const auto inside = [&](int64_t key) {
        return std::clamp(key, tile.keys.first, tile.keys.last) - tile.keys.first;
    };
    return {inside(query - job.mask.window + 1), inside(query + job.mask.window)};
}

// Adds the gradients of a mixed tile pair by pair. A product of the whole tile would multiply the pairs of
// the other encoding by 0, which makes NaN of a number that is not finite.
void add_pairs(const CpuJob& job, int64_t head, const ScoreTile& tile, const float* gradients,
               const TileGradients& to) {
    for (int64_t r = 0; r < tile.queries.count(); ++r)
        for (int64_t c = 0; c < tile.keys_of(r); ++c) {
            const int64_t query = tile.queries.first + r, key = tile.keys.first + c;
            const bool is_near = job.mask.is_near(query, key);
            const float ds = gradients[r * tile.stride + c];
            float* const dq = is_near ? to.dq1 : to.dq2;
            float* const dk = is_near ? to.dk1 : to.dk2;
            const float* const q = job.query_vectors(is_near ? job.q1 : job.q2, head, query);
            const float* const k = job.key_vectors(is_near ? job.k1 : job.k2, head, key);
            for (int64_t m = 0; m < job.d; ++m) {
                if (dq) dq[r * job.width + m] += ds * k[m];
                if (dk) dk[c * job.width + m] += ds * q[m];
            }
        }
}

bool are_finite(const CpuJob& job, int64_t head, const ScoreTile& tile) {
    const auto check = [&](const float* vectors, Range positions) {
        return is_finite(vectors, positions.count() * job.width);
    };
    const auto queries = [&](const Buffer& q) {
        return check(job.query_vectors(q, head, tile.queries.first), tile.queries);
    };
    const auto keys = [&](const Buffer& k) {
        return check(job.key_vectors(k, head, tile.keys.first), tile.keys);
    };
    return queries(job.q1) && queries(job.q2) && keys(job.k1) && keys(job.k2);
}

}  // namespace

void compute_scores(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                    const ScoreRooms& rooms, float* to) {
    const int64_t rows = tile.queries.count(), columns = cpu::padded(tile.keys.count());
    if (has_near(kind)) multiply_with(job, head, tile, job.q1, job.k1_columns, rooms.queries, to);
    float* const far = kind == TileKind::mixed ? rooms.other : to;
    if (has_far(kind)) multiply_with(job, head, tile, job.q2, job.k2_columns, rooms.queries, far);
    for (int64_t r = 0; r < rows; ++r) {
        float* const row = to + r * tile.stride;
        if (kind == TileKind::mixed) {
            const Range near = near_keys(job, tile, r);
            const float* const other = far + r * tile.stride;
            std::copy(other, other + near.first, row);
            std::copy(other + near.last, other + tile.keys.count(), row + near.last);
        }
        std::fill(row + tile.keys_of(r), row + columns, forbidden);
    }
}

void compute_probabilities(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                           const ScoreRooms& rooms, float* to) {
    compute_scores(job, head, tile, kind, rooms, to);
    const int64_t columns = cpu::padded(tile.keys.count());
    for (int64_t r = 0; r < tile.queries.count(); ++r) {
        const int64_t query = tile.queries.first + r;
        exponentials(to + r * tile.stride, job.number(job.shift, head, query), columns);
        cpu::scale(to + r * tile.stride, 1 / job.number(job.sum, head, query), columns);
    }
}

void compute_score_gradients(const CpuJob& job, int64_t head, const ScoreTile& tile,
                             const float* probabilities, float* to) {
    multiply_scores(tile, job.query_vectors(job.dout, head, tile.queries.first),
                    job.strip(job.v_columns, head, tile.keys.first), job.width, to);
    for (int64_t r = 0; r < tile.queries.count(); ++r)
        score_gradients(to + r * tile.stride, probabilities + r * tile.stride,
                        job.number(job.delta, head, tile.queries.first + r), job.scale,
                        cpu::padded(tile.keys.count()));
}

void add_gradients(const CpuJob& job, int64_t head, const ScoreTile& tile, TileKind kind,
                   const float* score_gradients, const ScoreRooms& rooms, const TileGradients& to) {
    const auto add = [&](const float* values, const Buffer& q, const Buffer& k, float* dq, float* dk) {
        if (dq) add_over_keys(tile, values, job.key_vectors(k, head, tile.keys.first), job.width, dq);
        if (dk) add_over_queries(tile, values, job.query_vectors(q, head, tile.queries.first), job.width, dk);
    };
    if (kind == TileKind::near) return add(score_gradients, job.q1, job.k1, to.dq1, to.dk1);
    if (kind == TileKind::far) return add(score_gradients, job.q2, job.k2, to.dq2, to.dk2);
    if (!are_finite(job, head, tile)) return add_pairs(job, head, tile, score_gradients, to);
    // Each encoding is multiplied by itself, with 0 for the pairs of the other one.
    const int64_t rows = tile.queries.count();
    float* const split = rooms.other;
    for (const bool near_ones : {true, false}) {
        for (int64_t r = 0; r < rows; ++r) {
            float* const row = split + r * tile.stride;
            std::copy_n(score_gradients + r * tile.stride, tile.keys.count(), row);
            const Range near = near_keys(job, tile, r);
            if (near_ones) {
                std::fill(row, row + near.first, 0.0f);
                std::fill(row + near.last, row + tile.keys.count(), 0.0f);
            } else {
                std::fill(row + near.first, row + near.last, 0.0f);
            }
        }
        near_ones ? add(split, job.q1, job.k1, to.dq1, to.dk1) : add(split, job.q2, job.k2, to.dq2, to.dk2);
    }
}

}  // namespace sawtooth::attention
