// A launch changes only the arrays that it says it writes, and reads only those that it says it reads, which
// are inputs or were written before.

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "tests/kernels/families/family_properties.h"

namespace sawtooth {
namespace {

// Their launches take declared arrays.
bool declares_arrays(const Family& family) { return family.name == "btp" || family.name == "attention"; }

using Bytes = std::span<std::byte>;
constexpr std::byte poison{0xFF};  // NaN in every float, as in memory that nothing has written

bool is_poisoned(Bytes bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == poison; });
}

std::set<const void*> addresses_of(const Buffers& buffers) {
    std::set<const void*> addresses;
    for (const Buffer& buffer : buffers) addresses.insert(buffer.address);
    return addresses;
}

// Runs the launches one by one. Around each, the arrays that it does not name are full of NaN: it must leave
// them so, and if it reads one, outputs change. Returns how many arrays were hidden.
int64_t run_with_hidden_arrays(const Plan& plan, cpu::Pool& pool) {
    std::map<const void*, Bytes> arrays;  // those that any launch names
    for (const Launch& launch : plan.launches)
        for (const void* address : addresses_of(launch.info->reads + launch.info->writes)) {
            const auto at = std::find_if(plan.buffers.begin(), plan.buffers.end(),
                                         [&](Bytes bytes) { return bytes.data() == address; });
            REQUIRE(at != plan.buffers.end());
            arrays[address] = *at;
        }
    int64_t hidden = 0;
    Queue queue{.pool = &pool};
    if (plan.reset) plan.reset(queue);
    for (const Launch& launch : plan.launches) {
        INFO("launch " << launch.info->name);
        for (const Buffer& read : launch.info->reads) {
            INFO("reads " << read.name);
            // The first of many steps begins what it passes on.
            const bool begins = &launch == &plan.launches.front() && has(launch.info->writes, read);
            CHECK((begins || !is_poisoned(arrays[read.address])));
        }
        const auto named = addresses_of(launch.info->reads + launch.info->writes);
        std::map<const void*, std::vector<std::byte>> kept;
        for (const auto& [address, bytes] : arrays) {
            if (named.contains(address)) continue;
            kept[address].assign(bytes.begin(), bytes.end());
            std::fill(bytes.begin(), bytes.end(), poison);
        }
        std::map<const void*, std::vector<std::byte>> read_only;
        for (const void* address : addresses_of(launch.info->reads))
            if (!addresses_of(launch.info->writes).contains(address))
                read_only[address].assign(arrays[address].begin(), arrays[address].end());
        launch.start(queue);
        for (const auto& [address, before] : read_only)
            CHECK(std::equal(before.begin(), before.end(), arrays[address].begin()));
        for (const auto& [address, before] : kept) {
            CHECK(is_poisoned(arrays[address]));
            std::copy(before.begin(), before.end(), arrays[address].begin());
        }
        hidden += static_cast<int64_t>(kept.size());
    }
    return hidden;
}

TEST_CASE("a launch changes and reads no array but those that it names", "[family][random][cpu]") {
    for_every_family("declared arrays", processor, declares_arrays, {}, [](RandomCase& drawn) {
        const Plan plan = plan_on_cpu(drawn.family, drawn.variant.name, drawn.parameters, drawn.inputs);
        if (plan.launches.size() > 300) return int64_t{0};  // one per token
        const Plan other = plan_on_cpu(drawn.family, drawn.variant.name, drawn.parameters, drawn.inputs);
        const int64_t hidden = run_with_hidden_arrays(plan, pool_of_one());
        CHECK(same_bits(run(other, pool_of_one()).outputs, *plan.outputs()));
        return hidden;
    });
}

}  // namespace
}  // namespace sawtooth
