// Finds the rows of queries and of keys by their positions. With CACHE there are fewer queries than keys, and
// the first query stands at position N - N_q. SHARING heads of queries have the same keys and values.
//
// Defines used: SHARING, CACHE.
#pragma once

#include "kernels/attention/cuda/arguments.cuh"

namespace sawtooth::attention {

// Returns the position of the first query.
__device__ inline int64_t first_query(const Arguments& given) {
    return CACHE ? given.length - given.queries : 0;
}
// Returns the row of a query in [heads, N_q].
__device__ inline int64_t query_row(const Arguments& given, int64_t head, int64_t position) {
    if constexpr (CACHE) return head * given.queries + position - first_query(given);
    return head * given.length + position;
}
// Returns the row of a key in [heads of keys, N], for a head of queries.
__device__ inline int64_t key_row(const Arguments& given, int64_t head, int64_t position) {
    return head / SHARING * given.length + position;
}

}  // namespace sawtooth::attention
