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

// A Request for one variant, with its inputs and its expected outputs.
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
    std::string cache_directory;  // for GPU kernels, which are compiled ahead of time
    size_t threads = 1;           // used to compile
};

// Null: there is nothing to compare the outputs with, for example because integer sums overflow. Errors:
// usage, cancelled.
Outcome<std::shared_ptr<const Trial>> prepare_trial(const Request& request, const Preparation& preparation,
                                                    std::stop_token stop);

// The result of running a variant on a trial.
struct Tried {
    std::vector<OutputVerdict> verdicts;  // on its outputs, in order
    Arrays outputs;                       // from the run that was judged
    std::string problem;                  // why it could not run to its end; "" if it did
    bool ends_process = false;            // nothing else can run after this problem
    bool hangs = false;                   // that is because a launch did not end

    const OutputVerdict* first_wrong() const;
    bool is_wrong() const { return !problem.empty() || first_wrong(); }
};

// Runs the variant several times and judges its outputs. Absent if it was stopped, if its runs took longer
// than `patience` seconds, or if it had too little memory.
std::optional<Tried> try_out(const Trial& trial, const Machine& machine, double patience,
                             std::stop_token stop);

}  // namespace sawtooth
