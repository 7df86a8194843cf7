#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/cuda/device_sources.h"

namespace sawtooth::cuda {

// NVIDIA's run-time compiler, opened at the first call.
struct NvrtcVersion {
    int major = 0, minor = 0;
    std::string text() const { return std::to_string(major) + "." + std::to_string(minor); }
};
Outcome<NvrtcVersion> nvrtc_version();  // failure: why it is not available and what to do

// Whether it compiles for an architecture, with or without a letter ("sm_100" needs NVRTC 12.8).
bool nvrtc_knows(std::string_view architecture);

// Compiles the first text; the others are its possible includes. An empty cubin means that it did not
// compile; the log says why. Stops within about 0.1 s; an NVRTC older than 12.8 finishes the file first.
struct Translation {
    std::string cubin, log;
};
Outcome<Translation> translate(const std::vector<SourceText>& texts, const std::vector<std::string>& options,
                               const std::stop_token& stop);

}  // namespace sawtooth::cuda
