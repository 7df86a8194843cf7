#pragma once

namespace sawtooth {

// Whether the desktop asks for dark windows, as far as its files and environment tell; dark where they do
// not.
bool system_prefers_dark();

}  // namespace sawtooth
