#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/sources/worker_source.h"

namespace sawtooth {

// A task in parts that several workers do at the same time, such as the cells of a sweep. Each worker takes
// the next part as soon as it is free. If a worker is lost, its part goes to another one.
struct TeamTask {
    // One worker for each command, in `Request.on`; a command may be there several times. "" starts one here.
    std::vector<std::string> commands;
    // What all parts have in common. A worker without the GPU that it asks for gets no part.
    Request base;
    size_t parts = 0;
    std::string part_name;  // "cell"

    struct PartError {
        Error error;
        bool another_may = false;  // its worker is at fault: another one may do the part
    };
    // Does a part. Called on the thread of the worker; what it produces counts once `finished` is called.
    using Work = std::function<std::optional<PartError>(WorkerSource& source, const std::string& on,
                                                        size_t part, std::stop_token stop)>;
    Work work;
    // The following are called one at a time. A part that two workers could not do ends the task unless
    // `given_up` takes its error.
    std::function<void(size_t part)> finished;
    std::function<void(size_t part, const Error& error)> given_up = {};
    std::function<void(const std::string& line)> told = {};  // a line for each worker that is lost
};

// Errors: cancelled; those of `work`; a failure once all workers are lost. Parts that are finished remain so.
std::optional<Error> run_team(const TeamTask& task, const std::string& cache_directory, std::stop_token stop);

}  // namespace sawtooth
