#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernels/core/launch.h"

namespace sawtooth::cuda {

// The output of NVRTC and its assembler for one file with --ptxas-options=-v.
struct CompileLog {
    std::map<std::string, Resources> kernels;  // by entry; spills count stores and loads
    std::string warnings;     // one per line: warnings and performance notes of the assembler
    std::string first_error;  // "" if there is none; begins with a file name
};
CompileLog read_compile_log(std::string_view log, const std::string& file);

}  // namespace sawtooth::cuda
