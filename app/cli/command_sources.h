#pragma once

#include "app/cli/terminal.h"
#include "app/engine/sources/sources.h"

namespace sawtooth::cli {

// Where a subcommand runs its Requests: here, or with --on in a worker. An interrupt ends the program even if
// what runs does not answer.
class CommandSources : public Sources {
  public:
    explicit CommandSources(const std::string& cache_directory) : Sources(cache_directory) {
        here().on_deaf(end_with);
        leave_when_stopped();
    }
};

}  // namespace sawtooth::cli
