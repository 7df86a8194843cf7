#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth::cuda {

// A .cu or .cuh file embedded in the program; the build generates the list from the source tree.
struct EmbeddedSource {
    std::string_view name;  // from the root: "kernels/scan/cuda/blelloch.cu"
    std::string_view text;
};
std::span<const EmbeddedSource> embedded_sources();
// Adds the sources of a program with its own kernels. Call before the first compilation; the texts must stay
// valid.
void add_sources(std::span<const EmbeddedSource> sources);

struct SourceText {
    std::string name, text;
};

// Returns the file and all its direct and indirect includes, named from the root, with the file first. Reads
// from `directory` if it is not empty (it must have all of them), otherwise from the program. Failure: the
// file does not exist. A missing include is left to the compiler, which knows the line.
Outcome<std::vector<SourceText>> read_with_includes(const std::string& file, const std::string& directory);

}  // namespace sawtooth::cuda
