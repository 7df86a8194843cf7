#pragma once

#include <string>
#include <vector>

namespace sawtooth::cli {

// What the last of the words after `sawtooth` may become, for the completion of shells: lines of the whole
// word, a tab and its meaning. Empty if a name of a file, or anything, may follow.
std::string completions(const std::vector<std::string>& words);

}  // namespace sawtooth::cli
