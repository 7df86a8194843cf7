#include "app/engine/machine/devices.h"

#include <fmt/format.h>

#include "app/cli/interrupts.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/machine/look_for_devices.h"
#include "app/engine/run/measured_limits.h"
#include "app/engine/sources/worker_link.h"
#include "app/engine/tables/tables.h"
#include "app/engine/wire/json.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

namespace {

// The devices of this machine, or with --on of the one where the worker runs. A driver that hangs holds up
// only a worker.
Outcome<Devices> found_devices(const Settings& settings, bool measures, std::stop_token stop) {
    if (!settings.request.on.empty()) {
        WorkerLink link(settings.cache_directory);
        link.leave_when_stopped();
        return link.devices({.tries_counters = true, .measures_limits = measures}, settings.request.on, {},
                            std::move(stop));
    }
    Devices found = look_for_devices("", true, stop);
    if (!measures) return found;
    Runner runner(settings.cache_directory);
    runner.on_deaf(end_with);
    auto limits = measured_limits(runner, settings.request, !found.gpus.empty(), std::move(stop));
    if (!limits) return limits.error();
    found.limits = std::move(*limits);
    return found;
}

}  // namespace

int devices(const Arguments& arguments) {
    const auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    Interrupts interrupts;
    auto devices = found_devices(*settings, arguments.has("--measure"), interrupts.token());
    if (!devices) return fail(devices.error());
    const Devices& found = *devices;
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
    for (const Ceilings& limits : found.limits) text += wrapped(words_of(limits), text_width, 2) + "\n";
    return print(text);
}

}  // namespace sawtooth::cli
