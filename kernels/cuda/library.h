#pragma once

#include <string>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth::cuda {

// A shared library that is opened when it is first needed, so that the program starts without it.
struct LibraryWanted {
    std::string word;                // its name in SAWTOOTH_WITHOUT: driver, nvrtc, cupti, nvml
    std::string title;               // its name in an error: "NVRTC, the CUDA compiler (libnvrtc.so)"
    std::vector<std::string> files;  // the preferred one first: {"libnvrtc.so.13", "libnvrtc.so.12"}
    bool in_toolkit = true;  // false: comes with the driver, so that only the loader knows where it is
    std::string remedy;      // what to do where it is missing
};

// Stays open until the process ends: the driver and CUPTI do not bear being closed.
class Library {
  public:
    Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
    const std::string& path() const { return path_; }
    void* symbol(const char* name) const;  // null where it has none
    // Opens another one of its folder, which it will ask the loader for by its bare name: the loader then has
    // it, but would not look there. Does nothing where there is none, or where the loader found this one.
    void open_beside(const std::string& file) const;

  private:
    void* handle_;
    std::string path_;
};

// Looks where the loader does, then in the toolkits ($CUDA_HOME, $CUDA_PATH, /usr/local/cuda*), in `../lib`
// beside the program, and where the build found or fetched it. Failure: what is missing and what to do.
//
// The environment variable SAWTOOTH_WITHOUT, a comma-separated list of words, hides libraries as if they
// were not installed: "driver,cupti". Tests hide each in turn.
Outcome<Library> open_library(const LibraryWanted& wanted);

}  // namespace sawtooth::cuda
