#include "app/engine/machine/devices.h"

#include <fmt/format.h>

#include "app/cli/interrupts.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/machine/look_for_devices.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/runner.h"
#include "app/engine/tables/tables.h"
#include "app/engine/wire/json.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

namespace {

// Measures the limits of the CPU, and of the first GPU if there is one.
Outcome<std::vector<Ceilings>> measured_limits(const Arguments& arguments, bool has_gpu) {
    const auto settings = settle(arguments);
    if (!settings) return settings.error();
    Interrupts interrupts;
    Runner runner(settings->cache_directory);
    runner.on_deaf(end_with);
    std::vector<Ceilings> limits;
    for (const BackendChoice backend : {BackendChoice::cpu, BackendChoice::cuda}) {
        if (backend == BackendChoice::cuda && !has_gpu) continue;
        Request request = settings->request;
        request.backend = backend;
        const auto machine = runner.machine(request, *offered_families().front());
        if (!machine) return machine.error();
        auto measured = runner.ceilings(*machine, interrupts.token(), true);
        if (!measured) return measured.error();
        limits.push_back(std::move(*measured));
    }
    return limits;
}

}  // namespace

int devices(const Arguments& arguments) {
    Devices found = look_for_devices("", true, {});
    if (arguments.has("--measure")) {
        auto limits = measured_limits(arguments, !found.gpus.empty());
        if (!limits) return fail(limits.error());
        found.limits = std::move(*limits);
    }
    if (arguments.has("--json")) return print(to_json(found));
    const Devices::Cpu& cpu = found.cpu;
    std::string text = fmt::format("CPU       {}\n", cpu.name);
    text += fmt::format("          {} cores, {} vectors, {} of memory", cpu.cores, cpu.vectors,
                        short_bytes(static_cast<double>(cpu.memory_bytes)));
    if (cpu.last_level_cache_bytes > 0)
        text += fmt::format(", {} last-level cache",
                            short_bytes(static_cast<double>(cpu.last_level_cache_bytes)));
    text += "\n";
    for (const Devices::Gpu& gpu : found.gpus)
        text += fmt::format("GPU       {}, {}, {} SMs, {} of memory, {} L2\n", gpu.name, gpu.architecture,
                            gpu.multiprocessors, short_bytes(static_cast<double>(gpu.memory_bytes)),
                            short_bytes(static_cast<double>(gpu.l2_bytes)));
    if (!found.gpu_reason.empty()) text += "GPU       not usable: " + found.gpu_reason + "\n";
    text += fmt::format("driver    {}\n", found.driver ? "CUDA " + *found.driver : "none found");
    text += fmt::format("toolkit   {}\n",
                        found.toolkit
                            ? "NVRTC " + *found.toolkit + ", compiles kernels"
                            : "kernels cannot be compiled, not even for --arch: " + found.toolkit_reason);
    text += fmt::format("counters  {}", found.counters_allowed ? "available" : "not available");
    if (!found.counters_reason.empty()) text += ": " + found.counters_reason;
    text += "\n";
    for (const Ceilings& limits : found.limits) text += words_of(limits) + "\n";
    return print(text);
}

}  // namespace sawtooth::cli
