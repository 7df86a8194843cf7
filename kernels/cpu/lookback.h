#pragma once

#include <cstdint>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/pool.h"

namespace sawtooth::cpu {

// Decoupled look-back (Merrill, Garland 2016): the prefix of every tile of a sequence in one pass. A tile
// publishes the total of its own positions, walks back to the nearest tile with a published prefix, joins the
// totals in between, and publishes its own prefix. kernels/cuda/device/lookback.cuh has a picture.
//
// The board holds one flag per tile for `tiles` tiles of `sequences` sequences; the caller owns totals and
// prefixes. Items must be dealt out cyclically with item = tile * sequences + sequence, so that an item only
// waits for smaller items. Flags carry the number of the run, so nothing is cleared between runs.
class Lookback {
  public:
    Lookback(PlanBuilder& builder, int64_t tiles, int64_t sequences);

    // Call once before each run, from one thread.
    void start_run() const;

    bool has_prefix(int64_t tile, int64_t sequence) const;
    // A worker that sees the flag also sees everything that was stored before it.
    void publish_total(int64_t tile, int64_t sequence) const;
    void publish_prefix(int64_t tile, int64_t sequence) const;

    static constexpr int64_t none = -1;  // no earlier tile has a prefix: begin at the start of the sequence
    static constexpr int64_t stopped = -2;  // the dispatch was stopped
    // Returns the nearest tile before `tile` with a published prefix, once all tiles in between have totals.
    // Waits for missing totals and yields the processor while waiting.
    int64_t find_prefix(int64_t tile, int64_t sequence, const Item& item) const;

  private:
    bool wait_for_total(int64_t tile, int64_t sequence, const Item& item) const;
    uint64_t flag_of(int64_t tile, int64_t sequence) const;
    void set_flag(int64_t tile, int64_t sequence, uint64_t flag) const;

    int64_t sequences_;
    uint64_t* run_;
    uint64_t* flags_;  // 2 run + 1 when the total can be read, 2 run + 2 when the prefix can
};

}  // namespace sawtooth::cpu
