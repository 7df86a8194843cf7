#pragma once

#include <ctime>
#include <string>

namespace sawtooth {

// The time of day here, "14:03:27"; on another day with its date, "2026-11-25 14:03".
std::string local_time(std::time_t seconds);

}  // namespace sawtooth
