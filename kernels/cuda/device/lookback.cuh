// Decoupled look-back (Merrill, Garland 2016): the prefix of every tile of a sequence in one pass. A tile
// publishes the total of its own positions, finds the nearest earlier tile with a published prefix, joins the
// totals in between, and publishes its own prefix.
//
//   tile        0      1      2      3      4 (looks)
//   published   P0     P1     A2     A3
//   prefix before tile 4 = (P1 o A2) o A3; published prefix P4 = that o A4
//
// Prefixes are folded forward, so that P_k = P_(k-1) o A_k whatever was found: no bit depends on timing. A
// flag and its data are one aligned store of 8 or 16 bytes, so no fence is needed: all GPUs since sm_70 make
// one access of it, although PTX does not promise so for vectors. Flags carry the number of the run, so
// nothing is cleared between runs.
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/types.cuh"
#include "kernels/cuda/device/warp.cuh"

namespace sawtooth::device {

// The tile of a thread block. Tiles wait only for tiles with smaller numbers, so numbers are handed out in
// the order in which blocks actually start, which can differ from blockIdx.
struct Ticket {
    uint32_t number;
    uint32_t run;  // 1, 2, …: number of runs on this counter, in 30 bits
};

// One thread of each of `blocks` thread blocks must call it. The counter starts at 0 and is never reset: its
// low bits count the blocks of a run, and the block that draws the last ticket advances it to the next run.
__device__ inline Ticket draw_ticket(unsigned long long* counter, uint32_t blocks) {
    const int bits = blocks > 1 ? 32 - __clz(static_cast<int>(blocks - 1)) : 0;
    const unsigned long long drawn = atomic_add(counter, 1ull);
    const auto number = static_cast<uint32_t>(drawn & ((1ull << bits) - 1));
    if (number == blocks - 1) atomic_add(counter, (1ull << bits) - blocks);
    return {number, static_cast<uint32_t>((drawn >> bits) + 1) & 0x3fffffffu};
}

// The published parts of the tiles of one sequence, `units` neighbouring States (structs of floats) each.
// Used by a whole warp: lane l handles unit l % units and sees every (32 / units)th of the earlier tiles.
template <class State, int units, int ahead>
class Lookback {
  public:
    static constexpr int floats = sizeof(State) / sizeof(float);
    static constexpr int words = floats == 1 ? 2 : 4;                 // per part: its flag, then floats
    static constexpr int parts = (floats + words - 2) / (words - 1);  // per State
    static constexpr int groups = 32 / units;                         // tiles read by a warp at once
    struct alignas(4 * words) Part {
        uint32_t word[words];
    };

    // `board`: [sequences, tiles, units, parts].
    __device__ Lookback(Part* board, int64_t sequence, int64_t tiles, uint32_t run)
        : parts_(board + sequence * tiles * units * parts), run_(run) {}

    __device__ void publish_total(int tile, const State& total) const { publish(tile, total_flag, total); }
    __device__ void publish_prefix(int tile, const State& prefix) const {
        publish(tile, prefix_flag, prefix);
    }

    // Returns the prefix before `tile`, in every lane that of its unit; before tile 0 it is `start`.
    // join(left, right) combines two States.
    template <class Join>
    __device__ State prefix_before(int tile, const State& start, Join join) const {
        const Part* const nearest = part(tile - 1 - group());
        const int left = tile - group();  // the number of tiles before the lane's nearest tile
        while (true) {
            State seen[ahead];
            uint32_t flag[ahead];
#pragma unroll
            for (int k = 0; k < ahead; ++k) {
                seen[k] = start;
                flag[k] = left == k * groups ? prefix_flag : 0;  // the place before tile 0 has `start`
                if (left > k * groups) flag[k] = read(nearest - k * groups * units * parts, seen[k]);
            }
            const int found = nearest_prefix(flag);
            if (__all_sync(whole_warp, found >= 0)) return fold(seen, found, join);
            __nanosleep(20);
        }
    }

    // Returns the total of tiles first … first + count - 1, 0 < count <= 32, once each has published its own:
    // by a fixed tree, so that no bit depends on timing.
    template <class Join>
    __device__ State total_of(int first, int count, Join join) const {
        static_assert(units == 1, "a tile per lane");
        const int lane = lane_of_thread();
        State total = {};
        while (true) {
            const uint32_t flag = lane < count ? read(part(first + lane), total) : total_flag;
            if (__all_sync(whole_warp, flag != 0)) break;
            __nanosleep(20);
        }
#pragma unroll
        for (int delta = 1; delta < 32; delta *= 2) {
            const State before = shuffle_up(total, delta);
            if (lane >= delta) total = join(before, total);
        }
        return shuffle(total, count - 1);
    }

  private:
    enum : uint32_t { total_flag = 1, prefix_flag = 2 };

