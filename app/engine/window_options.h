#pragma once

#include <string>

#include "kernels/core/request.h"

namespace sawtooth {

// What the command line says about the window; what it leaves open comes from the kept settings.
struct WindowOptions {
    Request request;              // family "" : the first that is offered
    std::string theme;            // "dark", "light", "" as kept
    double scale = 0;             // 1 to 2; 0 as kept
    std::string cache_directory;  // "": the usual one
};

struct ShotOptions : WindowOptions {
    std::string path;  // the .png
    int width = 1600, height = 900;
    std::string panel;  // one panel fills the picture; "" the whole window
};

}  // namespace sawtooth
