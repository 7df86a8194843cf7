#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/core/refusal.h"

namespace sawtooth::cuda {

// A macro: {"BLOCK_SIZE", 256}, {"FLIPPED", false}, {"OP", "sum"}.
struct Define {
    std::string name, value;

    Define(std::string of_name, std::string of_value)
        : name(std::move(of_name)), value(std::move(of_value)) {}
    Define(std::string of_name, const char* of_value) : name(std::move(of_name)), value(of_value) {}
    Define(std::string of_name, bool flag) : name(std::move(of_name)), value(flag ? "true" : "false") {}
    template <std::integral Integer>
    Define(std::string of_name, Integer number) : name(std::move(of_name)), value(std::to_string(number)) {}

    bool operator==(const Define&) const = default;
};
using Defines = std::vector<Define>;

// A .cu file and the macros that it is compiled with: tile sizes are compile-time constants.
struct Source {
    std::string file;  // "kernels/scan/lookback.cu"
    Defines defines;

    bool operator==(const Source&) const = default;
};

struct Compiled {
    std::string key;  // tells apart all that can change the cubin
    std::string cubin;
    std::map<std::string, Resources> kernels;  // by entry name; shared memory is the static part
    std::string log;                           // warnings of the compiler, "" where there are none
};

struct CompilerOptions {
    std::string cache_directory;    // cubins are kept in its folder "cubin", at most 1 GiB, oldest removed
    std::string kernels_directory;  // holds "kernels/…" to be read instead of the embedded text; "": embedded
};

// Compiles with NVRTC, which is opened at the first call and needs neither a GPU nor a driver. A cubin is
// kept by the text of the source and everything included, the macros, the architecture and NVRTC's version;
// two processes may share the folder. Not to be used by two threads at once.
class Compiler {
  public:
    explicit Compiler(CompilerOptions options);

    // `compiling` (may be empty) is called with the file's name where it is not known yet. Failure: NVRTC is
    // missing (what to do about it) or does not know the architecture, the file is not there, or it does not
    // compile (file, line and the first error, in one line).
    Outcome<Compiled> compile(const Source& source, const std::string& architecture,
                              const std::function<void(const std::string& file)>& compiling = {});

    const CompilerOptions& options() const { return options_; }

  private:
    CompilerOptions options_;
    std::map<std::string, Compiled> compiled_;  // in this process, by key
};

// "13.0", or why NVRTC cannot be used.
Outcome<std::string> compiler_version();
// Whether this NVRTC compiles for that architecture: an older one does not know newer chips.
bool compiler_knows(std::string_view architecture);

}  // namespace sawtooth::cuda
