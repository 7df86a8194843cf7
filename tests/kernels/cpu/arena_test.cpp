// The memory of plans: the arrays of equal plans have equal places.

#include "kernels/cpu/arena.h"

#include <algorithm>
#include <set>

#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

uintptr_t place_in_huge_page(const void* memory) {
    return reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(huge_page_bytes);
}

TEST_CASE("arrays of an arena do not overlap, and no two begin at the same place of their pages", "[cpu]") {
    cpu::Arena arena;
    std::set<uintptr_t> places;
    std::byte* end = nullptr;
    for (int i = 0; i < 7; ++i) {
        const auto memory = arena.take(4096);
        const auto place = reinterpret_cast<uintptr_t>(memory.get());
        CHECK(place % 64 == 0);
        CHECK(places.insert(place % 4096).second);
        CHECK(memory.get() >= end);
        end = memory.get() + 4096;
        std::fill(memory.get(), end, std::byte{1});
    }
}

TEST_CASE("an array may be larger than a block of an arena, and outlives it", "[cpu]") {
    std::shared_ptr<std::byte[]> small, large;
    const int64_t bytes = 3 * huge_page_bytes + 1;
    {
        cpu::Arena arena;
        small = arena.take(1);
        large = arena.take(bytes);
    }
    small[0] = std::byte{1};
    std::fill(large.get(), large.get() + bytes, std::byte{2});
    CHECK(small[0] == std::byte{1});
}

TEST_CASE("equal arenas have equal places in huge pages", "[cpu]") {
    cpu::Arena one, other;
    for (const int64_t bytes : {int64_t{1}, int64_t{100000}, int64_t{0}, 2 * huge_page_bytes, int64_t{64}})
        CHECK(place_in_huge_page(one.take(bytes).get()) == place_in_huge_page(other.take(bytes).get()));
}

}  // namespace
}  // namespace sawtooth
