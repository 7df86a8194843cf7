#pragma once

#include <optional>
#include <stop_token>

#include "kernels/core/result.h"
#include "kernels/cpu/pool.h"

namespace sawtooth {

// Copy, triad, multiply-add and an empty launch with this pool, on arrays of `bytes` each (several times the
// last-level cache). Processor and date are the caller's to fill in; nullopt when stopped.
std::optional<Ceilings> measure_ceilings(cpu::Pool& pool, int64_t bytes, std::stop_token stop);

// The processor's clock in MHz where the system tells, averaged over its cores.
std::optional<double> processor_mhz();

}  // namespace sawtooth
