#include "kernels/cuda/chips.h"
#include "kernels/cuda/occupancy.h"
#include "tests/kit/catch.h"

namespace {

using namespace sawtooth;

Occupancy on(const char* architecture, int64_t threads, int registers, int64_t shared_bytes = 0) {
    return cuda::theoretical_occupancy(*cuda::chip_of(architecture), threads, {registers, shared_bytes, 0});
}

TEST_CASE("chips are found by their architecture with or without its letter", "[cuda]") {
    CHECK(cuda::chip_of("sm_90")->architecture == "sm_90a");
    CHECK(cuda::chip_of("sm_90a")->name == "NVIDIA H100 80GB HBM3");
    CHECK(cuda::chip_of("sm_80")->multiprocessors == 108);
    CHECK(cuda::chip_of("sm_89")->shared_bytes_per_block == 99 * 1024);
    CHECK(cuda::chip_of("sm_120")->threads_per_multiprocessor == 1536);
    CHECK(cuda::known_chips().size() == 6);
}

TEST_CASE("an unknown architecture is a usage error that lists the known ones", "[cuda]") {
    for (const char* wrong : {"", "sm_75", "sm_9", "sm_80b", "90", "sm_900"}) {
        const auto chip = cuda::chip_of(wrong);
        INFO(wrong);
        REQUIRE_FALSE(chip);
        CHECK(chip.error().kind == Error::Kind::usage);
        CHECK(chip.error().text.find("sm_80, sm_86, sm_89, sm_90a, sm_100, sm_120") != std::string::npos);
    }
}

TEST_CASE("theoretical occupancy equals values computed by hand", "[cuda]") {
    // 65536 / (32 registers * 128 threads) = 16 blocks of 4 warps: all 64 warps.
    CHECK(*on("sm_90a", 128, 32).theoretical == 1.0);
    CHECK(on("sm_90a", 128, 32).limiter == "warps");
    CHECK(on("sm_90a", 128, 32).blocks == 16);
    // 64 registers are 2048 per warp: 8 blocks of 4 warps, 32 of 64 warps.
    CHECK(*on("sm_90a", 128, 64).theoretical == 0.5);
    CHECK(on("sm_90a", 128, 64).limiter == "registers");
    // 33 registers are allocated as 40 (256 per warp at a time): 65536 / 1280 = 51 warps, 12 for each quarter
    // of the SM, so 12 blocks of 4.
    CHECK(*on("sm_90a", 128, 33).theoretical == 0.75);
    // 64 KiB and the reserved 1 KiB go 3 times into 228 KiB: 3 blocks of 8 warps.
    CHECK(*on("sm_90a", 256, 32, 64 * 1024).theoretical == 24.0 / 64);
    CHECK(on("sm_90a", 256, 32, 64 * 1024).limiter == "shared memory");
    // The same goes once into 100 KiB: 8 of 48 warps.
    CHECK(*on("sm_89", 256, 32, 64 * 1024).theoretical == 8.0 / 48);
    // One warp per block: at most 32 blocks on sm_90, 16 on sm_86.
    CHECK(*on("sm_90a", 32, 16).theoretical == 0.5);
    CHECK(on("sm_90a", 32, 16).limiter == "blocks");
    CHECK(*on("sm_86", 32, 16).theoretical == 16.0 / 48);
    // 768 threads go twice into 2048.
    CHECK(*on("sm_80", 768, 32).theoretical == 0.75);
    CHECK(on("sm_80", 768, 32).limiter == "warps");
    // A block of 33 threads holds two warps.
    CHECK(*on("sm_80", 33, 16).theoretical == 1.0);
}

TEST_CASE("a block that does not fit on an SM has an occupancy of 0", "[cuda]") {
    CHECK(*on("sm_89", 256, 32, 100 * 1024).theoretical == 0);
    CHECK(on("sm_89", 256, 32, 100 * 1024).limiter == "does not fit");
    CHECK(on("sm_89", 256, 32, 100 * 1024).blocks == 0);
    CHECK(*on("sm_90a", 256, 32, 227 * 1024).theoretical == 8.0 / 64);
    CHECK(*on("sm_90a", 1024, 128).theoretical == 0);
    CHECK(*on("sm_90a", 2048, 16).theoretical == 0);
}

TEST_CASE("barriers limit occupancy from Hopper on", "[cuda]") {
    // 48 registers and 29.5 KiB leave room for 5 blocks, 64 barriers for 4 blocks with 16.
    const auto with = [](const char* architecture, int barriers) {
        return cuda::theoretical_occupancy(*cuda::chip_of(architecture), 256, {48, 30208, 0, barriers});
    };
    CHECK(with("sm_90a", 1).blocks == 5);
    CHECK(with("sm_90a", 16).blocks == 4);
    CHECK(with("sm_90a", 16).limiter == "barriers");
    CHECK(*with("sm_90a", 16).theoretical == 0.5);
    CHECK(with("sm_90a", 0).blocks == 5);  // not known
}

TEST_CASE("an unknown chip has no theoretical occupancy", "[cuda]") {
    Chip future = *cuda::chip_of("sm_100");
    future.compute_capability = 990;
    CHECK_FALSE(cuda::theoretical_occupancy(future, 128, {32, 0, 0}).theoretical);
}

}  // namespace
