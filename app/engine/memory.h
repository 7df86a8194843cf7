#pragma once

#include <cstdint>
#include <optional>

#include "app/engine/configure.h"
#include "app/engine/machine.h"

namespace sawtooth {

// Bytes that can still be had: of the machine, and of the control group that this process lives in.
int64_t free_memory_bytes();

// What a Request needs at its largest.
struct MemoryNeed {
    int64_t host = 0;    // inputs, reference, the outputs of all variants; on the CPU also the largest plan
    int64_t device = 0;  // the largest plan and what empties the cache; 0 on the CPU
    int64_t device_together = 0;  // the same where all plans are there at once
};
MemoryNeed needed_memory(const Configuration& configuration, const Machine& machine, bool stores_extras);

// Whether there are outputs that are stored only where they are asked for, and are asked for: drawable ones
// take up to 32 MiB a variant.
bool stores_extras(const Configuration& configuration, Extras extras);

// A failure that says both figures, where `needed` is more than the limit (absent: what is free).
std::optional<Error> check_memory(int64_t needed, std::optional<int64_t> limit);
// The same for host and GPU, each of which may have as much as the limit.
std::optional<Error> check_memory(const MemoryNeed& need, const Machine& machine,
                                  std::optional<int64_t> limit);

}  // namespace sawtooth
