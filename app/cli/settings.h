#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "app/engine/window_options.h"
#include "kernels/core/family.h"
#include "kernels/core/request.h"
#include "kernels/core/sweep.h"

namespace sawtooth::cli {

// The options that several subcommands share, as values.
struct Settings {
    const Family* family = nullptr;  // null where the subcommand is not about one
    Request request;
    std::string cache_directory;
    std::vector<std::string> notes;  // what will be done otherwise than asked
};

Outcome<Settings> settle(const Arguments& arguments);
// What would be wrong in every cell alike: preset, variants, the file and the names in it. In one run the
// engine finds it; in a sweep it must not become the reason of a refused cell.
std::optional<Error> check_for_all_cells(const Settings& settings);
Outcome<std::vector<SweepAxis>> settle_axes(const Arguments& arguments, const Settings& settings);
Outcome<WindowOptions> settle_window(const Arguments& arguments);
Outcome<ShotOptions> settle_shot(const Arguments& arguments);

// The files that --json-file, --csv and --markdown name, each checked to be writable; at most one document
// goes to standard output.
struct TableFiles {
    std::string json, csv, markdown;  // "" where not asked for
    bool to_standard_output = false;  // one of them
};
Outcome<TableFiles> settle_files(const Arguments& arguments);

}  // namespace sawtooth::cli
