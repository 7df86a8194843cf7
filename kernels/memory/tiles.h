#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/memory/job.h"

namespace sawtooth::memory {

// When boundaries come: a level fires at every multiple of its chunk.
struct Pulse {
    int64_t chunk = 1;
    bool fires(int64_t token) const { return token % chunk == 0; }
};

// Chunks cut into tiles, which are what is worked on at once. A recurrence with given errors is exact
// whatever the tiles, so that they bound memory and work while the chunk decides where errors are taken.
class Tiling {
  public:
    // `tokens` start where a chunk does and end where one does, or with the sequence.
    Tiling(Range tokens, Pulse pulse, int64_t tile)
        : tokens_(tokens),
          chunk_(std::min(pulse.chunk, std::max<int64_t>(tokens.count(), 1))),
          tile_(std::min(tile, chunk_)),
          tiles_a_chunk_((chunk_ + tile_ - 1) / tile_) {}

    int64_t tile() const { return tile_; }
    Range tokens() const { return tokens_; }
    int64_t count() const {
        const int64_t whole = tokens_.count() / chunk_, rest = tokens_.count() % chunk_;
        return whole * tiles_a_chunk_ + (rest + tile_ - 1) / tile_;
    }
    Range at(int64_t index) const {
        const int64_t begin = tokens_.first + index / tiles_a_chunk_ * chunk_;
        const int64_t end = std::min(begin + chunk_, tokens_.last);
        const int64_t first = begin + index % tiles_a_chunk_ * tile_;
        return {first, std::min(first + tile_, end)};
    }
    // The tile that opens this one's chunk.
    int64_t opening(int64_t index) const { return index - index % tiles_a_chunk_; }
    bool closes_chunk(int64_t index) const {
        return index % tiles_a_chunk_ == tiles_a_chunk_ - 1 || index == count() - 1;
    }

  private:
    Range tokens_;
    int64_t chunk_, tile_, tiles_a_chunk_;
};

// Tokens that matrix products work on at once: more gain nothing on a processor, as its products are as fast
// at 64, and cost work, as those of a tile with itself grow with its square.
constexpr int64_t usual_tile = 64;

// Hands out pieces of a block of memory one after another; from a null block it only counts.
class Pieces {
  public:
    explicit Pieces(float* block) : block_(block) {}
    float* take(int64_t count) {
        const int64_t at = taken_;
        taken_ += padded(count);
        return block_ ? block_ + at : nullptr;
    }
    int64_t taken() const { return taken_; }

  private:
    float* block_;
    int64_t taken_ = 0;
};

}  // namespace sawtooth::memory
