#pragma once

#include <algorithm>
#include <string>

#include "kernels/core/integers.h"
#include "kernels/core/plan_builder.h"
#include "kernels/core/range.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {

// The sizes and settings given by the parameters.
struct Sizes {
    explicit Sizes(const Parameters& parameters);
    Sizes(const Parameters& parameters, const Strategy& strategy);  // also sets the chunk of the strategy

    const UpdateRule* rule;
    int64_t batch, length, d;
    int64_t slot_count = 0;    // slots of lattice, otherwise 0
    int64_t compress = 0;      // c of trellis, otherwise 0
    int64_t omega_window = 1;  // as given; 1 without windows; the longest one if windows vary
    int64_t window = 1;        // tokens whose errors a step averages, at most the length
    float lambda_k = 0;        // trellis: decay of S_K and of S_V, in proportion to the step
    float lambda_v = 0;
    int64_t local_tokens;        // C_L, at most the length
    int64_t chunk = 1;           // tokens between boundaries, at most the length
    int64_t boundary_count = 0;  // chunks + 1
    bool normalises;             // keys and queries
    bool reads_boundary;         // readout = boundary
    Storage storage;             // type of k, v, q, x and y in memory
    std::string precision;       // precision of GPU products: f32, tf32, bf16

    // Rows of d numbers in the state of one sequence, or in one of its matrices if it has two.
    int64_t state_rows() const;
    // The fraction of a step that each token of a window takes, also while the window is filling.
    float share() const { return 1 / static_cast<float>(omega_window); }
    // The tokens in the windows of a range of tokens, those before the sequence left out.
    double tokens_of_windows(Range tokens) const;
    // The operations of the exact rule for these tokens of all sequences.
    double operations_of(Range tokens) const;
    // The bytes of its inputs and outputs of one token, of all sequences.
    double bytes_a_token() const;
};

// A state that launches pass on from one range of tokens to the next.
struct PassedBuffers {
    Buffer from;  // before the first token; absent: zeros
    Buffer to;    // after the last token; absent: not stored
    Buffer live;  // between two launches
};

// The arrays of the family. Vectors are [batch, length, d] in the storage of the request, gates
// [batch, length], and states [batch, rows, columns], without padding. Arrays that the rule or the strategy
// does not use are absent.
struct Tensors : Sizes {
    Tensors(PlanBuilder& builder, const Strategy& strategy);

    Buffer k, v, q, x;
    Buffer alpha, eta, theta;  // absent: 0, 0 and 1
    Buffer omega_windows;      // int32; absent: every window is omega_window
    Buffer w_omega;            // [d, 2 d]
    Buffer y;
    int64_t y_first = 0, y_stride;  // first number in level_y; numbers from one sequence to the next
    PassedBuffers m, s;          // M and its momentum S; S_K and S_V of trellis; `m` holds slots of lattice
    bool passes_s;               // tnt begins every local memory of a matrix rule without momentum
    bool works_in_live = false;  // launches keep the state in `live` (on the CPU)
    Buffer boundaries;  // m before every chunk and after the last token: [batch, boundary_count, …]
};

// A matrix that tokens update one after another: the memory of a matrix rule, or S_K or S_V of trellis.
//   e_i = M k_i - v_i, or -v_i if the rule does not read the memory
//   S_t = keep_t S - step_t sum of e_i k_i^T over the window that ends at t,  M_t = decay_t M + S_t
struct Chain : Tensors {
    int64_t rows, columns;
    float lambda = 0;             // decay in proportion to the step
    std::string suffix = {};      // suffix of its launches' names
    std::string rows_word = "d";  // name of its rows in grid formulas
};
Chain matrix_chain(const Tensors& t);  // the memory of a matrix rule
Chain key_chain(const Tensors& t);     // S_K, which learns k[:c] of x
Chain value_chain(const Tensors& t);   // S_V, which learns v of z = nsilu(S_K x)

// Calls add(range) for consecutive ranges of `step` tokens; the last one may be shorter.
template <class Add>
void each_range(PlanBuilder& builder, Range tokens, int64_t step, Add&& add) {
    builder.repeat(ceil_divide(tokens.count(), step), [&](int64_t i) {
        const int64_t first = tokens.first + i * step;
        add(Range{first, std::min(first + step, tokens.last)});
    });
}

// A range of chunks cut into tiles, the unit of work. A recurrence with given errors is exact for any tile
// size, so tiles limit memory and work, while chunks decide where errors are computed.
class TiledRange {
  public:
    // `tokens` must start at a chunk and end at the end of a chunk or of the sequence.
    TiledRange(Range tokens, int64_t chunk, int64_t tile)
        : tokens_(tokens),
          chunk_(std::min(chunk, std::max<int64_t>(tokens.count(), 1))),
          tile_(std::min(tile, chunk_)),
          tiles_a_chunk_(ceil_divide(chunk_, tile_)) {}

    Range tokens() const { return tokens_; }
    int64_t chunk() const { return chunk_; }
    int64_t tile() const { return tile_; }
    int64_t tiles_a_chunk() const { return tiles_a_chunk_; }
    int64_t count() const {
        return tokens_.count() / chunk_ * tiles_a_chunk_ + ceil_divide(tokens_.count() % chunk_, tile_);
    }
    Range at(int64_t index) const {
        const int64_t begin = tokens_.first + index / tiles_a_chunk_ * chunk_;
        const int64_t end = std::min(begin + chunk_, tokens_.last);
        const int64_t first = begin + index % tiles_a_chunk_ * tile_;
        return {first, std::min(first + tile_, end)};
    }
    // The first tile of the chunk that tile `index` belongs to.
    int64_t opening(int64_t index) const { return index - index % tiles_a_chunk_; }
    bool closes_chunk(int64_t index) const {
        return index % tiles_a_chunk_ == tiles_a_chunk_ - 1 || index == count() - 1;
    }

  private:
    Range tokens_;
    int64_t chunk_, tile_, tiles_a_chunk_;
};

// The arrays that the launches of a tiled chain pass on, and those that the first launch reads. Each backend
// has its own layout: keys and values lie by token or by tile, the others by tile.
struct TileArrays {
    Buffer given_keys, given_values;
    Buffer keys, values;
    Buffer solved;        // keys after the solve of exact_chunk
    Buffer coefficients;  // w and h of every source, then a, b and h of the tile's last token
    Buffer errors;
    Buffer states_m, states_s;  // M and S at the tile's start
    Buffer sums_m, sums_s;      // what a tile adds to them
};

// The first `count` tokens or tiles of an array [batch, tokens or tiles, …].
Buffer first_of(const Buffer& all, int64_t count);
// The first `tiles` tiles of all arrays, but the first `rows` tokens or tiles of keys and values.
TileArrays first_of(const TileArrays& all, int64_t rows, int64_t tiles);

}  // namespace sawtooth::memory
