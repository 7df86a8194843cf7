#pragma once

#include <optional>

#include "kernels/core/storage.h"
#include "kernels/cuda/device.h"

namespace sawtooth::cuda {

// Copies host arrays to and from device memory of the given storage. The device converts through a bounded
// f32 buffer. Both functions return when the copy is complete.
std::optional<Error> store(Device& device, Storage storage, const Array& from, void* to);
std::optional<Error> fetch(Device& device, Storage storage, const void* from, Array& to);

}  // namespace sawtooth::cuda
