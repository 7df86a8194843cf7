#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Writes a temporary file in the same folder, flushes it and renames it, so that the file is complete or
// unchanged. Links and permissions stay; temporary files of killed processes are removed. "-" is standard
// output; a device, a pipe or the file that standard output or error goes to is written directly. Failure:
// what failed and why; folders are never created.
std::optional<Error> write_file(const std::string& path, std::string_view content);

// Like write_file, for a writer that needs a path: it gets the path of the temporary file and returns an
// error. Accepts only regular files; removes the temporary file on failure.
std::optional<Error> write_file_with(
    const std::string& path, const std::function<std::optional<std::string>(const std::string&)>& writer);

// The error that write_file would return, as far as it can be known beforehand: call it before a long run.
std::optional<Error> check_writable(const std::string& path);
std::optional<Error> check_replaceable(const std::string& path);  // the same for write_file_with

// Whether "-" or a file is standard output.
bool is_standard_output(const std::string& path);

// Writes all of the content to an open file. Returns 0, or errno.
int write_all(int descriptor, std::string_view content);

// Reads the whole file if it has at most `limit` bytes.
Outcome<std::string> read_file(const std::string& path, int64_t limit);

// The integer at the start of a file ("32768K" is 32768), as those of /sys have it. nullopt if there is none.
std::optional<int64_t> leading_number_in(const std::string& path);

// $XDG_CACHE_HOME/sawtooth (created if missing), $XDG_CONFIG_HOME/sawtooth and $XDG_STATE_HOME/sawtooth
// likewise.
std::string cache_directory();
std::string config_directory();
std::string state_directory();

// Finds a file or folder of assets/ ("fonts/Roboto-Medium.ttf"): beside the program, in its share folder, or
// in the source tree. nullopt if it is in none of them.
std::optional<std::string> find_asset(const std::string& name);

// Creates a folder, but not its parents. Returns whether it was created: false if it existed.
Outcome<bool> make_folder(const std::string& path);

}  // namespace sawtooth
