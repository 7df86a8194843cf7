#pragma once

#include <string>

namespace sawtooth {

// The worker: does what its client asks for on standard input (app/engine/messages.h) and answers on standard
// output, until the input ends. What the program prints meanwhile goes to standard error. Exit codes: 0; 2
// where the other end speaks another language; 3 after an error of the GPU that only a new process gets over.
[[noreturn]] void serve_worker(const std::string& cache_directory);

}  // namespace sawtooth
