#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "kernels/core/launch.h"
#include "kernels/cpu/pool.h"
#include "kernels/memory/tiles.h"
#include "kernels/memory/vectors.h"

namespace sawtooth::memory {

// A chain over a range of tokens in matrix form. With the errors e_i of a chunk given, a tile that starts
// from M and S has
//   M_t = a_t M + b_t S - sum over its sources of w_ti e_i k_i^T,  S_t = h_t S - sum of h_ti e_i k_i^T,
// where sources are its tokens and those before it that its windows reach, and w, h, a, b are running sums
// and products of the gates: nothing is ever divided by a product.

// Rows that tokens bring: [tokens, padded(columns)] or, for values, [tokens, padded(rows)].
using LoadRows = std::function<void(int64_t batch, Range tokens, float* rows)>;
// What tokens read: [tokens, padded(rows)].
using PutRows = std::function<void(int64_t batch, Range tokens, float* rows)>;

struct Reader {
    LoadRows load;
    PutRows put;
    bool at_boundary = false;  // reads the chunk's boundary memory instead of the evolving one
};

struct TiledChain {
    const Chain& chain;
    Tiling tiling;
    LoadRows load_keys, load_values;
    std::vector<Reader> readers;
    bool solves = false;  // errors of the exact rule, by a triangular solve (exact_chunk.cpp)

    // Room, one slot a (batch, tile), or a (batch, tile, strip) for what belongs to strips.
    int64_t sources = 0;        // the most of a tile, padded
    float* keys = nullptr;      // [columns, sources]: transposed
    float* values = nullptr;    // [sources, padded(rows)]
    float* queries = nullptr;   // a reader each: [tile, padded(columns)]
    float* ends = nullptr;      // w [sources], h [sources], then a, b, h of the last token
    float* errors = nullptr;    // strip: [sources, 16]
    float* states_m = nullptr;  // strip: [columns, 16], M at the tile's start
    float* states_s = nullptr;
    float* solved = nullptr;  // [tile, padded(columns)]: keys after the solve

    TiledChain(const Chain& chain, Tiling tiling, size_t readers, bool solves, Pieces& room);

    int64_t tiles() const { return tiling.count(); }
    int64_t slot(int64_t batch, int64_t tile) const { return batch * tiles() + tile; }
    int64_t strip_slot(int64_t item, int64_t tile) const {
        return slot(item / chain.strips(), tile) * chain.strips() + item % chain.strips();
    }
    Range sources_of(Range tokens) const { return {chain.first_source(tokens.first), tokens.last}; }
    float* keys_of(int64_t slot) const { return keys + slot * chain.columns * sources; }
    float* values_of(int64_t slot) const { return values + slot * sources * padded(chain.rows); }
    float* queries_of(size_t reader, int64_t slot) const {
        const int64_t size = tiling.tile() * padded(chain.columns);
        return queries + (static_cast<int64_t>(reader) * chain.batch * tiles() + slot) * size;
    }
    float* ends_of(int64_t slot) const { return ends + slot * (2 * sources + lanes); }
    float* errors_of(int64_t strip_slot) const { return errors + strip_slot * sources * lanes; }
    float* state_of(float* states, int64_t strip_slot) const {
        return states + strip_slot * chain.strip_size();
    }
    float* solved_of(int64_t slot) const { return solved + slot * tiling.tile() * padded(chain.columns); }
};

// The coefficients of a tile's sources, token by token.
class TileCoefficients {
  public:
    TileCoefficients(const Chain& chain, int64_t batch, Range sources, float* w, float* h);
    void advance(int64_t token);

    float of_memory = 1;    // a
    float of_momentum = 0;  // b
    float kept = 1;         // h_t of S itself

  private:
    const Chain& chain_;
    int64_t batch_;
    Range sources_;
    Coefficients rows_;
};

// The launches of a range. Each is parallel over what its name says; all take a shared chain.
using SharedChain = std::shared_ptr<const TiledChain>;
// Keys, values, queries and the coefficients of every tile's last token; with `solves` the solve too: over
// sequences and tiles.
void add_prepare(Plan& plan, const SharedChain& tiled, const std::string& name, const std::string& meaning);
// Errors and states, tile after tile: over sequences and strips of rows.
void add_walk(Plan& plan, const SharedChain& tiled, const std::string& name);
// What tokens read: over sequences and tiles.
void add_read(Plan& plan, const SharedChain& tiled, const std::string& name);

// Steps of a walk, which other strategies share: the errors of one strip of a tile at `boundary`, and the
// state after it.
void make_errors(const TiledChain& tiled, int64_t item, int64_t tile, const float* boundary);
void advance_state(const TiledChain& tiled, int64_t item, int64_t tile, float* m, float* s);
// Takes the sum of w_i e_i k_i^T from `to`; `factors`: w of the tile's sources.
void subtract_outer_products(const TiledChain& tiled, int64_t item, int64_t tile, const float* factors,
                             float* to);
// Turns keys and values of a tile into those whose product with the boundary memory is the exact error.
void solve_tile(const TiledChain& tiled, int64_t batch, int64_t tile, const std::stop_token& stop);

// chunks_work.cpp: what each launch must do, as operations and as bytes.
Work prepare_work(const TiledChain& tiled);
Work walk_work(const TiledChain& tiled);
Work read_work(const TiledChain& tiled);

}  // namespace sawtooth::memory
