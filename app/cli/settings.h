#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/arguments.h"
#include "app/engine/run/shards.h"
#include "app/engine/window_options.h"
#include "kernels/core/family.h"
#include "kernels/core/request.h"
#include "kernels/core/sweep.h"

namespace sawtooth::cli {

// The parsed values of the options that subcommands share.
struct Settings {
    const Family* family = nullptr;  // null for subcommands without a family
    Request request;
    // The commands of --on and --on-file, in order. With more than one, `request.on` is the first.
    std::vector<std::string> workers;
    std::string cache_directory;
    std::vector<std::string> notes;  // options that this run cannot honour
};

Outcome<Settings> settle(const Arguments& arguments);
// Checks what every cell of a sweep has in common: preset, variants, the input file and its names. In a
// single run the engine reports these errors; in a sweep they must not become refused cells.
std::optional<Error> check_for_all_cells(const Settings& settings);
Outcome<std::vector<SweepAxis>> settle_axes(const Arguments& arguments, const Settings& settings);
// Checks the kind of --export, and that the family can be exported to it.
std::optional<Error> check_export(const Arguments& arguments, const Settings& settings,
                                  const std::vector<SweepAxis>& axes);
// The value of --seconds; absent if it was not given.
Outcome<std::optional<double>> settle_seconds(const Arguments& arguments);
// The value of --shard; absent if it was not given.
Outcome<std::optional<Shard>> settle_shard(const Arguments& arguments);
// The value of --trials; 1000 if it was not given.
Outcome<int> settle_trials(const Arguments& arguments);
Outcome<WindowOptions> settle_window(const Arguments& arguments);
// The options, without dashes, that --a and --b of a comparison may set like parameters.
std::span<const std::string_view> own_options_of_sides();
// The settings of A and of B of a comparison: what both have, then what --a and --b set for one of them.
Outcome<std::pair<Settings, Settings>> settle_sides(const Arguments& arguments);
Outcome<ShotOptions> settle_shot(const Arguments& arguments);

// One text for all names of the same file.
std::string place_of(const std::string& path);
// The files of --json-file, --csv, --markdown and --junit, checked to be writable. At most one document goes
// to standard output.
struct TableFiles {
    std::string json, csv, markdown, junit;  // "" when absent
    bool to_standard_output = false;         // one of them goes there
};
Outcome<TableFiles> settle_files(const Arguments& arguments);

}  // namespace sawtooth::cli
