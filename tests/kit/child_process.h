#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace sawtooth {

// Runs a hidden test case of this program ("[.child]") in a process of its own: for state that exists once
// per process, for another environment, or for tests that end the process.
class ChildProcess {
  public:
    // `environment` is in shell syntax: "SAWTOOTH_WITHOUT=nvrtc".
    ChildProcess(const std::string& environment, const std::string& test) {
        const std::string program = std::filesystem::read_symlink("/proc/self/exe");
        pipe_ = ::popen((environment + " '" + program + "' '" + test + "' 2>&1").c_str(), "r");
    }
    ~ChildProcess() {
        if (pipe_) ::pclose(pipe_);
    }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    // The output of the process, followed by "exit N".
    std::string output() {
        std::string text;
        char block[4096];
        while (const size_t bytes = std::fread(block, 1, sizeof block, pipe_)) text.append(block, bytes);
        const int status = ::pclose(pipe_);
        pipe_ = nullptr;
        return text + "exit " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }

  private:
    FILE* pipe_ = nullptr;
};

}  // namespace sawtooth
