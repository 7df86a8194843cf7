#include "kernels/cuda/occupancy.h"
#include "kernels/cuda/plan_builder.h"
#include "tests/engine/plan_family.h"
#include "tests/kit/catch.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

const char* const kernels =
    "struct PlanArguments { const float* x; float* y; long count; int shift; };\n"
    "extern \"C\" __global__ void __launch_bounds__(THREADS) add(PlanArguments given) {\n"
    "    extern __shared__ float dynamic[];\n"
    "    __shared__ float tile[256];\n"
    "    tile[threadIdx.x] = given.x[threadIdx.x];\n"
    "    if (threadIdx.x < SHARED_BYTES / 4) dynamic[threadIdx.x] = 0;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x < given.count) given.y[threadIdx.x] = tile[255 - threadIdx.x] + given.shift;\n"
    "}\n";

struct PlanArguments {
    const float* x;
    float* y;
    int64_t count;
    int shift;
};

// A plan of one launch over an input of [100, 10] f32.
struct Built {
    Workshop workshop;
    std::unique_ptr<cuda::Device> device;
    Parameters parameters;
    Arrays inputs;
    int compilations = 0;

    explicit Built(const char* architecture = "sm_90a") {
        workshop.write("kernels/add.cu", kernels);
        device = std::move(*cuda::Device::theory(architecture, workshop.options()));
        device->on_compiling([this](const std::string&) { ++compilations; });
        inputs.push_back({"x", Dtype::f32, {100, 10}, nullptr});
    }
    PlanRequest request(bool dry) const {
        return {plan_family(), plan_family().variants[0], parameters, inputs, dry, device.get()};
    }
    Outcome<Plan> plan(bool dry, Storage storage, Extent grid = {4, 1, 1}, int64_t threads = 256,
                       int64_t shared_bytes = 512) {
        const PlanRequest requested = request(dry);
        cuda::PlanBuilder builder(requested);
        const auto* const x = static_cast<const float*>(builder.input("x", storage).address);
        auto* const y = static_cast<float*>(builder.output("y", storage).address);
        builder.take<double>(7);
        builder.take_zeroed<uint32_t>(3);
        builder.launch({"add", "Adds."}, {{grid.x, "4"}, {grid.y}, {grid.z}},
                       {"kernels/add.cu", "add", {}, threads, shared_bytes}, PlanArguments{x, y, 5, 3});
        return builder.finish();
    }
};

TEST_CASE("storage has the size of its dtype", "[cuda]") {
    CHECK(storage_named("f32") == Storage::f32);
    CHECK(bytes_of(storage_named("f16"), Dtype::f32) == 2);
    CHECK(bytes_of(storage_named("bf16")) == 2);
    CHECK(bytes_of(Storage::f32, Dtype::complex64) == 8);
    CHECK(bytes_of(Storage::f32, Dtype::int32) == 4);
}

TEST_CASE("a dry plan counts memory and compiles nothing", "[cuda]") {
    Built built;
    const auto plan = built.plan(true, Storage::f32);
    REQUIRE(plan);
    CHECK(plan->dry);
    CHECK(plan->memory_bytes == 4000 + 4000 + 56 + 12);
    REQUIRE(plan->launches.size() == 1);
    CHECK_FALSE(plan->launches[0].info->resources);
    CHECK(built.compilations == 0);
    CHECK(built.plan(true, Storage::bf16)->memory_bytes == 2000 + 2000 + 56 + 12);
}

TEST_CASE("a plan without a GPU counts memory and has the resources of its launches", "[cuda]") {
    if (without_compiler()) return;
    Built built;
    const auto plan = built.plan(false, Storage::f16);
    if (!plan) FAIL(plan.error().text);
    CHECK(plan->dry);
    CHECK(plan->memory_bytes == 2000 + 2000 + 56 + 12);
    REQUIRE(plan->launches.size() == 1);
    const LaunchInfo& info = *plan->launches[0].info;
    CHECK(info.grid.x == 4);
    CHECK(info.block.x == 256);
    CHECK(info.grid_formula == "4");
    REQUIRE(info.resources);
    CHECK(info.resources->registers > 0);
    CHECK(info.resources->shared_bytes == 1024 + 512);
    CHECK(info.resources->spill_bytes == 0);
    CHECK(*cuda::theoretical_occupancy(built.device->chip(), info.block.x, *info.resources).theoretical ==
          1.0);
    CHECK(built.compilations == 1);
    CHECK(built.plan(false, Storage::f16));
    CHECK(built.compilations == 1);

    Queue queue;
    plan->launches[0].start(queue);
    CHECK_FALSE(queue.error.empty());
}

