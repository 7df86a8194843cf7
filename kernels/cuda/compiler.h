#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/core/refusal.h"
#include "kernels/cuda/device_sources.h"

namespace sawtooth::cuda {

class CubinCache;

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

// A .cu file and its macros, because tile sizes are compile-time constants.
struct Source {
    std::string file;  // "kernels/scan/cuda/blelloch.cu"
    Defines defines;

    bool operator==(const Source&) const = default;
};

struct Compiled {
    std::string key;  // differs if anything differs that can change the cubin
    std::string cubin;
    std::map<std::string, Resources> kernels;  // by entry name; shared memory is the static part
    std::string log;                           // warnings of the compiler, "" if there are none
};

struct CompilerOptions {
    std::string cache_directory;    // cubins go to its folder "cubin", at most 1 GiB, oldest removed
    std::string kernels_directory;  // holds "kernels/…" to read instead of the embedded text; "": embedded
    int jitter = 0;                 // kernels/cuda/device/sync.cuh; 0: none
    bool quick = false;             // optimises little unless that gives warnings; for code that never runs
};

// Compiles with NVRTC, which is opened at the first call and needs neither a GPU nor a driver. Cubins are
// cached by the text of the source and its includes, the macros, the architecture and NVRTC's version;
// processes may share the folder. Not thread-safe.
class Compiler {
  public:
    explicit Compiler(CompilerOptions options);

    // Calls `compiling` (may be empty) with the file name if the source is not cached. Failure: NVRTC is
    // missing (with a remedy) or does not know the architecture, the file does not exist, or it does not
    // compile (file, line and first error, in one line). Cancelled: `stop` ends a compilation.
    Outcome<Compiled> compile(const Source& source, const std::string& architecture,
                              const std::function<void(const std::string& file)>& compiling = {},
                              const std::stop_token& stop = {});

    // Compiles the sources that are not cached, on up to `threads` threads, so that compile() finds them.
    // Calls `compiling` once, with "FILE" or "FILE and 3 more". Failures and a stop are left to compile().
    void compile_together(const std::vector<Source>& sources, const std::string& architecture, size_t threads,
                          const std::function<void(const std::string& files)>& compiling = {},
                          const std::stop_token& stop = {});

    const CompilerOptions& options() const { return options_; }
    void set_jitter(int jitter) { options_.jitter = jitter; }  // for later compilations

  private:
    // What NVRTC compiles, and the key of the result.
    struct Job {
        std::vector<SourceText> texts;
        std::vector<std::string> options;
        std::string key;
    };
    Outcome<Job> job_of(const Source& source, const std::string& architecture) const;
    // Gets a kernel from the cache folder or from NVRTC. May run on any thread.
    Outcome<Compiled> make(const Job& job, const std::string& architecture,
                           const std::function<void(const std::string& file)>& compiling,
                           const std::stop_token& stop) const;
    CubinCache cache() const;
    // Returns what this object compiled earlier, without reading the source again; null for sources of a
    // folder, which may change.
    const Compiled* known(const Source& source, const std::string& architecture) const;
    const Compiled& keep(const Source& source, const std::string& architecture, Compiled compiled);

    CompilerOptions options_;
    std::map<std::string, Compiled> compiled_;  // in this process, by key
    std::map<std::string, std::string> keys_;  // keys of embedded sources, by all that they are compiled with
};

// "13.0", or why NVRTC is not available.
Outcome<std::string> compiler_version();
// Whether this NVRTC compiles for the architecture: an old NVRTC does not know newer chips.
bool compiler_knows(std::string_view architecture);

}  // namespace sawtooth::cuda
