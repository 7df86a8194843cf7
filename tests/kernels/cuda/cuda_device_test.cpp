// Tests that need a GPU.

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/cpu/half.h"
#include "kernels/cuda/chips.h"
#include "kernels/cuda/plan_builder.h"
#include "kernels/cuda/storage.h"
#include "tests/engine/plan_family.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

// The GPU; prints a note and returns null if there is none.
std::unique_ptr<cuda::Device> open_gpu(const cuda::CompilerOptions& options = {}) {
    if (without_compiler()) return nullptr;
    auto device = cuda::Device::open(0, options);
    if (device) return std::move(*device);
    say_skipped(device.error().text);
    return nullptr;
}

Array floats(std::vector<float> values) {
    Array array = Array::uninitialised("x", Dtype::f32, {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), array.as<float>().begin());
    return array;
}

TEST_CASE("the limits in chips.cpp are those of the driver", "[cuda][gpu]") {
    const auto driver = cuda::find_driver();
    if (!driver) return say_skipped(driver.error().text);
    for (const Chip& gpu : driver->gpus) {
        INFO(gpu.name << " " << gpu.architecture);
        CHECK(gpu.memory_bytes > 0);
        const auto known = cuda::chip_of(gpu.architecture);
        if (!known) continue;
        CHECK(gpu.compute_capability == known->compute_capability);
        CHECK(gpu.shared_bytes_per_block == known->shared_bytes_per_block);
        CHECK(gpu.threads_per_multiprocessor == known->threads_per_multiprocessor);
        CHECK(gpu.blocks_per_multiprocessor == known->blocks_per_multiprocessor);
        CHECK(gpu.registers_per_multiprocessor == known->registers_per_multiprocessor);
        CHECK(gpu.shared_bytes_per_multiprocessor == known->shared_bytes_per_multiprocessor);
    }
}

TEST_CASE("a missing GPU is a usage error", "[cuda][gpu]") {
    if (!open_gpu()) return;
    const auto device = cuda::Device::open(1000, {});
    REQUIRE_FALSE(device);
    CHECK(device.error().kind == Error::Kind::usage);
    CHECK(device.error().text.starts_with("device = 1000: "));
}

TEST_CASE("uploaded arrays come back unchanged", "[cuda][gpu]") {
    const auto device = open_gpu();
    if (!device) return;
    std::vector<float> there(1 << 20), back(there.size());
    for (size_t i = 0; i < there.size(); ++i) there[i] = static_cast<float>(i);
    const auto bytes = static_cast<int64_t>(there.size() * sizeof(float));
    const auto memory = device->allocate(bytes);
    REQUIRE(memory);
    CHECK_FALSE(device->upload(memory->get(), there.data(), bytes));
    CHECK_FALSE(device->download(back.data(), memory->get(), bytes));
    CHECK(back == there);
    CHECK_FALSE(device->fill(memory->get(), bytes, 0));
    CHECK_FALSE(device->download(back.data(), memory->get(), bytes));
    CHECK(back == std::vector<float>(there.size()));
    CHECK(device->free_bytes() > 0);
    const auto empty = device->allocate(0);
    REQUIRE(empty);
    CHECK_FALSE(device->upload(empty->get(), nullptr, 0));
}

TEST_CASE("an allocation beyond the GPU's memory is refused with both sizes", "[cuda][gpu]") {
    const auto device = open_gpu();
    if (!device) return;
    const auto memory = device->allocate(int64_t{1} << 46);
    REQUIRE_FALSE(memory);
    INFO(memory.error().text);
    CHECK(memory.error().text.starts_with(
        "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory; 64 TiB requested, "));
    CHECK(memory.error().text.ends_with(" free"));
    CHECK_FALSE(cuda::is_fatal(memory.error()));
    CHECK(device->allocate(1024));
}

// Allocates most of the free memory twice: the second time fails unless the first was freed.
TEST_CASE("memory is freed with its last owner, also after its device", "[cuda][gpu]") {
    cuda::Memory memory;
    int64_t most = 0;
    {
        const auto device = open_gpu();
        if (!device) return;
        most = device->free_bytes() / 5 * 3;
        auto allocated = device->allocate(most);
        REQUIRE(allocated);
        CHECK_FALSE(device->allocate(most));
        memory = *std::move(allocated);
    }
    memory.reset();
    const auto again = open_gpu();
    REQUIRE(again);
    CHECK(again->allocate(most));
}

