#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernels/core/launch.h"

namespace sawtooth::cuda {

// What NVRTC and its assembler say of one file under --ptxas-options=-v.
struct CompileLog {
    std::map<std::string, Resources> kernels;  // by entry; a spill counts what is stored and what is loaded
    std::string warnings;     // a line each: warnings and the assembler's notes on performance
    std::string first_error;  // "" where there is none; begins with a file's name
};
CompileLog read_compile_log(std::string_view log, const std::string& file);

}  // namespace sawtooth::cuda
