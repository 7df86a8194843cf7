#pragma once

namespace sawtooth {

// Describes an array in global memory to tensor copies (CUtensorMap); made by cuda::tensor_map and passed
// among the arguments of a kernel. It is a plain struct because NVRTC has no cuda.h.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

}  // namespace sawtooth
