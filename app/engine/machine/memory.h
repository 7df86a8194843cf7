#pragma once

#include <cstdint>
#include <optional>

#include "app/engine/machine/machine.h"
#include "app/engine/run/configure.h"

namespace sawtooth {

// Free bytes of the machine, at most what the control group of this process and its address space (ulimit -v)
// allow.
int64_t free_memory_bytes();

// What a control group may still use, given its folder: files that it cached are dropped for it. Nothing if
// it has no limit.
std::optional<int64_t> free_bytes_of_group(const std::string& folder);

// The peak memory of a Request, computed without building its plans, within 200 ms for every setting.
struct MemoryNeed {
    // Host memory: inputs, reference, judging, the outputs of all variants, and the largest plan with its
    // launches, the outputs of its last repeat and, on the CPU, its memory.
    int64_t host = 0;
    int64_t device = 0;  // the largest plan, and the buffer that empties the cache; 0 on the CPU
    int64_t host_together = 0, device_together = 0;  // the same with all plans at once
};
MemoryNeed needed_memory(const Configuration& configuration, const Machine& machine, bool stores_extras);

// Returns whether the extra outputs are stored: they must exist and be requested. Outputs for figures may
// take up to 32 MiB per variant.
bool stores_extras(const Configuration& configuration, Extras extras);

// A failure with both sizes if `needed` exceeds the limit (absent: the free memory).
std::optional<Error> check_memory(int64_t needed, std::optional<int64_t> limit);
// The same check for host and GPU; the limit applies to each.
std::optional<Error> check_memory(const MemoryNeed& need, const Machine& machine,
                                  std::optional<int64_t> limit);

// Returns whether all plans fit in memory together, so that their repeats can take turns.
bool fit_together(const MemoryNeed& need, const Machine& machine, std::optional<int64_t> limit);

}  // namespace sawtooth
