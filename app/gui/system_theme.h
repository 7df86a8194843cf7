#pragma once

namespace sawtooth {

// Whether the desktop prefers dark windows, according to its files and environment; dark if unknown.
bool system_prefers_dark();

}  // namespace sawtooth
