#include "app/engine/check/trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/engine/run/planned_kernels.h"
#include "app/engine/run/time_limit.h"
#include "profiling/measure.h"

namespace sawtooth {
namespace {

constexpr int runs = 3;

// Compiles the kernels of the trial into the cache of kernels. If that fails, building the plan fails later
// in the same way. A plan for a chip that is not present has no memory.
void compile_ahead(const Trial& trial, const Preparation& preparation, const std::stop_token& stop) {
    auto device =
        cuda::Device::theory(preparation.chip.architecture,
                             {preparation.cache_directory, trial.request.kernels, trial.request.jitter});
    if (!device) return;
    Arrays shapes = trial.inputs;
    for (Array& array : shapes) array.data = nullptr;
    const bool stores_extras = trial.request.extras == Extras::all;
    (*device)->compile_together(planned_kernels(trial.configuration, shapes, stores_extras, **device, stop),
                                stop, preparation.threads);
}

Definitions::Source source_of(const Trial& trial, int threads) {
    static const Arrays none;
    return {trial.configuration,
            trial.configuration.backend,
            trial.inputs,
            none,
            trial.request.extras == Extras::all,
            threads};
}

std::optional<Error> run_again(const Plan& plan, const Machine& machine) {
    if (machine.timer) {
        if (auto error = machine.timer->prepare(plan, Cache::hot)) return error;
        return machine.timer->run(plan);
    }
    std::vector<LaunchRecord> untimed;
    if (run_plan(plan, *machine.pool, Cache::hot, untimed)) return {};
    return Error::cancelled();
}

// Returns whether the machine has too little memory for the setting, which says nothing about the kernel. The
// message of an illegal access contains "memory", too.
bool lacks_memory(const Error& error) {
    return error.text.find("memory") != std::string::npos && !cuda::is_fatal(error);
}

// The outputs of the first and the last run.
struct Outputs {
    Arrays first, last;
};
Outcome<Outputs> run_all(const Trial& trial, const Machine& machine, double patience,
                         const std::stop_token& stop) {
    machine.set_stop(stop);
    auto plan = make_plan({.family = *trial.configuration.family,
                           .variant = trial.variant(),
                           .parameters = trial.configuration.parameters,
                           .inputs = trial.inputs,
                           .device = machine.device(),
                           .multiprocessors = trial.request.multiprocessors,
                           .stores_extras = trial.request.extras == Extras::all,
                           .stop = stop});
    if (!plan) return plan.error();
    const TimeLimit limit(stop, patience);
    machine.set_stop(limit.token());
    Outputs outputs;
    for (int run = 0; run < runs; ++run) {
        if (auto error = run_again(*plan, machine)) {
            // A launch is still using the memory of the plan; freeing it would wait forever.
            if (machine.timer && machine.timer->abandoned()) new Plan(std::move(*plan));
            return *error;
        }
        if (run > 0 && run + 1 < runs) continue;
        auto made = plan->outputs();
        if (!made) return made.error();
        (run == 0 ? outputs.first : outputs.last) = copied(std::move(*made));
    }
    return outputs;
}

}  // namespace

const OutputVerdict* Tried::first_wrong() const {
    const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                    [](const OutputVerdict& one) { return one.verdict == Verdict::wrong; });
    return found == verdicts.end() ? nullptr : &*found;
}

Outcome<std::shared_ptr<const Trial>> prepare_trial(const Request& request, const Preparation& preparation,
                                                    std::stop_token stop) {
    auto configuration = configure(request, {}, preparation.chip.backend);
    if (!configuration) return configuration.error();
    auto trial = std::make_shared<Trial>(Trial{request, std::move(*configuration), {}, {}});
    const Chip chip = planned_chip(preparation.chip, request.multiprocessors);
    if (trial->variant().refusal(trial->configuration.parameters, chip))
        return std::shared_ptr<const Trial>();
    auto inputs = make_inputs(trial->configuration, request, stop);
    if (!inputs) return inputs.error();
    trial->inputs = std::move(*inputs);
    Definitions definitions;
    const auto expected = definitions.find(source_of(*trial, 1), trial->variant(), stop);
    if (stop.stop_requested()) return Error::cancelled();
    if (!expected) return std::shared_ptr<const Trial>();
    trial->expected = **expected;
    if (preparation.chip.backend == Backend::cuda) compile_ahead(*trial, preparation, stop);
    return std::shared_ptr<const Trial>(std::move(trial));
}

std::optional<Tried> try_out(const Trial& trial, const Machine& machine, double patience,
                             std::stop_token stop) {
    const auto outputs = run_all(trial, machine, patience, stop);
    machine.set_stop({});
    Tried tried;
    const bool abandoned = machine.timer && machine.timer->abandoned();
    if (!outputs) {
        const bool is_cancelled = outputs.error().kind == Error::Kind::cancelled;
        if ((is_cancelled && !abandoned) || lacks_memory(outputs.error())) return {};
        tried.problem =
            abandoned ? fmt::format("a launch did not end within {} s", patience) : outputs.error().text;
        tried.ends_process = abandoned || cuda::is_fatal(outputs.error());
        tried.hangs = abandoned;
        return tried;
    }
    tried.outputs = outputs->last;
    std::vector<Expected> expected = trial.expected;
    // Only wrong outputs, and those near their bound, need more draws. These may take long and are not
    // limited: a wrong kernel would pass.
    auto verdicts = verdicts_on(outputs->last, trial.variant(), source_of(trial, 0), expected, stop);
    if (!verdicts) return {};
    const bool unordered = trial.variant().is_unordered(trial.configuration.parameters);
    for (size_t i = 0; i < verdicts->size(); ++i) {
        const Array& output = outputs->last[i];
        const Array* const first = find(outputs->first, output.name);
        const bool again = first && !unordered;
        if (const auto changed = again ? changed_since(*first, output) : std::nullopt)
            tried.verdicts.push_back(*changed);
        else if ((*verdicts)[i].verdict != Verdict::pending)  // it has a definition
            tried.verdicts.push_back(std::move((*verdicts)[i]));
    }
    return tried;
}

}  // namespace sawtooth
