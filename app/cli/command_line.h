#pragma once

#include <optional>

#include "app/engine/window_options.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// What needs the window's code.
struct WindowCommands {
    std::optional<Error> (*run_window)(const WindowOptions&);
    std::optional<Error> (*shoot)(const ShotOptions&);
    std::optional<Error> (*bench_window)(const WindowOptions&, bool json);
};

// The whole program: reads the arguments, does what they ask and returns the exit code.
int run_command_line(int argc, char** argv, const WindowCommands& window);

}  // namespace sawtooth
