#pragma once

#include <stop_token>
#include <string>

#include "app/engine/machine/devices.h"

namespace sawtooth {

// The devices of this machine, found by a worker: a driver that hangs ends with it, after 10 s, and
// `gpu_reason` says so. Also returns when stopped.
Devices look_for_devices(const std::string& cache_directory, bool tries_counters, std::stop_token stop);

}  // namespace sawtooth
