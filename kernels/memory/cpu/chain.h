#pragma once

#include <functional>
#include <stop_token>

#include "kernels/memory/cpu/job.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {

// A chain over a range of tokens in matrix form. With the errors e_i of a chunk, a tile that starts from M
// and S has
//   M_t = a_t M + b_t S - sum over its sources of w_ti e_i k_i^T,  S_t = h_t S - sum of h_ti e_i k_i^T.
// Its sources are its tokens and the earlier tokens inside its windows. w, h, a and b are running sums and
// products of the gates, so nothing is divided by a product.

// Loads input rows of tokens, [tokens, padded(columns)]; rows of values are [tokens, padded(rows)].
using LoadRows = std::function<void(int64_t sequence, Range tokens, float* rows)>;
// Loads rows of values; `room` is scratch to compute them in.
using LoadValues = std::function<void(int64_t sequence, Range tokens, float* room, float* rows)>;
// Stores output rows of tokens, [tokens, padded(rows)].
using PutRows = std::function<void(int64_t sequence, Range tokens, const float* rows)>;

// A chain in tiles. Its arrays are [batch, tiles, …], or [batch, tiles, strips, …] if marked "strip", in f32:
//   keys          [columns, sources]: transposed
//   values        [sources, padded(rows)]
//   solved        [tile, padded(columns)]
//   coefficients  w [sources], h [sources], then a, b and h of the last token
//   errors        strip: [sources, 16]
//   states        strip: [columns, 16]; sums take their place
struct TiledChain : TileArrays {
    const CpuJob& job;
    const StripChain& chain;
    TiledRange tiling;
    LoadRows load_keys;
    LoadValues load_values;
    int64_t room_of_values = 0;  // numbers per token in the room of load_values
    int64_t sources;             // most sources of a tile, padded; the same in every range
    bool rescales = false;       // the walk scales rows of M to norms sqrt(columns) at every boundary

    // Takes arrays for `longest`, the range that needs the most: the longest one, at the end of the sequence.
    TiledChain(const CpuJob& job, const StripChain& chain, Range longest, int64_t tile, Room& room);
    // This chain for another range, in the same arrays.
    TiledChain in(Range tokens) const;

    int64_t tiles() const { return tiling.count(); }
    int64_t slot(int64_t sequence, int64_t tile) const { return sequence * tiles() + tile; }
    int64_t strip_slot(int64_t item, int64_t tile) const {
        return slot(item / chain.strips(), tile) * chain.strips() + item % chain.strips();
    }
    Range sources_of(Range tokens) const { return {chain.first_source(tokens.first), tokens.last}; }
    float* keys_of(int64_t slot) const { return keys.as<float>() + slot * chain.columns * sources; }
    float* values_of(int64_t slot) const { return values.as<float>() + slot * sources * padded(chain.rows); }
    float* ends_of(int64_t slot) const { return coefficients.as<float>() + slot * (2 * sources + lanes); }
    float* errors_of(int64_t strip_slot) const { return errors.as<float>() + strip_slot * sources * lanes; }
    float* solved_of(int64_t slot) const {
        return solved.as<float>() + slot * solved.shape[2] * padded(chain.columns);
    }

    Side sides() const { return side("B", chain.batch) * side("tiles", tiles()); }
};

// The memory of a matrix rule, in tiles of at most `tile` tokens.
TiledChain tile_matrix(const CpuJob& job, Range longest, int64_t tile, Room& room);

// The coefficients of a tile's sources, advanced token by token.
class TileCoefficients {
  public:
    // w and h hold padded(sources) numbers each.
    TileCoefficients(const StripChain& chain, int64_t sequence, Range sources, float* w, float* h);
    void advance(int64_t token);

    float a = 1, b = 0;  // how much of M and of S there is in M
    float kept = 1;      // how much of S there is in S: its h

  private:
    const StripChain& chain_;
    int64_t sequence_;
    Range sources_;
    Coefficients rows_;
};

// These functions add the launches of a range; `tiled` must live as long as the plan. The launches are
// parallel over sequences and tiles, except walk, which is parallel over sequences and strips of rows.
void add_prepare(cpu::PlanBuilder& builder, const TiledChain& tiled);
void add_walk(cpu::PlanBuilder& builder, const TiledChain& tiled);
// How a chain is read: what the launch says, and where queries come from and outputs go.
struct Reader {
    launches::Reading words;
    LoadRows load;
    PutRows put;
};
void add_read(cpu::PlanBuilder& builder, const TiledChain& tiled, const Reader& reader);
Reader reader_of_y(const CpuJob& job);  // reads y of a matrix rule

// Walks a strip over all tiles of a range and calls step(tile) for each. The walk starts from the state
// before the first token, stores boundaries where chunks start, and stores the final state after the last
// token.
template <class Step>
void walk_tiles(const TiledChain& tiled, const cpu::Item& item, Step&& step) {
    const StripChain& chain = tiled.chain;
    const TiledRange& tiling = tiled.tiling;
    if (tiling.tokens().first == 0) chain.load_initial(item.index);
    for (int64_t tile = 0; tile < tiled.tiles() && !item.stop.stop_requested(); ++tile) {
        if (tiling.opening(tile) == tile)
            chain.put_boundary(item.index, tiling.at(tile).first, chain.m_of(item.index));
        step(tile);
    }
    if (tiling.tokens().last == chain.length) chain.put_final(item.index);
}

// Steps that the strategies share, each with what it takes of a worker's scratch.

struct PrepareRooms {
    float* keys;    // before they are transposed
    float* values;  // the room of load_values

    PrepareRooms(cpu::Scratch& scratch, const TiledChain& tiled)
        : keys(scratch.take<float>(tiled.sources * padded(tiled.chain.columns))),
          values(scratch.take<float>(tiled.sources * tiled.room_of_values)) {}
};
// Prepares keys, values and the coefficients after a tile's last token.
void prepare_tile(const TiledChain& tiled, int64_t sequence, int64_t tile, const PrepareRooms& rooms);

// Computes the errors of one strip of a tile against the memory `boundary`.
void make_errors(const TiledChain& tiled, int64_t item, int64_t tile, const float* boundary);

struct OuterProductRooms {
    float* weighted;  // w_i e_i

    OuterProductRooms(cpu::Scratch& scratch, const TiledChain& tiled)
        : weighted(scratch.take<float>(tiled.sources * lanes)) {}
};
// Subtracts the sum of w_i e_i k_i^T from `to`; `factors` holds w of the tile's sources.
void subtract_outer_products(const TiledChain& tiled, int64_t item, int64_t tile, const float* factors,
                             const OuterProductRooms& rooms, float* to);

}  // namespace sawtooth::memory
