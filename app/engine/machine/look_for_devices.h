#pragma once

#include <stop_token>
#include <string>

#include "app/engine/machine/devices.h"

namespace sawtooth {

// Finds the devices of this machine in a worker, so that a driver that hangs can be ended with it. It gets 10
// s; after that `gpu_reason` says so. Also returns when stopped.
Devices look_for_devices(const std::string& cache_directory, bool tries_counters, std::stop_token stop);

}  // namespace sawtooth
