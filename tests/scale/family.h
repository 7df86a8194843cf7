#pragma once

#include <span>

#include "kernels/core/family.h"
#include "kernels/cuda/device_sources.h"

namespace sawtooth {

// y = a x, an example of a small family. The test program adds it to the families of kernels/.
const Family& scale_family();

namespace cuda {
std::span<const EmbeddedSource> scale_sources();  // the embedded device code
}

}  // namespace sawtooth
