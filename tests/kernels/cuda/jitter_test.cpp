// Jitter, which shows missing barriers: it reaches every kernel, and costs nothing when it is off.

#include <regex>

#include "kernels/families.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kernels/families/family_coverage.h"
#include "tests/kit/workshop.h"

namespace sawtooth {
namespace {

TEST_CASE("jitter gives another cubin for every seed", "[cuda][jitter]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write_own_kernels();
    workshop.write("kernels/one.cu",
                   "#include \"kernels/cuda/device/sync.cuh\"\n"
                   "extern \"C\" __global__ void one(float* x) {\n"
                   "    __shared__ float room[64];\n"
                   "    room[threadIdx.x] = x[threadIdx.x];\n"
                   "    sawtooth::device::sync_block();\n"
                   "    x[threadIdx.x] = room[63 - threadIdx.x];\n"
                   "}\n");
    const auto compiled = [&](int jitter) {
        cuda::CompilerOptions options = workshop.options();
        options.jitter = jitter;
        auto outcome = cuda::Compiler(options).compile({"kernels/one.cu", {}}, "sm_90a");
        if (!outcome) FAIL(outcome.error().text);
        return std::move(*outcome);
    };
    const cuda::Compiled none = compiled(0), first = compiled(1), second = compiled(2);
    CHECK(none.key != first.key);
    CHECK(first.key != second.key);
    CHECK(none.cubin != first.cubin);
    CHECK(first.cubin != second.cubin);
    CHECK(compiled(1).key == first.key);
    // If jitter is off, it leaves nothing in the code.
    workshop.write("kernels/one.cu",
                   "extern \"C\" __global__ void one(float* x) {\n"
                   "    __shared__ float room[64];\n"
                   "    room[threadIdx.x] = x[threadIdx.x];\n"
                   "    __syncthreads();\n"
                   "    x[threadIdx.x] = room[63 - threadIdx.x];\n"
                   "}\n");
    CHECK(compiled(0).key != none.key);
    CHECK(compiled(0).cubin == none.cubin);
}

TEST_CASE("a device takes another jitter for the kernels from then on, and keeps those that it has",
          "[cuda][jitter]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write_own_kernels();
    workshop.write("kernels/one.cu", "extern \"C\" __global__ void one(float* x) { x[threadIdx.x] = 1; }\n");
    auto device = cuda::Device::theory("sm_90a", workshop.options());
    REQUIRE(device);
    int compiled = 0;
    (*device)->on_compiling([&](const std::string&) { ++compiled; });
    const auto take = [&](int jitter) {
        (*device)->set_jitter(jitter);
        REQUIRE((*device)->kernel({"kernels/one.cu", {}}, "one"));
        return compiled;
    };
    CHECK(take(0) == 1);
    CHECK(take(0) == 1);
    CHECK(take(1) == 2);
    CHECK(take(0) == 2);
    CHECK(take(1) == 2);
}

TEST_CASE("kernels reach barriers, waits and atomic operations through the kit alone", "[cuda][jitter]") {
    const std::regex direct(R"(__sync(threads|warp)|__threadfence|__nanosleep|\batomic[A-Z]\w*\()"
                            R"(|cp\.async|mbarrier|barrier\.|\bfence\.|griddepcontrol|wgmma\.)");
    int looked_at = 0;
    for (const cuda::EmbeddedSource& source : cuda::embedded_sources()) {
        // The kernels that measure the limits of a chip do not use the kit.
        if (source.name.starts_with("kernels/cuda/")) continue;
        const std::string code = std::regex_replace(std::string(source.text), std::regex("//[^\n]*"), "");
        std::smatch match;
        INFO(source.name);
        if (std::regex_search(code, match, direct)) FAIL_CHECK(match.str());
        ++looked_at;
    }
    CHECK(looked_at > 50);
}

TEST_CASE("the kernels of every family compile with jitter, without a warning", "[compile]") {
    if (without_compiler()) return;
    cuda::CompilerOptions with_jitter = options();
    with_jitter.jitter = 1;
    with_jitter.quick = true;
    const auto device = cuda::Device::theory("sm_90a", with_jitter);
    REQUIRE(device);
    for (const Family* family : all_families()) {
        if (!family->has_kernels()) continue;
        INFO(family->name);
        const auto settings = covering_settings(*family, **device, Coverage::kernels);
        CHECK_FALSE(settings.empty());
        for (const CoveringSetting& setting : settings)
            plan_on_device(**device, *family, setting.variant->name, setting.parameters,
                           input_shapes(*family, setting.parameters, true));
    }
    CHECK((*device)->warnings() == "");
}

}  // namespace
}  // namespace sawtooth
