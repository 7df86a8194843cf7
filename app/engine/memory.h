#pragma once

#include <cstdint>
#include <optional>

#include "app/engine/configure.h"

namespace sawtooth {

// Bytes that can still be had: of the machine, and of the control group that this process lives in.
int64_t free_memory_bytes();

// What a Request needs at its largest: inputs, reference, the outputs of all variants and the largest plan.
int64_t needed_memory_bytes(const Configuration& configuration, bool stores_extras = false);

// Whether outputs that are stored only where asked for are: drawable ones up to 32 MiB a variant.
bool stores_extras(const Configuration& configuration, Extras extras);

// A failure that says both figures, where `needed` is more than the limit (absent: what is free).
std::optional<Error> check_memory(int64_t needed, std::optional<int64_t> limit);

}  // namespace sawtooth
