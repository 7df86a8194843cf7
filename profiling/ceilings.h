#pragma once

#include <optional>
#include <stop_token>

#include "kernels/core/result.h"
#include "kernels/cpu/pool.h"

namespace sawtooth {

// Measures copy, triad, multiply-add and an empty launch with this pool, on arrays of `bytes` each (use
// several times the size of the last-level cache). The caller fills in processor and date; nullopt if
// stopped.
std::optional<Ceilings> measure_ceilings(cpu::Pool& pool, int64_t bytes, std::stop_token stop);

// The clock of the processor in MHz, averaged over its cores; nullopt if the system does not report it.
std::optional<double> processor_mhz();

}  // namespace sawtooth
