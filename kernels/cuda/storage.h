#pragma once

#include <optional>

#include "kernels/core/storage.h"
#include "kernels/cuda/device.h"

namespace sawtooth::cuda {

// Host arrays to and from device memory that holds them in the given storage; converted on the device, by way
// of a bounded piece of f32 there. Both return when the data is where it belongs.
std::optional<Error> store(Device& device, Storage storage, const Array& from, void* to);
std::optional<Error> fetch(Device& device, Storage storage, const void* from, Array& to);

}  // namespace sawtooth::cuda
