#pragma once

#include <stop_token>
#include <string>

#include "kernels/core/request.h"

namespace sawtooth {

// The options of the window from the command line; the rest comes from the saved settings.
struct WindowOptions {
    Request request;              // family "": the first one offered
    std::string theme;            // "dark", "light", "" as saved
    double scale = 0;             // 1 to 2; 0 as saved
    std::string cache_directory;  // "": the default
    std::stop_token stop;         // Ctrl+C
};

struct ShotOptions : WindowOptions {
    std::string path;  // the .png
    int width = 1600, height = 900;
    std::string panel;  // one panel fills the picture; "" the whole window
};

}  // namespace sawtooth
