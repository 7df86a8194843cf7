#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Writes a temporary file in the same folder, flushes it and renames it, so that a file is whole or not
// there. "-" is standard output; a device or a pipe is written to. Failure: what could not be done and why;
// folders are never made.
std::optional<Error> write_file(const std::string& path, std::string_view content);

// The same for a writer that wants a path: it is given the temporary file's, and says what went wrong. Only
// for regular files; whatever it left is removed where it failed.
std::optional<Error> write_file_with(
    const std::string& path, const std::function<std::optional<std::string>(const std::string&)>& writer);

// What would hinder write_file, as far as it can be known before: asked before a long run.
std::optional<Error> check_writable(const std::string& path);
std::optional<Error> check_replaceable(const std::string& path);  // likewise for write_file_with

// The whole file, if it is no larger than `limit` bytes.
Outcome<std::string> read_file(const std::string& path, int64_t limit);

// $XDG_CACHE_HOME/sawtooth (made when missing), $XDG_CONFIG_HOME/sawtooth likewise.
std::string cache_directory();
std::string config_directory();

// A file or folder of assets/ ("fonts/Roboto-Medium.ttf"): beside the program, in its share folder, or in the
// source tree; nullopt where it is in none of them.
std::optional<std::string> find_asset(const std::string& name);

}  // namespace sawtooth
