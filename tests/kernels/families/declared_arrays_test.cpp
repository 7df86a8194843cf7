// A launch changes only the arrays that it says it writes, and reads only those that it says it reads, which
// are inputs or were written before.

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "tests/kernels/families/family_properties.h"

namespace sawtooth {
namespace {

using BytesOfArray = std::vector<std::byte>;
using ByAddress = std::map<void*, BytesOfArray>;

// How to access the memory of a backend and run its launches.
struct Machine {
    std::function<BytesOfArray(const void* address, size_t bytes)> read;
    std::function<void(void* address, const BytesOfArray& bytes)> write;
    std::function<void(const Launch& launch)> run;  // runs the launch and waits for its end
};

Machine processor_memory(cpu::Pool& pool) {
    return {
        [](const void* address, size_t bytes) {
            const auto* const begin = static_cast<const std::byte*>(address);
            return BytesOfArray(begin, begin + bytes);
        },
        [](void* address, const BytesOfArray& bytes) { std::memcpy(address, bytes.data(), bytes.size()); },
        [&pool](const Launch& launch) {
            Queue queue{.pool = &pool};
            launch.start(queue);
        }};
}

Machine gpu_memory(cuda::Device& device) {
    return {[&device](const void* address, size_t bytes) {
                BytesOfArray read(bytes);
                CHECK_FALSE(device.download(read.data(), address, static_cast<int64_t>(bytes)));
                return read;
            },
            [&device](void* address, const BytesOfArray& bytes) {
                CHECK_FALSE(device.upload(address, bytes.data(), static_cast<int64_t>(bytes.size())));
            },
            [&device](const Launch& launch) {
                Queue queue{.stream = device.stream()};
                launch.start(queue);
                CHECK(queue.error.empty());
                CHECK_FALSE(device.wait());
            }};
}

// The byte that makes every float a NaN, as in memory that nothing has written.
constexpr std::byte poison{0xFF};
bool is_poisoned(const BytesOfArray& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == poison; });
}

bool names(const Buffers& uses, const void* address) {
    return std::any_of(uses.begin(), uses.end(), [&](const Buffer& use) { return use.address == address; });
}

// Runs the launches one by one. During each, the arrays that it does not name are filled with NaN: it must
// not change them, and if it reads one, outputs change. Returns the number of arrays that launches must leave
// alone.
int64_t run_with_hidden_arrays(const Plan& plan, const Machine& machine) {
    std::map<void*, size_t> arrays;  // those that any launch names, and their bytes
    for (const Launch& launch : plan.launches)
        for (const Buffer& use : launch.info->reads + launch.info->writes) {
            REQUIRE(use.address != nullptr);
            if (use.bytes() == 0) continue;
            size_t& bytes = arrays[use.address];
            bytes = std::max(bytes, static_cast<size_t>(use.bytes()));
        }
    int64_t checked = 0;
    std::set<const void*> written;  // by earlier launches; without events a buffer of events is not
    for (const Launch& launch : plan.launches) {
        const LaunchInfo& info = *launch.info;
        INFO("launch " << info.name);
        ByAddress unnamed, read_only;
        for (const auto& [address, bytes] : arrays) {
            BytesOfArray content = machine.read(address, bytes);
            if (names(info.reads, address)) {
                // The first of many steps starts the array that it passes on.
                const bool begins = &launch == &plan.launches.front() && names(info.writes, address);
                CHECK((begins || written.contains(address) || !is_poisoned(content)));
                if (!names(info.writes, address)) read_only[address] = std::move(content);
            } else if (!names(info.writes, address)) {
                machine.write(address, BytesOfArray(bytes, poison));
                unnamed[address] = std::move(content);
            }
        }
        for (const Buffer& use : info.writes) written.insert(use.address);
        machine.run(launch);
        for (const auto& [address, before] : read_only) CHECK(machine.read(address, before.size()) == before);
        for (const auto& [address, before] : unnamed) {
            CHECK(is_poisoned(machine.read(address, before.size())));
            machine.write(address, before);
        }
        checked += static_cast<int64_t>(unnamed.size() + read_only.size());
    }
    return checked;
}

constexpr size_t most_launches = 300;  // plans with more have one per token

TEST_CASE("a launch changes and reads no array but those that it names", "[family][random][cpu]") {
    for_every_family("declared arrays", processor, nullptr, {}, [](RandomCase& drawn) {
        const auto& [family, variant, parameters, inputs, words, random] = drawn;
        const Plan plan = plan_on_cpu(family, variant.name, parameters, inputs);
        if (plan.launches.size() > most_launches) return int64_t{0};
        Queue queue{.pool = &pool_of_one()};
        if (plan.reset) plan.reset(queue);
        const int64_t hidden = run_with_hidden_arrays(plan, processor_memory(pool_of_one()));
        CHECK(same_bits(run(family, variant.name, parameters, inputs).outputs, *plan.outputs()));
        return hidden;
    });
}

TEST_CASE("a launch on CUDA changes and reads no array but those that it names",
          "[family][random][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    for_every_family("declared arrays", device->chip(), nullptr, {}, [&](RandomCase& drawn) {
        const auto& [family, variant, parameters, inputs, words, random] = drawn;
        const Plan plan = plan_on_device(*device, family, variant.name, parameters, inputs);
        if (plan.launches.size() > most_launches) return int64_t{0};
        Queue queue{.stream = device->stream()};
        if (plan.reset) plan.reset(queue);
        const int64_t hidden = run_with_hidden_arrays(plan, gpu_memory(*device));
        const Arrays outputs = *plan.outputs();
        if (keeps_bits(variant, parameters, Backend::cuda))
            CHECK(same_bits(run_on_device(*device, family, variant.name, parameters, inputs), outputs));
        else
            check_verdicts(judged(family, variant.name, parameters, inputs, outputs, Backend::cuda));
        return hidden;
    });
}

}  // namespace
}  // namespace sawtooth