TEST_CASE("an edited kernel is recompiled by the same device", "[cuda]") {
    if (without_compiler()) return;
    Built built;
    CHECK(built.plan(false, Storage::f32));
    built.workshop.write("kernels/add.cu", std::string(kernels) + "// edited\n");
    CHECK(built.plan(false, Storage::f32));
    CHECK(built.compilations == 2);
}

TEST_CASE("a launch that a device would refuse is an error of the plan", "[cuda]") {
    Built built("sm_89");
    const auto error_of = [&](Extent grid, int64_t threads, int64_t shared_bytes) {
        const auto plan = built.plan(true, Storage::f32, grid, threads, shared_bytes);
        REQUIRE_FALSE(plan);
        return plan.error().text;
    };
    const int64_t most = 2147483647;
    CHECK(built.plan(true, Storage::f32, {most, 65535, 65535}, 1024, 99 * 1024));
    CHECK(
        error_of({most + 1, 1, 1}, 32, 0) ==
        "add: a grid of 2147483648 x 1 x 1 thread blocks is out of range (1 x 1 x 1 to 2147483647 x 65535 x "
        "65535); choose another shape or tile size");
    CHECK(contains(error_of({1, 65536, 1}, 32, 0), "a grid of 1 x 65536 x 1 thread blocks"));
    CHECK(contains(error_of({0, 1, 1}, 32, 0), "a grid of 0 x 1 x 1"));
    CHECK(error_of({1, 1, 1}, 1056, 0) ==
          "add: 1056 threads per block is out of range (1 to 1024); choose a smaller tile");
    CHECK(contains(error_of({1, 1, 1}, 0, 0), "0 threads per block"));
    CHECK(
        error_of({1, 1, 1}, 32, 100 * 1024) ==
        "add needs 100 KiB of shared memory per block; NVIDIA GeForce RTX 4090 has 99 KiB; choose a smaller "
        "tile");
}

TEST_CASE("launches are planned for as many multiprocessors as a request says, and never for more",
          "[cuda]") {
    if (without_compiler()) return;
    Built built;
    PlanRequest request = built.request(true);
    const auto planned_for = [&](int multiprocessors) {
        request.multiprocessors = multiprocessors;
        return cuda::PlanBuilder(request).chip().multiprocessors;
    };
    const int all = built.device->chip().multiprocessors;
    CHECK(planned_for(0) == all);
    CHECK(planned_for(1) == 1);
    CHECK(planned_for(all + 1) == all);
}

TEST_CASE("a plan returns its first failure", "[cuda]") {
    if (without_compiler()) return;
    Built built;
    const PlanRequest request = built.request(false);
    cuda::PlanBuilder builder(request);
    builder.launch({"subtract", "Subtracts."}, {}, {"kernels/add.cu", "subtract", {}, 32}, PlanArguments{});
    builder.launch({"none", "Is not there."}, {}, {"kernels/none.cu", "none", {}, 32}, PlanArguments{});
    const auto plan = builder.finish();
    REQUIRE_FALSE(plan);
    CHECK(plan.error().text == "kernels/add.cu has no kernel subtract (extern \"C\" __global__)");
}

TEST_CASE("fatal errors are distinguished from others", "[cuda]") {
    CHECK(
        cuda::is_fatal(Error::failure("cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access")));
    CHECK(cuda::is_fatal(
        Error::failure("cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure")));
    CHECK_FALSE(cuda::is_fatal(Error::failure("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory")));
    CHECK_FALSE(cuda::is_fatal(Error::failure("cuLaunchKernel: CUDA_ERROR_INVALID_VALUE: invalid argument")));
    CHECK_FALSE(cuda::is_fatal(Error::failure("kernels/scan/lookback.cu(2): error: no")));
}

}  // namespace
