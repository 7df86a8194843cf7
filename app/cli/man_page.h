#pragma once

#include <string>

namespace sawtooth::cli {

// sawtooth.1, made from the tables of the command line.
std::string man_page();

}  // namespace sawtooth::cli