// Stores and reads back on the device and compares with the CPU's rounding; NaN only has to stay NaN.
void check_rounding(cuda::Device& device, Storage storage, const Array& values) {
    const int64_t count = values.count();
    std::vector<uint16_t> wanted(static_cast<size_t>(count)), stored(wanted.size());
    cpu::narrow(storage, values.as<float>().data(), wanted.data(), count);
    std::vector<float> wide(wanted.size());
    cpu::widen(storage, wanted.data(), wide.data(), count);

    const auto memory = device.allocate(2 * count);
    REQUIRE(memory);
    if (const auto error = cuda::store(device, storage, values, memory->get())) FAIL(error->text);
    if (const auto error = device.download(stored.data(), memory->get(), 2 * count)) FAIL(error->text);
    Array fetched = Array::uninitialised("y", Dtype::f32, {count});
    if (const auto error = cuda::fetch(device, storage, memory->get(), fetched)) FAIL(error->text);

    int64_t wrong = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
        const float got = fetched.as<float>()[i];
        const bool same =
            std::isnan(wide[i])
                ? std::isnan(got)
                : stored[i] == wanted[i] && std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(wide[i]);
        wrong += !same;
    }
    CHECK(wrong == 0);
}

TEST_CASE("the GPU narrows and widens as the CPU does", "[cuda][gpu]") {
    const auto device = open_gpu();
    if (!device) return;
    for (Storage storage : {Storage::f16, Storage::bf16}) {
        // All 16-bit patterns, then random 32-bit patterns: numbers of every size, infinities, NaNs.
        std::vector<uint16_t> patterns(65536);
        for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
        std::vector<float> all(patterns.size());
        cpu::widen(storage, patterns.data(), all.data(), 65536);
        check_rounding(*device, storage, floats(all));
        std::mt19937 random(1);
        std::vector<float> some(1 << 20);
        for (float& value : some) value = std::bit_cast<float>(static_cast<uint32_t>(random()));
        check_rounding(*device, storage, floats(some));
        // Numbers halfway between two neighbours, where ties go to even.
        std::vector<float> ties;
        for (size_t i = 0; i + 1 < 0x7B00; ++i) ties.push_back(0.5f * (all[i] + all[i + 1]));
        check_rounding(*device, storage, floats(ties));
    }
}

TEST_CASE("an array larger than the conversion buffer is converted completely", "[cuda][gpu]") {
    const auto device = open_gpu();
    if (!device) return;
    std::vector<float> values((16 << 20) + 12345);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 2048);
    check_rounding(*device, Storage::f16, floats(std::move(values)));
}

const char* const add =
    "struct Arguments { const float* x; float* y; long count; float shift; };\n"
    "extern \"C\" __global__ void add(Arguments given) {\n"
    "    extern __shared__ float tile[];\n"
    "    const long i = blockIdx.x * 256l + threadIdx.x;\n"
    "    tile[LAST - threadIdx.x] = i < given.count ? given.x[i] : 0;\n"
    "    __syncthreads();\n"
    "    if (i < given.count) given.y[i] = tile[LAST - threadIdx.x] + given.shift;\n"
    "}\n";

struct Arguments {
    const float* x;
    float* y;
    int64_t count;
    float shift;
};

// y = x + 1 over 1000 elements with `bytes` of dynamic shared memory.
Outcome<Plan> plan_of(cuda::Device& device, const Arrays& inputs, int64_t shared_bytes, Storage storage) {
    const Parameters parameters;
    const PlanRequest request{.family = plan_family(),
                              .variant = plan_family().variants[0],
                              .parameters = parameters,
                              .inputs = inputs,
                              .device = &device,
                              .stores_extras = true};
    cuda::PlanBuilder builder(request);
    const float* const x = builder.input("x").as<float>();
    auto* const y = builder.output("y").as<float>();
    builder.output("more", storage).address;
    builder.launch({"add", "Adds."}, {{4, "4"}},
                   {"kernels/add.cu", "add", {{"LAST", shared_bytes / 4 - 1}}, 256, shared_bytes},
                   Arguments{x, y, 1000, 1.0f});
    return builder.finish();
}