    __device__ static int unit() { return lane_of_thread() % units; }
    __device__ static int group() { return lane_of_thread() / units; }

    // The first part of the lane's unit.
    __device__ Part* part(int64_t tile) const { return parts_ + (tile * units + unit()) * parts; }

    __device__ void publish(int tile, uint32_t flag, const State& state) const {
        if (group() != 0) return;
#pragma unroll
        for (int p = 0; p < parts; ++p) {
            Part written = {};
            written.word[0] = run_ << 2 | flag;
#pragma unroll
            for (int k = 1; k < words; ++k) {
                const int at = p * (words - 1) + k - 1;
                if (at < floats)
                    written.word[k] = __float_as_uint(reinterpret_cast<const float*>(&state)[at]);
            }
            write(part(tile) + p, written);
        }
    }

    // Returns the flag of this run if all parts of a tile have it, otherwise 0.
    __device__ uint32_t read(const Part* first, State& state) const {
        Part seen[parts];
#pragma unroll
        for (int p = 0; p < parts; ++p) seen[p] = read(first + p);
        uint32_t flag = seen[0].word[0];
#pragma unroll
        for (int p = 1; p < parts; ++p)
            if (seen[p].word[0] != flag) flag = 0;
#pragma unroll
        for (int at = 0; at < floats; ++at)
            reinterpret_cast<float*>(&state)[at] =
                __uint_as_float(seen[at / (words - 1)].word[1 + at % (words - 1)]);
        return flag >> 2 == run_ ? flag & 3 : 0;
    }

    // Returns the distance to the nearest tile with a prefix if all tiles in between have totals; -1 if there
    // is none yet.
    __device__ int nearest_prefix(const uint32_t (&flag)[ahead]) const {
        constexpr unsigned every_group = lanes_of_unit();
        int found = -1;
        bool settled = false;
#pragma unroll
        for (int k = 0; k < ahead; ++k) {
            const unsigned prefixes =
                __ballot_sync(whole_warp, flag[k] == prefix_flag) >> unit() & every_group;
            const unsigned blanks = __ballot_sync(whole_warp, flag[k] == 0) >> unit() & every_group;
            const int first = __ffs(static_cast<int>(prefixes | blanks)) - 1;
            if (settled || first < 0) continue;
            settled = true;
            if (prefixes >> first & 1) found = k * groups + first / units;
        }
        return found;
    }

    // Joins the prefix at distance `found` with all nearer totals. The chain of joins has no branches,
    // because all later tiles wait for it.
    template <class Join>
    __device__ State fold(const State (&seen)[ahead], int found, Join join) const {
        constexpr int stride = groups < 8 ? groups : 8;
        const int farthest = __reduce_max_sync(whole_warp, found);
        State prefix = seen[0];
#pragma unroll
        for (int k = ahead - 1; k >= 0; --k) {
#pragma unroll
            for (int first = groups - stride; first >= 0; first -= stride) {
                if (k * groups + first > farthest) continue;
                State there[stride];
#pragma unroll
                for (int g = 0; g < stride; ++g) there[g] = shuffle(seen[k], (first + g) * units + unit());
#pragma unroll
                for (int g = stride - 1; g >= 0; --g) {
                    const int distance = k * groups + first + g;
                    const State joined = join(prefix, there[g]);
                    prefix = choose(distance < found, joined, prefix);
                    prefix = choose(distance == found, there[g], prefix);
                }
            }
        }
        return prefix;
    }

    __device__ static State choose(bool first, const State& a, const State& b) {
        State chosen;
#pragma unroll
        for (int k = 0; k < floats; ++k)
            reinterpret_cast<float*>(&chosen)[k] =
                first ? reinterpret_cast<const float*>(&a)[k] : reinterpret_cast<const float*>(&b)[k];
        return chosen;
    }

    // One bit per group, for unit 0.
    __device__ static constexpr unsigned lanes_of_unit() {
        unsigned lanes = 0;
        for (int lane = 0; lane < 32; lane += units) lanes |= 1u << lane;
        return lanes;
    }

    __device__ static void write(Part* at, const Part& part) {
        jitter();
        if constexpr (words == 2)
            asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(part.word[0]),
                         "r"(part.word[1])
                         : "memory");
        else
            asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(part.word[0]),
                         "r"(part.word[1]), "r"(part.word[2]), "r"(part.word[3])
                         : "memory");
        jitter();
    }

    __device__ static Part read(const Part* at) {
        Part part;
        jitter();
        if constexpr (words == 2)
            asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];"
                         : "=r"(part.word[0]), "=r"(part.word[1])
                         : "l"(at)
                         : "memory");
        else
            asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(part.word[0]), "=r"(part.word[1]), "=r"(part.word[2]), "=r"(part.word[3])
                         : "l"(at)
                         : "memory");
        jitter();
        return part;
    }

    Part* parts_;
    uint32_t run_;
};

}  // namespace sawtooth::device
