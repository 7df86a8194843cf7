#include "app/engine/devices.h"

#include <fmt/format.h>

#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/json.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

int devices(const Arguments& arguments) {
    const Devices found = find_devices();
    if (arguments.has("--json")) return print(to_json(found));
    const Devices::Cpu& cpu = found.cpu;
    std::string text = fmt::format("CPU       {}\n", cpu.name);
    text += fmt::format("          {} cores, vectors {}, {} of memory", cpu.cores, cpu.vectors,
                        short_bytes(static_cast<double>(cpu.memory_bytes)));
    if (cpu.last_level_cache_bytes > 0)
        text += fmt::format(", last-level cache {}",
                            short_bytes(static_cast<double>(cpu.last_level_cache_bytes)));
    text += "\n";
    for (const Devices::Gpu& gpu : found.gpus)
        text += fmt::format("GPU       {}, {}\n", gpu.name, gpu.architecture);
    if (found.gpus.empty()) text += "GPU       none that this build uses\n";
    text += fmt::format("driver    {}\n", found.driver.value_or("not known"));
    text += fmt::format("toolkit   {}\n", found.toolkit.value_or("not known"));
    text += fmt::format("counters  {}", found.counters_allowed ? "can be read" : "cannot be read");
    if (!found.counters_reason.empty()) text += ": " + found.counters_reason;
    return print(text + "\n");
}

}  // namespace sawtooth::cli
