// A stable sort of numbered keys by one thread block, 8 bits at a time from the lowest (radix sort). A warp
// owns neighbouring keys, a multiple of 32 of them except at the end. A pass counts the keys of each digit
// for each warp, turns the counts into places, then moves the keys. An example with two digits:
//   keys               warp 0: 1 0 1   warp 1: 0 1
//   counts             warp 0: 1 2     warp 1: 1 1     [sorting_warps, digits]
//   first places       warp 0: 0 2     warp 1: 1 4     all of digit 0 first, by warp, then those of digit 1
//   sorted numbers     1 3 0 2 4
// Defines: THREADS.
#pragma once

#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/sync.cuh"

namespace sawtooth::lut_table {

constexpr int digits = 256;
constexpr int sorting_warps = THREADS / 32;
static_assert(THREADS >= digits && THREADS % 32 == 0, "a thread per digit");

// Turns counts[warp][digit] into the place of the first such key: digits in order, each by warp. Thread d
// owns digit d; of_warp[w] is the number of all keys of digits 32 w … 32 w + 31.
__device__ inline void places_of_counts(int32_t (&counts)[sorting_warps][digits]) {
    __shared__ int32_t of_warp[digits / 32];
    const int digit = threadIdx.x;
    int32_t total = 0;
    if (digit < digits)
        for (auto& of_one : counts) total += of_one[digit];
    const int32_t upto = device::sum_upto_lane(total);
    if (digit < digits && device::lane_of_thread() == 31) of_warp[digit / 32] = upto;
    device::sync_block();  // the totals of 32 digits each are visible
    if (digit >= digits) return;
    int32_t place = upto - total;
    for (int warp = 0; warp < digit / 32; ++warp) place += of_warp[warp];
    for (auto& of_one : counts) {
        const int32_t count = of_one[digit];
        of_one[digit] = place;
        place += count;
    }
}

// Calls each(i, digit, same) for the keys of a warp, 32 at a time, one per lane; `same` has a bit for each
// lane with the same digit. A lane past the end gets the digit -1.
template <class Key, class Each>
__device__ void for_keys_of_warp(int64_t count, int shift, Key key, Each each) {
    const int64_t of_warp = (count + 32 * sorting_warps - 1) / (32 * sorting_warps) * 32;
    const int64_t begin = device::warp_of_thread() * of_warp;
    const int64_t end = begin + of_warp < count ? begin + of_warp : count;
    for (int64_t first = begin; first < end; first += 32) {
        const int64_t i = first + device::lane_of_thread();
        const int digit = i < end ? key(i) >> shift & (digits - 1) : digits;  // past the end: no key's digit
        const unsigned same = __match_any_sync(device::whole_warp, digit);
        each(i, i < end ? digit : -1, same);
        device::sync_warp();  // what one lane counted is visible to the lane that leads the digit next
    }
}

// Calls put(place, i) for keys 0 … count - 1, where `place` is the place of key(i) when sorted by one digit;
// keys with the same digit stay in order. A warp counts in its own row of `counts`, so no atomics are needed.
template <class Key, class Put>
__device__ void sort_by_digit(int64_t count, int shift, Key key, Put put) {
    __shared__ int32_t counts[sorting_warps][digits];
    const int lane = device::lane_of_thread(), warp = device::warp_of_thread();
    for (int i = threadIdx.x; i < sorting_warps * digits; i += THREADS) counts[i / digits][i % digits] = 0;
    device::sync_block();  // the zeros are visible to the warps that count
    for_keys_of_warp(count, shift, key, [&](int64_t, int digit, unsigned same) {
        if (digit >= 0 && __ffs(same) - 1 == lane) counts[warp][digit] += __popc(same);
    });
    device::sync_block();  // the counts of all warps are visible to the threads of the digits
    places_of_counts(counts);
    device::sync_block();  // the places of all digits are visible to all warps
    for_keys_of_warp(count, shift, key, [&](int64_t i, int digit, unsigned same) {
        const int before = __popc(same & ((1u << lane) - 1));
        const int32_t place = digit >= 0 ? counts[warp][digit] : 0;
        device::sync_warp();  // all lanes have read the place
        if (digit < 0) return;
        put(place + before, i);
        if (before == 0) counts[warp][digit] = place + __popc(same);
    });
    device::sync_block();  // what `put` stored is visible, and the counts may be cleared
}

// Sorts the numbers i = 0 … count - 1 by row_of(i), a number of `bits` bits. Returns the array that holds
// them, `first` or `second`, which both have room for them. The first pass writes to `first`, the next one to
// `second`, and so on: 12 bits take two passes and end in `second`.
template <int bits, class RowOf>
__device__ int32_t* sorted_numbers(int64_t count, RowOf row_of, int32_t* first, int32_t* second) {
    sort_by_digit(count, 0, row_of,
                  [&](int64_t place, int64_t i) { first[place] = static_cast<int32_t>(i); });
    int32_t *from = first, *to = second;
#pragma unroll
    for (int shift = 8; shift < bits; shift += 8) {
        sort_by_digit(
            count, shift, [&](int64_t i) { return row_of(from[i]); },
            [&](int64_t place, int64_t i) { to[place] = from[i]; });
        int32_t* const sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

// Returns the number of the first of `count` sorted keys that is not less than `key`, or `count`. Each round
// reads one key per lane, at equal steps: 1000 keys take a round with steps of 32, then one with steps of 1.
// The whole warp must call it.
__device__ inline int64_t lower_bound(const int32_t* sorted, int64_t count, int32_t key) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t step = (high - low + 31) / 32;
        const int64_t probe = low + (device::lane_of_thread() + 1) * step - 1;
        const bool is_less = probe < high && sorted[probe] < key;
        const int less = __popc(__ballot_sync(device::whole_warp, is_less));
        const int64_t upto = low + (less + 1) * step - 1;
        low += less * step;
        high = upto < high ? upto : high;
        if (low > high) low = high;
    }
    return low;
}

}  // namespace sawtooth::lut_table
