#pragma once

#include "app/engine/window_options.h"

namespace sawtooth {

// What needs the window's code; each returns an exit code.
struct WindowCommands {
    int (*run_window)(const WindowOptions&);
    int (*shoot)(const ShotOptions&);
    int (*bench_window)(const WindowOptions&, bool json);
};

// The whole program: reads the arguments, does what they ask and returns the exit code.
int run_command_line(int argc, char** argv, const WindowCommands& window);

}  // namespace sawtooth
