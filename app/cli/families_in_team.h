#pragma once

#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/settings.h"
#include "app/cli/terminal.h"
#include "app/engine/sources/worker_source.h"

namespace sawtooth::cli {

// Does one family in a worker. Called on the thread of the worker.
using FamilyWork = std::function<std::optional<Error>(WorkerSource& source, const Request& request,
                                                      size_t index, std::stop_token stop)>;

// Gives every family to the next free worker of --on. The bar shows those that are done.
struct FamiliesDone {
    std::set<size_t> indices;
    std::optional<Error> error;  // of run_team: the other families are not done
};
FamiliesDone families_in_team(const Settings& settings, const std::vector<std::string>& families,
                              const std::stop_token& stop, ProgressBar& bar, const FamilyWork& work);

}  // namespace sawtooth::cli
