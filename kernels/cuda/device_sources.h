#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth::cuda {

// A .cu or .cuh file that is part of the program; the list is a file that the build makes of the source tree.
struct EmbeddedSource {
    std::string_view name;  // from the root: "kernels/scan/lookback.cu"
    std::string_view text;
};
std::span<const EmbeddedSource> embedded_sources();
// Adds those of a program that has kernels of its own. Before the first is compiled, and the texts must live
// on.
void add_sources(std::span<const EmbeddedSource> sources);

struct SourceText {
    std::string name, text;
};

// The file and all that it includes by a name from the root, however deep; the file first.
// Read from `directory` where that is not empty, which must then hold all of them, else from the program.
// Failure: the file is not there. A missing include is left to the compiler, which knows the line.
Outcome<std::vector<SourceText>> read_with_includes(const std::string& file, const std::string& directory);

}  // namespace sawtooth::cuda
