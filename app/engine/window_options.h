#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "kernels/core/request.h"

namespace sawtooth {

// The options of the window from the command line; all others come from the saved settings.
struct WindowOptions {
    Request request;              // family "": the first one offered
    std::string theme;            // "dark" or "light"; "" for the saved one
    double scale = 0;             // 1 to 2; 0 for the saved one
    std::string cache_directory;  // "": the default
    std::string session;          // a session file whose results are shown; "": none
    std::stop_token stop;         // requested by Ctrl+C
};

struct ShotOptions : WindowOptions {
    std::string path;  // the .png file to write
    int width = 1600;
    std::optional<int> height;  // absent: 900, or more if the panel needs it
    std::string panel;          // the panel that fills the picture; "" for the whole window
};

}  // namespace sawtooth
