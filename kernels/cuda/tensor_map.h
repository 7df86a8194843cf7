#pragma once

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"
#include "kernels/core/storage.h"
#include "kernels/cuda/device/tensor_map.cuh"

namespace sawtooth::cuda {

// An array [depth, rows, columns] in device memory for tensor copies (kernels/cuda/device/tensor_copy.cuh) of
// boxes of `box_rows` rows and as many columns as fit in 128 bytes, at least 32 bytes; in shared memory they
// lie as Swizzled (warpgroup.cuh). Storage: f16 or bf16. box_rows: 1 to 256. Failure: the driver refuses.
Outcome<TensorMap> tensor_map(const void* array, Storage storage, const Shape& shape, int64_t box_rows);

}  // namespace sawtooth::cuda
