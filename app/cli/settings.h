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

// Parsed values of the options that subcommands share.
struct Settings {
    const Family* family = nullptr;  // null for subcommands without a family
    Request request;
    std::string cache_directory;
    std::vector<std::string> notes;  // options that this run cannot honour
};

Outcome<Settings> settle(const Arguments& arguments);
// Errors that every cell of a sweep would repeat: preset, variants, the input file and its names. The engine
// finds them in a single run; in a sweep they must not become refused cells.
std::optional<Error> check_for_all_cells(const Settings& settings);
Outcome<std::vector<SweepAxis>> settle_axes(const Arguments& arguments, const Settings& settings);
// The kind of --export, and whether the family can be exported so.
std::optional<Error> check_export(const Arguments& arguments, const Settings& settings);
// Of --seconds; absent without it.
Outcome<std::optional<double>> settle_seconds(const Arguments& arguments);
// Of --trials; 1000 without it.
Outcome<int> settle_trials(const Arguments& arguments);
Outcome<WindowOptions> settle_window(const Arguments& arguments);
Outcome<ShotOptions> settle_shot(const Arguments& arguments);

// Files of --json-file, --csv and --markdown, checked to be writable. At most one document
// goes to standard output.
struct TableFiles {
    std::string json, csv, markdown;  // "" when absent
    bool to_standard_output = false;  // one of the three does
};
Outcome<TableFiles> settle_files(const Arguments& arguments);

}  // namespace sawtooth::cli
