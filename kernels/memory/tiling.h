#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/integers.h"

namespace sawtooth::memory {

// Tokens first … last - 1.
struct Range {
    int64_t first = 0, last = 0;
    int64_t count() const { return last - first; }
};

// A range of chunks cut into tiles, which are what is worked on at once. A recurrence with given errors is
// exact whatever the tiles, so that they bound memory and work while the chunk decides where errors are
// taken.
class Tiling {
  public:
    // `tokens` start where a chunk does and end where one does, or with the sequence.
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
    // The tile that opens this one's chunk.
    int64_t opening(int64_t index) const { return index - index % tiles_a_chunk_; }
    bool closes_chunk(int64_t index) const {
        return index % tiles_a_chunk_ == tiles_a_chunk_ - 1 || index == count() - 1;
    }

  private:
    Range tokens_;
    int64_t chunk_, tile_, tiles_a_chunk_;
};

}  // namespace sawtooth::memory
