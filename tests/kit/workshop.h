#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/compiler.h"
#include "kernels/cuda/device_sources.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {

// Returns whether a test must be skipped because NVRTC is missing, and prints a note.
inline bool without_compiler() {
    const auto version = cuda::compiler_version();
    if (!version) say_skipped(version.error().text);
    return !version;
}

// A folder of kernels, and a cache beside it.
struct Workshop {
    TemporaryFolder folder;
    int compilations = 0;

    Workshop() { std::filesystem::create_directories(folder.file("kernels/parts")); }
    void write(const std::string& name, const std::string& text) { put(folder.file(name), text); }
    // Writes kernels that every device compiles separately.
    void write_own_kernels() {
        std::filesystem::create_directories(folder.file("kernels/cuda/device"));
        for (const cuda::EmbeddedSource& source : cuda::embedded_sources())
            if (source.name.starts_with("kernels/cuda/"))
                write(std::string(source.name), std::string(source.text));
    }
    cuda::CompilerOptions options() const { return {folder.file("cache"), folder.path()}; }
    // Compiles with a new compiler, which knows only the folder of the cache.
    Outcome<cuda::Compiled> compile(const std::string& name, cuda::Defines defines = {}) {
        return cuda::Compiler(options()).compile({name, std::move(defines)}, "sm_90a",
                                                 [&](const std::string&) { ++compilations; });
    }
    std::vector<std::filesystem::path> kept() const {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder.file("cache/cubin")))
            files.push_back(entry.path());
        return files;
    }
};

}  // namespace sawtooth
