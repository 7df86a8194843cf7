#pragma once

#include <vector>

#include "app/engine/tables/bench.h"

namespace sawtooth {

// Reports of different families, which may be of several machines, as one: the rows in order, each note once,
// all devices, and the first error that ended one.
BenchReport joined(const std::vector<BenchReport>& reports);

}  // namespace sawtooth
