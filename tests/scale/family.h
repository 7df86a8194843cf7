#pragma once

#include <span>

#include "kernels/core/family.h"
#include "kernels/cuda/device_sources.h"

namespace sawtooth {

// y = a x: the example of what a family costs. The program of the tests adds it to those of kernels/.
const Family& scale_family();

namespace cuda {
std::span<const EmbeddedSource> scale_sources();  // its device text, which the build embeds
}

}  // namespace sawtooth
