#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

// The name of a result among all of one program: who asks for a run chooses it, and never chooses it twice.
using ResultId = uint64_t;

// Results with their arrays, as long as these fit. For one thread at a time.
class ResultStore {
  public:
    explicit ResultStore(int64_t most_bytes = int64_t{1} << 30) : most_bytes_(most_bytes) {}

    // The newest result, or another form of it: with times, or with new parameters of its figures. It stays
    // until the next one is added, and then as long as the arrays of all take no more than `most_bytes`; the
    // oldest leave first.
    void add(ResultId id, std::shared_ptr<const Result> result);
    // Null if it is not there, or no longer.
    std::shared_ptr<const Result> find(ResultId id) const;
    // These stay, whatever they take, and no others do.
    void keep(std::vector<ResultId> ids);

  private:
    struct Entry {
        ResultId id = 0;
        std::shared_ptr<const Result> result;
    };
    bool is_kept(ResultId id) const;
    int64_t bytes() const;
    void evict();

    int64_t most_bytes_;
    std::vector<Entry> entries_;  // the newest last
    std::vector<ResultId> kept_;
};

}  // namespace sawtooth
