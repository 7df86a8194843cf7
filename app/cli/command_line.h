#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/window_options.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// The functions that need the code of the window.
struct WindowCommands {
    std::optional<Error> (*run_window)(const WindowOptions&);
    std::optional<Error> (*shoot)(const ShotOptions&);
    std::optional<Error> (*bench_window)(const WindowOptions&, const std::vector<std::string>& families,
                                         bool json);
};

// The whole program: parses the arguments, runs the subcommand and returns the exit code.
int run_command_line(int argc, char** argv, const WindowCommands& window);

}  // namespace sawtooth
