#pragma once

#include <algorithm>
#include <string>

#include "kernels/core/integers.h"
#include "kernels/core/plan_builder.h"
#include "kernels/core/range.h"
#include "kernels/memory/state.cuh"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {

// The sizes and settings given by the parameters.
struct Sizes {
    const UpdateRule* rule = nullptr;
    int64_t batch = 0, length = 0, d = 0;
    int64_t slot_count = 0;    // of lattice, otherwise 0
    int64_t compress = 0;      // of trellis, otherwise 0
    int64_t omega_window = 1;  // as given; 1 without windows
    int64_t window = 1;        // tokens whose errors a step averages, at most the length
    float lambda_k = 0;        // trellis: decay of S_K and of S_V, in proportion to the step
    float lambda_v = 0;
    int64_t local_tokens = 1;        // C_L, at most the length
    bool normalises = true;          // keys and queries
    bool reads_boundary = false;     // readout = boundary
    Storage storage = Storage::f32;  // of k, v, q, x and y
    std::string precision;           // of GPU products: f32, tf32, bf16

    // Rows of d numbers in the state of one sequence, or in one of its matrices if it has two.
    int64_t state_rows() const;
    // The cost of the exact rule: operations per token over all sequences, and bytes of its inputs and
    // outputs.
    double operations_a_token() const;
    double bytes_a_token() const;
};
Sizes sizes_of(const Parameters& parameters);

// What a strategy works on, the same on both backends. Arrays are in the memory of the backend, rows
// unpadded. Inputs that the rule does not read and outputs that are not requested are null.
struct Job : Sizes, Vectors, States {
    Gates gates;
    const float* w_omega = nullptr;  // [d, 2 d]
    const char* y_name = "y";        // or level_y
};

// The job of a strategy without arrays, from the parameters.
Job job_of(const Parameters& parameters, const Strategy& strategy);
// The same with the inputs and outputs of the builder's request.
Job job_of(PlanBuilder& builder, const Strategy& strategy);

// A matrix that tokens update one after another:
//   e_i = M k_i - v_i, or -v_i if the rule does not read the memory
//   S_t = keep_t S - step_t sum of e_i k_i^T over the window that ends at t,  M_t = decay_t M + S_t
// The memory of a matrix rule, or S_K or S_V of trellis.
struct Chain : States {
    std::string name = "m";       // of its output
    std::string given = "m0";     // of its state before the first token
    std::string suffix;           // of its launches' names
    std::string rows_word = "d";  // name of its rows in grid formulas
    std::string keys, values;     // the sources of k_i and v_i
    int64_t batch = 0, length = 0, rows = 0, columns = 0;
    int64_t window = 1;
    bool reads_memory = true, has_momentum = false;
    Gates gates;
};
Chain matrix_chain(const Job& job);  // of a matrix rule
Chain slot_chain(const Job& job);    // the slots of lattice, only for descriptions of launches
Chain key_chain(const Job& job);     // S_K, which learns k[:c] of x
Chain value_chain(const Job& job);   // S_V, which learns v of z = nsilu(S_K x)

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
class Tiling {
  public:
    // `tokens` must start at a chunk and end at the end of a chunk or of the sequence.
    Tiling(Range tokens, int64_t chunk, int64_t tile)
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
    // The first tile of the chunk of tile `index`.
    int64_t opening(int64_t index) const { return index - index % tiles_a_chunk_; }
    bool closes_chunk(int64_t index) const {
        return index % tiles_a_chunk_ == tiles_a_chunk_ - 1 || index == count() - 1;
    }

  private:
    Range tokens_;
    int64_t chunk_, tile_, tiles_a_chunk_;
};

}  // namespace sawtooth::memory
