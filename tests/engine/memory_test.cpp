// The memory that a run may use.

#include "app/engine/machine/memory.h"

#include <fstream>

#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

TEST_CASE("a container may use its limit and the memory of cached files", "[engine]") {
    const TemporaryFolder folder;
    const auto free = [&] { return free_bytes_of_group(folder.path()); };
    const auto write = [&](const char* name, const char* text) { std::ofstream(folder.file(name)) << text; };
    CHECK_FALSE(free());
    write("memory.max", "max\n");
    write("memory.current", "900\n");
    CHECK_FALSE(free());
    write("memory.max", "1000\n");
    CHECK(*free() == 100);
    write("memory.stat", "anon 200\ninactive_anon 50\ninactive_file 600\nactive_file 100\n");
    CHECK(*free() == 700);
    write("memory.current", "1100\n");
    write("memory.stat", "inactive_file 0\n");
    CHECK(*free() == 0);
}

}  // namespace
}  // namespace sawtooth
