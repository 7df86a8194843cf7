#pragma once

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"
#include "kernels/core/storage.h"
#include "kernels/cuda/device/tensor_map.cuh"

namespace sawtooth::cuda {

// Makes a map of an array [depth, rows, columns] in device memory for tensor copies
// (kernels/cuda/device/tensor_copy.cuh). Boxes have `box_rows` rows and as many columns as fit in 128 bytes,
// at least 32 bytes; in shared memory they are Swizzled (warpgroup.cuh) or plain. Storage: f32, f16 or bf16.
// box_rows: 1 to 256. Failure: the driver refuses.
enum class Boxes { swizzled, plain };
Outcome<TensorMap> tensor_map(const void* array, Storage storage, const Shape& shape, int64_t box_rows,
                              Boxes boxes);

}  // namespace sawtooth::cuda
