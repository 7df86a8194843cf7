#pragma once

#include "app/engine/run/runner.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {

// The result of the engine for a family on one thread, timed twice; the test fails if there is an error.
inline Result run_in_engine(const Family& family, const Settings& settings) {
    static Runner runner(shared_cache());
    Request request;
    request.family = family.name;
    request.repeats = 2;
    request.threads = 1;
    for (const auto& [name, value] : settings) request.parameters.set(name, value);
    const auto outcome = runner.run(request, {});
    if (!outcome) FAIL(outcome.error().text);
    return **outcome;
}

}  // namespace sawtooth
