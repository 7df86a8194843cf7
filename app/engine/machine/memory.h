#pragma once

#include <cstdint>
#include <optional>

#include "app/engine/machine/machine.h"
#include "app/engine/run/configure.h"

namespace sawtooth {

// Free bytes of the machine, limited by the control group of this process.
int64_t free_memory_bytes();

// The peak memory of a Request, computed without building its plans: within 200 ms for every setting.
struct MemoryNeed {
    // Inputs, reference, what judging takes, the outputs of all variants, and of the largest plan: its
    // launches, the outputs of its last repeat, on the CPU its memory.
    int64_t host = 0;
    int64_t device = 0;  // the largest plan and the buffer that empties the cache; 0 on the CPU
    int64_t host_together = 0, device_together = 0;  // the same with all plans at once
};
MemoryNeed needed_memory(const Configuration& configuration, const Machine& machine, bool stores_extras);

// Whether to store the outputs that are stored only on request: they exist and are requested. Drawable ones
// take up to 32 MiB per variant.
bool stores_extras(const Configuration& configuration, Extras extras);

// A failure with both sizes if `needed` is more than the limit (absent: the free memory).
std::optional<Error> check_memory(int64_t needed, std::optional<int64_t> limit);
// The same for host and GPU; the limit applies to each.
std::optional<Error> check_memory(const MemoryNeed& need, const Machine& machine,
                                  std::optional<int64_t> limit);

// Whether all plans may be kept, so that their repeats can take turns.
bool fit_together(const MemoryNeed& need, const Machine& machine, std::optional<int64_t> limit);

}  // namespace sawtooth
