// The measured limits of the machine: where they are kept, and when they are measured again.

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "app/engine/machine/devices.h"
#include "app/engine/machine/memory.h"
#include "app/engine/run/runner.h"
#include "app/engine/wire/ceilings_json.h"
#include "tests/engine/engine_events.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/little_memory.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

TEST_CASE("free memory is at most what the address space has room for", "[engine]") {
    const LittleMemory little;
    CHECK(free_memory_bytes() > 0);
    CHECK(free_memory_bytes() <= LittleMemory::bytes);
}

// The name of a file in the shared cache.
std::string kept_limits_of_two_threads() {
    for (const auto& entry : std::filesystem::directory_iterator(shared_cache())) {
        std::string name = entry.path().filename().string();
        // A process that could not read the name of its processor must not replace them.
        if (name.starts_with("ceilings-") && contains(name, find_cpu().name.substr(0, 3)) &&
            contains(name, "-2-"))
            return name;
    }
    FAIL("no limits in " << shared_cache());
    return "";
}

TEST_CASE("limits that a run beats are measured again, but not that of memory for arrays in the cache",
          "[engine]") {
    const TemporaryFolder folder;
    const Request request = scan_request();
    const auto usual = Runner(shared_cache()).run(request, {});
    REQUIRE(usual);
    const std::string limits = folder.file(kept_limits_of_two_threads());
    Ceilings wrong = *(*usual)->ceilings;
    wrong.copy_bytes_per_second = 1;
    put(limits, ceilings_json(wrong));
    const auto cached = Runner(folder.path()).run(request, {});
    REQUIRE(cached);
    CHECK((*cached)->ceilings->copy_bytes_per_second == 1);
    wrong.operations_per_second = 1;
    const LittleMemory little;
    put(limits, ceilings_json(wrong));
    const auto measured = Runner(folder.path()).run(request, {});
    REQUIRE(measured);
    const Ceilings& right = *(*measured)->ceilings;
    CHECK(right.operations_per_second > 1e6);
    CHECK(right.copy_bytes_per_second > 1e6);
    CHECK(right.launch_us <= wrong.launch_us);  // measuring again makes no limit worse
    CHECK_FALSE(right.driver.empty());
    const auto kept = parse_ceilings(content_of(limits));
    REQUIRE(kept);
    CHECK(kept->operations_per_second == right.operations_per_second);
}

TEST_CASE("limits are kept by processor; a pipe in their place is neither read nor written", "[engine]") {
    const TemporaryFolder folder;
    const Request request = scan_request();
    REQUIRE(Runner(shared_cache()).run(request, {}));
    const std::string limits = folder.file(kept_limits_of_two_threads());
    REQUIRE(::mkfifo(limits.c_str(), 0600) == 0);
    const LittleMemory little;
    const auto ran = Runner(folder.path()).run(request, {});
    REQUIRE(ran);
    CHECK((*ran)->ceilings->copy_bytes_per_second > 0);
    struct stat status {};
    REQUIRE(::lstat(limits.c_str(), &status) == 0);
    CHECK(S_ISFIFO(status.st_mode));
}

}  // namespace
}  // namespace sawtooth
