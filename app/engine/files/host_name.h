#pragma once

#include <unistd.h>

#include <string>

namespace sawtooth {

// The name of this machine; "" if it is longer than 64 bytes.
inline std::string host_name() {
    char name[65] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace sawtooth
