#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/core/array.h"
#include "kernels/cuda/device.h"

namespace sawtooth::cuda {

// How floats of an array are stored on the device; complex64 and int32 arrays are stored as they are.
enum class Storage { as_is, f16, bf16 };
Storage storage_named(std::string_view dtype);  // "f32", "f16", "bf16"
int64_t bytes_of(Storage storage, Dtype dtype);

// Host arrays to and from device memory that holds them in the given storage; converted on the device, by way
// of a bounded piece of f32 there. Both return when the data is where it belongs.
std::optional<Error> store(Device& device, Storage storage, const Array& from, void* to);
std::optional<Error> fetch(Device& device, Storage storage, const void* from, Array& to);

}  // namespace sawtooth::cuda