TEST_CASE("a plan computes on the GPU, with as much shared memory as a block can have", "[cuda][gpu]") {
    Workshop workshop;
    workshop.write("kernels/add.cu", add);
    workshop.write_own_kernels();
    const auto device = open_gpu(workshop.options());
    if (!device) return;
    std::vector<float> values(1000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const Arrays inputs = {floats(values)};
    for (int64_t shared_bytes : {int64_t{1024}, int64_t{49152}, device->chip().shared_bytes_per_block}) {
        for (bool programmatic : {false, true}) {
            const auto plan = plan_of(*device, inputs, shared_bytes, Storage::bf16);
            if (!plan) FAIL(plan.error().text);
            CHECK_FALSE(plan->dry);
            Queue queue;
            queue.stream = device->stream();
            queue.programmatic = programmatic;
            for (const Launch& launch : plan->launches) launch.start(queue);
            CHECK(queue.error.empty());
            const auto outputs = plan->outputs();
            if (!outputs) FAIL(outputs.error().text);
            REQUIRE(outputs->size() == 2);
            for (size_t i = 0; i < values.size(); ++i) REQUIRE((*outputs)[0].as<float>()[i] == values[i] + 1);
        }
    }
}

TEST_CASE("an error of a refused launch has its grid and block", "[cuda][gpu]") {
    Workshop workshop;
    workshop.write("kernels/add.cu", add);
    const auto device = open_gpu(workshop.options());
    if (!device) return;
    const auto kernel = device->kernel({"kernels/add.cu", {{"LAST", "255"}}}, "add");
    REQUIRE(kernel);
    Queue queue;
    queue.stream = device->stream();
    Arguments given = {};
    void* arguments[] = {&given};
    cuda::launch(queue, *kernel, {1, 1, 1}, {2048, 1, 1}, 1024, arguments);
    INFO(queue.error);
    CHECK(queue.error.starts_with("add: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE: "));
    CHECK(contains(queue.error, "(grid 1 x 1 x 1, block 2048 x 1 x 1, 1024 bytes of dynamic shared memory)"));
    CHECK_FALSE(cuda::is_fatal(Error::failure(queue.error)));
    const std::string first = queue.error;
    cuda::launch(queue, *kernel, {1, 1, 1}, {256, 1, 1}, 1024, arguments);
    CHECK(queue.error == first);
    CHECK_FALSE(device->wait());
}

// Checks what a kernel that breaks its context does to the process.
void check_fatal(const char* text, const char* name) {
    Workshop workshop;
    workshop.write("kernels/bad.cu", text);
    const auto device = open_gpu(workshop.options());
    REQUIRE(device);
    const auto kernel = device->kernel({"kernels/bad.cu", {}}, "bad");
    REQUIRE(kernel);
    Queue queue;
    queue.stream = device->stream();
    void* nowhere = reinterpret_cast<void*>(64);
    void* arguments[] = {&nowhere};
    cuda::launch(queue, *kernel, {1, 1, 1}, {32, 1, 1}, 0, arguments);
    CHECK(queue.error.empty());
    const auto error = device->wait();
    REQUIRE(error);
    INFO(error->text);
    CHECK(contains(error->text, name));
    CHECK(cuda::is_fatal(*error));
    const auto after = device->allocate(1024);
    REQUIRE_FALSE(after);
    CHECK(cuda::is_fatal(after.error()));
}

TEST_CASE("child: a trap is fatal", "[.child]") {
    check_fatal("extern \"C\" __global__ void bad(float* x) { __trap(); }\n", "CUDA_ERROR_");
}

TEST_CASE("child: an illegal access is fatal", "[.child]") {
    check_fatal("extern \"C\" __global__ void bad(float* x) { x[threadIdx.x] = 1; }\n",
                "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_CASE("a kernel that breaks its context affects only its process", "[cuda][gpu]") {
    if (!open_gpu()) return;
    for (const char* test : {"child: a trap is fatal", "child: an illegal access is fatal"}) {
        const std::string output = ChildProcess("", test).output();
        INFO(output);
        CHECK(output.ends_with("exit 0"));
    }
    CHECK(open_gpu()->allocate(1024));
}

}  // namespace
