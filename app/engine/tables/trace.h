#pragma once

#include <string>

#include "kernels/core/result.h"

namespace sawtooth {

// Whether a variant has launches, without which a trace would be empty.
bool has_launches(const Result& result);

// The recorded repeat of every variant in the Trace Event Format, which Perfetto and chrome://tracing open: a
// process for each variant; in it, a thread for the launches (more if launches overlap) and one for each
// worker of the CPU; the samples as counters. All variants start at 0.
std::string to_trace(const Result& result);

}  // namespace sawtooth
