#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

// The name of a result among all of one program: who asks for a run chooses it, and never chooses it twice.
using ResultId = uint64_t;

// All arrays of a result in order: inputs, outputs by variant, reference.
std::vector<Array*> arrays_of(Result& result);
std::vector<const Array*> arrays_of(const Result& result);

// Results with their arrays, as long as these fit. For one thread at a time.
class ResultStore {
  public:
    explicit ResultStore(int64_t most_bytes = int64_t{64} << 20) : most_bytes_(most_bytes) {}

    // Adds the newest result, or replaces it by another form: with times, or with new parameters of its
    // figures. It stays until the next one is added, and then as long as there are at most 64 and their
    // arrays take no more than `most_bytes`; the oldest leave first.
    void add(ResultId id, std::shared_ptr<const Result> result);
    // Null if it is not there, or no longer.
    std::shared_ptr<const Result> find(ResultId id) const;
    // Names the results that stay in any case.
    void keep(std::vector<ResultId> ids);

  private:
    struct Entry {
        ResultId id = 0;
        std::shared_ptr<const Result> result;
    };
    static constexpr size_t most_results = 64;
    bool is_kept(ResultId id) const;
    int64_t bytes() const;
    void evict();

    int64_t most_bytes_;
    std::vector<Entry> entries_;  // the newest last
    std::vector<ResultId> kept_;
};

}  // namespace sawtooth
