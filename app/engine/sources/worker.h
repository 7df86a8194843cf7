#pragma once

#include <string>

namespace sawtooth {

// Runs as a worker: runs the jobs of its client from standard input (app/engine/wire/messages.h) and answers
// on standard output, until the input ends. All other output of the program goes to standard error. Exit
// codes: 0; 2 if the other end does not speak the protocol; 3 after a GPU error that only a new process
// resolves.
[[noreturn]] void serve_worker(const std::string& cache_directory);

}  // namespace sawtooth
