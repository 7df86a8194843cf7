#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "kernels/core/result.h"
#include "kernels/cpu/pool.h"

namespace sawtooth {

// The least times that work at the limits took, in microseconds.
struct LimitTimes {
    double array_bytes = 0;  // of each array
    double copy_us = 0;      // from one array to another
    double triad_us = 0;     // from two arrays to a third
    double operations = 0, operations_us = 0;
    int launches = 0;  // one after another
    double launches_us = 0;
};
// The limits that follow from these times.
Ceilings ceilings_of(const LimitTimes& times);

// Measures copy, triad, multiply-add and an empty launch with this pool, on arrays of `bytes` each (use
// several times the size of the last-level cache). The caller fills in processor and date; nullopt if
// stopped.
std::optional<Ceilings> measure_ceilings(cpu::Pool& pool, int64_t bytes, std::stop_token stop);

// The clock of the processor in MHz, averaged over its cores; nullopt if the system does not report it
// in this folder.
std::optional<double> processor_mhz(const std::string& folder = "/sys/devices/system/cpu");

}  // namespace sawtooth
