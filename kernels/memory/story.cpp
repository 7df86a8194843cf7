// What a newcomer sees and reads of the memory rules first.

#include <algorithm>

#include "kernels/memory/parts.h"

namespace sawtooth::memory {
namespace {

// The largest relative error of any output of a variant; 0 where it did not run.
double worst_error(const Result& result, std::string_view name) {
    double worst = 0;
    if (const VariantResult* const variant = find(result, name))
        for (const OutputError& error : variant->errors) worst = std::max(worst, error.rel_l2.value_or(0));
    return worst;
}

bool ran(const Result& result, std::string_view name) {
    const VariantResult* const variant = find(result, name);
    return variant && variant->ran();
}

bool frozen_diverges(const Result& result) {
    return worst_error(result, "chunkwise_gd") > 1 && worst_error(result, "exact_chunk") < 1e-5;
}
bool frozen_is_exact(const Result& result) {
    return ran(result, "chunkwise_gd") && worst_error(result, "chunkwise_gd") < 1e-5;
}

}  // namespace

std::vector<StoryRow> story() {
    return {{{"sawtooth"}, 190},
            {{"error-against-chunk", "time-against-chunk", "time-against-error", "prediction",
              "running-against-chunk"},
             220},
            {{"error-y"}, 180}};
}

About about() {
    return {
        "A memory M maps keys to values, and every token corrects it by the error it finds. Token by token, "
        "each launch waits for the last one, and workers idle in between: the sawtooth. A chunk computes "
        "its tokens together against the memory at its start, which takes fewer launches and makes an error "
        "that grows with the chunk; exact_chunk solves for that error instead.",
        "e = M k - v\nS = eta S - theta e k^T\nM = (1 - alpha) M + S\ny = M q",
        {{"d = 4, chunk 256: frozen errors diverge",
          "Error against chunk: the error of chunkwise_gd passes 100 %, exact_chunk stays exact. A narrow "
          "memory has no room for 256 corrections that do not know of each other.",
          {{"d", int64_t{4}}, {"chunk", int64_t{256}}},
          frozen_diverges},
         {"chunk 1: nothing is frozen",
          "Error: chunkwise_gd agrees with sequential to rounding. Times: it has lost its advantage.",
          {{"chunk", int64_t{1}}},
          frozen_is_exact},
         {"rule hebbian: exact at every chunk",
          "What a token adds does not depend on the memory, so that a chunk of any size is exact.",
          {{"rule", "hebbian"}},
          frozen_is_exact}},
    };
}

}  // namespace sawtooth::memory
