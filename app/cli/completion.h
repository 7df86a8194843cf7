#pragma once

#include <string>
#include <vector>

namespace sawtooth::cli {

// The possible completions of the last word after `sawtooth`, for the shell: one line each with the whole
// word, a tab and its meaning. Empty if a file name, or anything, may follow.
std::string completions(const std::vector<std::string>& words);

}  // namespace sawtooth::cli
