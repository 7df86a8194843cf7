#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/machine/machine.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/definitions.h"

namespace sawtooth {

// A Request of one variant with its inputs and what its outputs should be.
struct Trial {
    Request request;
    Configuration configuration;
    Arrays inputs;
    std::vector<Expected> expected;

    const Variant& variant() const { return *configuration.variants.front(); }
};

// Where trials are prepared: on any thread, for this chip.
struct Preparation {
    Chip chip;
    std::string cache_directory;  // for kernels of a GPU, which are compiled ahead
    size_t threads = 1;           // to compile with
};

// Null: the Request has no answer to compare with, such as integer sums that overflow. Errors: usage,
// cancelled.
Outcome<std::shared_ptr<const Trial>> prepare_trial(const Request& request, const Preparation& preparation,
                                                    std::stop_token stop);

// What a variant made of a trial.
struct Tried {
    std::vector<OutputVerdict> verdicts;  // of its outputs, in order
    Arrays outputs;                       // of the run that was judged
    std::string problem;                  // why it could not run or end; "" if it did
    bool ends_process = false;            // nothing runs after this problem

    const OutputVerdict* first_wrong() const;
    bool is_wrong() const { return !problem.empty() || first_wrong(); }
};

// Runs the variant several times and judges its outputs. Absent if it was stopped, takes more than `patience`
// seconds, or lacks memory.
std::optional<Tried> try_out(const Trial& trial, const Machine& machine, double patience,
                             std::stop_token stop);

}  // namespace sawtooth
