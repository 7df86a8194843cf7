#include "kernels/cuda/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/driver.h"

namespace sawtooth::cuda {

Outcome<TensorMap> tensor_map(const void* array, Storage storage, const Shape& shape, int64_t box_rows,
                              Boxes boxes) {
    const auto calls = driver();
    if (!calls) return calls.error();
    const int64_t element = bytes_of(storage), depth = shape[0], rows = shape[1], columns = shape[2];
    const int64_t box_columns = std::min<int64_t>(columns, 128 / element);
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows),
                                static_cast<cuuint64_t>(depth)};
    const cuuint64_t strides[] = {static_cast<cuuint64_t>(columns * element),
                                  static_cast<cuuint64_t>(rows * columns * element)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows), 1};
    const cuuint32_t steps[] = {1, 1, 1};
    const auto swizzle = boxes == Boxes::plain          ? CU_TENSOR_MAP_SWIZZLE_NONE
                         : box_columns * element == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                         : box_columns * element == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
                                                        : CU_TENSOR_MAP_SWIZZLE_32B;
    const auto type = storage == Storage::f32    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                      : storage == Storage::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    CUtensorMap made;
    const CUresult result = (*calls)->cuTensorMapEncodeTiled(
        &made, type, 3, const_cast<void*>(array), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) return driver_error("cuTensorMapEncodeTiled", result);
    TensorMap map;
    static_assert(sizeof map == sizeof made);
    std::memcpy(&map, &made, sizeof map);
    return map;
}

}  // namespace sawtooth::cuda
