#pragma once

#include <string>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth::cuda {

// Describes a shared library that is opened on first use, so that the program starts without it.
struct LibraryWanted {
    std::string word;                // its name in SAWTOOTH_WITHOUT: driver, nvrtc, cupti, nvml
    std::string title;               // its name in an error: "NVRTC, the CUDA compiler (libnvrtc.so)"
    std::vector<std::string> files;  // the preferred one first: {"libnvrtc.so.13", "libnvrtc.so.12"}
    bool in_toolkit = true;          // false: comes with the driver; only the loader knows its path
    std::string remedy;              // what to do if it is missing
};

// An open library. It stays open until the process ends, because the driver and CUPTI cannot be closed.
class Library {
  public:
    Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
    const std::string& path() const { return path_; }
    void* symbol(const char* name) const;  // null if it does not exist
    // Opens another library of the same folder, so that the loader knows it when it is later requested by
    // name alone. Does nothing if there is none, or if the loader found this library itself.
    void open_beside(const std::string& file) const;

  private:
    void* handle_;
    std::string path_;
};

// Opens a library. Searches the loader's paths, then the toolkits ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda*),
// `../lib/sawtooth` beside the program, and where the build found or downloaded it. The failure says what is
// missing and what to do.
//
// The environment variable SAWTOOTH_WITHOUT, a comma-separated list of words ("driver,cupti"), hides
// libraries as if they were not installed. Tests hide each in turn.
Outcome<Library> open_library(const LibraryWanted& wanted);

}  // namespace sawtooth::cuda
