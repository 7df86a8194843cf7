#include "app/engine/machine/devices.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>

#include "app/engine/files/files.h"
#include "app/engine/machine/machine.h"
#include "kernels/cpu/limits.h"
#include "kernels/cuda/chips.h"
#include "kernels/cuda/device.h"
#include "profiling/cupti_counters.h"

namespace sawtooth {
namespace {

// The text after "key :" in a file of such lines; "" if the key is missing.
std::string field(const char* path, std::string_view key) {
    std::ifstream file(path);
    file.exceptions(std::ios::badbit);  // or getline would take a lack of memory for the end of the file
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const size_t start = line.find_first_not_of(" \t", colon + 1);
        return start == std::string::npos ? "" : line.substr(start, line.find_last_not_of(" \t") + 1 - start);
    }
    return {};
}

std::string processor_name() {
    for (const char* key : {"model name", "Model", "Hardware"})
        if (std::string name = field("/proc/cpuinfo", key); !name.empty()) return name;
    return "unknown processor";
}

// The numbers of the cores that this process may use; without a limit those of the first `CPU_SETSIZE`.
std::vector<int> usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cores;
    const bool is_known = ::sched_getaffinity(0, sizeof set, &set) == 0;
    const auto online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (is_known ? CPU_ISSET(core, &set) : core < online) cores.push_back(core);
    return cores;
}

std::string first_line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// The C library serves if there are no files: on some machines it adds up all caches of a level.
int64_t last_level_cache(const std::vector<int>& cores) {
    int64_t bytes = last_level_caches("/sys/devices/system/cpu", cores);
    if (bytes > 0) return bytes;
    for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
        bytes = std::max<int64_t>(bytes, ::sysconf(level));
    return bytes;
}

}  // namespace

int64_t last_level_caches(const std::string& folder, const std::vector<int>& cores) {
    std::map<std::string, int64_t> sizes;  // by the cores that share the cache
    for (const int core : cores) {
        int64_t level = 0;
        std::string last;
        for (int index = 0; index < 5; ++index) {
            const std::string cache = fmt::format("{}/cpu{}/cache/index{}", folder, core, index);
            const int64_t own = leading_number_in(cache + "/level").value_or(0);
            if (own <= level) continue;
            level = own;
            last = cache;
        }
        if (last.empty()) continue;
        sizes[first_line_of(last + "/shared_cpu_list")] =
            leading_number_in(last + "/size").value_or(0) * 1024;
    }
    int64_t all = 0;
    for (const auto& [sharing, size] : sizes) all += size;
    return all;
}

Devices::Cpu find_cpu() {
    Devices::Cpu cpu;
    cpu.name = processor_name();
    const std::vector<int> cores = usable_cores();
    cpu.cores = static_cast<int>(cores.size());
    cpu.vectors = cpu::vector_target();
    cpu.memory_bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
    // Hundreds of cores have thousands of files.
    static const int64_t last_level_cache_bytes = last_level_cache(cores);
    cpu.last_level_cache_bytes = last_level_cache_bytes;
    return cpu;
}

Devices find_devices() {
    Devices devices;
    devices.cpu = find_cpu();
    const auto driver = cuda::find_driver();
    if (driver) {
        devices.gpus = driver->gpus;
        devices.driver = driver->version;
    }
    const auto compiler = cuda::compiler_version();
    if (compiler)
        devices.toolkit = *compiler;
    else
        devices.toolkit_reason = compiler.error().text;
    if (const auto problem = gpu_problem()) devices.gpu_reason = problem->text;
    if (!driver)
        devices.counters_reason = driver.error().text;
    else if (const auto problem = counters_problem())
        devices.counters_reason = problem->text;
    else
        devices.counters_reason = "not tested";
    return devices;
}

void try_counters(Devices& devices) {
    if (devices.gpus.empty() || counters_problem()) return;
    auto device = cuda::Device::open(0, {cache_directory(), ""});
    const auto problem = device ? sawtooth::try_counters(**device) : device.error();
    devices.counters_allowed = !problem;
    devices.counters_reason = problem ? problem->text : "";
}

std::vector<Chip> chips() { return cuda::known_chips(); }

std::string cpu_words(int threads) {
    static const std::string name = processor_name();
    return name + ", " + std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") +
           cpu::vector_target();
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm local = {};
    localtime_r(&now, &local);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &local);
    return text;
}

}  // namespace sawtooth
