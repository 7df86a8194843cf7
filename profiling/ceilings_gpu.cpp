#include "profiling/ceilings_gpu.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "kernels/cuda/driver.h"

namespace sawtooth {
namespace {

constexpr int gpu_repeats = 7;
constexpr int chains = 12, launches_a_chain = 1000, launches_waited_for = 200;
constexpr int steps = 2000;  // steps of the compute kernels, which take a few milliseconds

const cuda::Source source = {"kernels/cuda/ceilings.cu", {}};
using Start = std::function<std::optional<Error>()>;

// Starts kernels on a device, one after another.
class Starter {
  public:
    explicit Starter(cuda::Device& device) : device_(device) {}

    std::optional<Error> operator()(const cuda::Kernel& kernel, int64_t blocks, int64_t threads,
                                    void** arguments, bool programmatic = false) {
        Queue queue;
        queue.stream = device_.stream();
        queue.programmatic = programmatic;
        cuda::launch(queue, kernel, {blocks, 1, 1}, {threads, 1, 1}, 0, arguments);
        if (!queue.error.empty()) return Error::failure(queue.error);
        return {};
    }

  private:
    cuda::Device& device_;
};

// The smallest time of several repeats, in microseconds: a ceiling is the best that the chip can do.
Outcome<double> least_us(GpuTimer& timer, const Start& start) {
    double least = 0;
    for (int repeat = 0; repeat <= gpu_repeats; ++repeat) {
        const auto time = timer.time_by_events(start);
        if (!time) return time.error();
        least = repeat == 0 ? *time : std::min(least, *time);
    }
    return least;
}

Outcome<double> median_us(GpuTimer& timer, const Start& start) {
    std::vector<double> samples;
    for (int chain = 0; chain <= chains; ++chain) {
        const auto time = timer.time_by_events(start);
        if (!time) return time.error();
        if (chain > 0) samples.push_back(*time);  // the first repeat only warms up
    }
    return statistics_of(std::move(samples)).median;
}

struct GraphCloser {
    void operator()(CUgraph_st* graph) const { cuda::driver_calls().cuGraphDestroy(graph); }
    void operator()(CUgraphExec_st* graph) const { cuda::driver_calls().cuGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<CUgraphExec_st, GraphCloser>;

// Captures the work that `start` puts into the stream as a graph.
Outcome<Graph> captured(cuda::Device& device, const Start& start) {
    CUstream stream = device.stream();
    if (const auto error = cuda::driver_problem(
            "cuStreamBeginCapture",
            cuda::driver_calls().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED)))
        return *error;
    const auto failed = start();
    CUgraph plain = nullptr;
    const auto ended =
        cuda::driver_problem("cuStreamEndCapture", cuda::driver_calls().cuStreamEndCapture(stream, &plain));
    const std::unique_ptr<CUgraph_st, GraphCloser> graph(plain);
    if (failed) return *failed;
    if (ended) return *ended;
    CUgraphExec ready = nullptr;
    if (const auto error = cuda::driver_problem(
            "cuGraphInstantiate", cuda::driver_calls().cuGraphInstantiate(&ready, graph.get(), 0)))
        return *error;
    return Graph(ready);
}

std::optional<Error> measure_memory(GpuTimer& timer, Ceilings& ceilings) {
    cuda::Device& device = timer.device();
    constexpr int64_t mebibyte = 1 << 20;
    const int64_t bytes =
        std::clamp(device.free_bytes() / 8 / mebibyte, int64_t{64}, int64_t{1024}) * mebibyte;
    const auto copy = copy_plan(device, bytes);
    if (!copy) return copy.error();
    const auto copy_us = least_us(timer, [&] { return timer.start(copy->launches[0]); });
    if (!copy_us) return copy_us.error();
    ceilings.copy_bytes_per_second = 2 * static_cast<double>(bytes) / *copy_us * 1e6;

    const auto kernel = device.kernel(source, "triad");
    if (!kernel) return kernel.error();
    const auto to = device.allocate(bytes);
    if (!to) return to.error();
    const void *left = copy->memory[0].get(), *right = copy->memory[1].get();
    void* sum = to->get();
    int64_t count = bytes / 16;
    void* arguments[] = {&left, &right, &sum, &count};
    Starter start(device);
    const auto triad_us =
        least_us(timer, [&] { return start(*kernel, (count + 255) / 256, 256, arguments); });
    if (!triad_us) return triad_us.error();
    ceilings.triad_bytes_per_second = 3 * static_cast<double>(bytes) / *triad_us * 1e6;
    return {};
}

std::optional<Error> measure_l2(GpuTimer& timer, Ceilings& ceilings) {
    cuda::Device& device = timer.device();
    constexpr int passes = 64;
    constexpr int64_t bytes_a_read = 16;
    const Chip& chip = device.chip();
    // A quarter: the L2 of some chips has two halves, and data of the far one may stand in both.
    int64_t count = chip.l2_bytes / 4 / bytes_a_read;
    if (count == 0) return {};
    const auto kernel = device.kernel(source, "read_l2");
    if (!kernel) return kernel.error();
    const int64_t bytes = count * bytes_a_read;
    const auto array = device.allocate(bytes);
    if (!array) return array.error();
    const auto never = device.allocate(sizeof(float));
    if (!never) return never.error();
    if (const auto error = cuda::driver_problem(
            "cuMemsetD8Async",
            cuda::driver_calls().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(array->get()), 0,
                                                 static_cast<size_t>(bytes), device.stream())))
        return error;
    void *from = array->get(), *to = never->get();
    int steps = passes;
    void* arguments[] = {&from, &count, &to, &steps};
    Starter start(device);
    const auto time =
        least_us(timer, [&] { return start(*kernel, 8 * int64_t{chip.multiprocessors}, 256, arguments); });
    if (!time) return time.error();
    ceilings.gpu->l2_read_bytes_per_second = static_cast<double>(bytes) * passes / *time * 1e6;
    return {};
}

// A kernel with arguments (never, steps) that only computes.
struct Computing {
    const char* entry;
    int64_t blocks;
    double operations_a_block;  // per step

    double operations_a_step() const { return operations_a_block * static_cast<double>(blocks); }
};

Computing multiplications(const Chip& chip) {
    return {"multiply_add", 8 * int64_t{chip.multiprocessors}, 256.0 * 256};
}
// The kernel of ceilings.cu that multiplies on tensor cores: two warpgroups with 16 products of [64, 16] x
// [16, 256], or 8 warps with 64 products of [16, 16] x [16, 8].
Computing products(const Chip& chip) {
    if (chip.architecture == "sm_90a")
        return {"products", int64_t{chip.multiprocessors}, 2.0 * 2 * 16 * 64 * 16 * 256};
    return {"products", 8 * int64_t{chip.multiprocessors}, 2.0 * 8 * 64 * 16 * 16 * 8};
}

Outcome<double> operations_per_second(GpuTimer& timer, const Computing& computing) {
    cuda::Device& device = timer.device();
    const auto kernel = device.kernel(source, computing.entry);
    if (!kernel) return kernel.error();
    const auto never = device.allocate(sizeof(float));
    if (!never) return never.error();
    void* to = never->get();
    int count = steps;
    void* arguments[] = {&to, &count};
    Starter start(device);
    const auto time = least_us(timer, [&] { return start(*kernel, computing.blocks, 256, arguments); });
    if (!time) return time.error();
    return computing.operations_a_step() * steps / *time * 1e6;
}

std::optional<Error> measure_arithmetic(GpuTimer& timer, Ceilings& ceilings) {
    const Chip& chip = timer.device().chip();
    const auto plain = operations_per_second(timer, multiplications(chip));
    if (!plain) return plain.error();
    ceilings.operations_per_second = *plain;
    const auto on_tensor_cores = operations_per_second(timer, products(chip));
    if (!on_tensor_cores) return on_tensor_cores.error();
    ceilings.gpu->bf16_operations_per_second = *on_tensor_cores;
    return {};
}

std::optional<Error> measure_launches(GpuTimer& timer, Ceilings& ceilings) {
    cuda::Device& device = timer.device();
    const auto empty = device.kernel(source, "empty");
    const auto programmatic = device.kernel(source, "empty_programmatic");
    if (!empty) return empty.error();
    if (!programmatic) return programmatic.error();
    Starter start(device);
    const auto chain = [&](const cuda::Kernel& kernel, bool overlapping) -> std::optional<Error> {
        for (int i = 0; i < launches_a_chain; ++i)
            if (auto error = start(kernel, 1, 32, nullptr, overlapping)) return error;
        return {};
    };
    const auto waited = median_us(timer, [&]() -> std::optional<Error> {
        for (int i = 0; i < launches_waited_for; ++i) {
            if (auto error = start(*empty, 1, 32, nullptr)) return error;
            if (auto error = device.wait()) return error;
        }
        return {};
    });
    if (!waited) return waited.error();
    ceilings.launch_us = *waited / launches_waited_for;
    const auto in_stream = median_us(timer, [&] { return chain(*empty, false); });
    if (!in_stream) return in_stream.error();
    ceilings.gpu->launch_stream_us = *in_stream / launches_a_chain;

    const auto in_graph = [&](const cuda::Kernel& kernel, bool overlapping) -> Outcome<double> {
        const auto graph = captured(device, [&] { return chain(kernel, overlapping); });
        if (!graph) return graph.error();
        const auto time = median_us(timer, [&] {
            return cuda::driver_problem("cuGraphLaunch",
                                        cuda::driver_calls().cuGraphLaunch(graph->get(), device.stream()));
        });
        if (!time) return time.error();
        return *time / launches_a_chain;
    };
    const auto plain = in_graph(*empty, false);
    if (!plain) return plain.error();
    ceilings.gpu->launch_graph_us = *plain;
    if (device.chip().compute_capability < 90) return {};  // older chips have no programmatic launches
    const auto overlapping = in_graph(*programmatic, true);
    if (!overlapping) return overlapping.error();
    ceilings.gpu->launch_programmatic_us = *overlapping;
    return {};
}

}  // namespace

Outcome<Plan> copy_plan(cuda::Device& device, int64_t bytes) {
    Plan plan;
    for (int i = 0; i < 2; ++i) {
        auto memory = device.allocate(bytes);
        if (!memory) return memory.error();
        plan.memory.push_back(*memory);
        if (auto error = device.fill(memory->get(), bytes, 0)) return *error;
        plan.memory_bytes += bytes;
    }
    if (auto error = device.wait()) return *error;
    auto info = std::make_shared<LaunchInfo>();
    info->name = "copy";
    info->meaning = "Copies from device memory to device memory.";
    info->work.bytes = 2 * static_cast<double>(bytes);
    const auto from = reinterpret_cast<CUdeviceptr>(plan.memory[0].get());
    const auto to = reinterpret_cast<CUdeviceptr>(plan.memory[1].get());
    plan.launches.push_back({std::move(info), [=](Queue& queue) {
                                 const CUresult result = cuda::driver_calls().cuMemcpyDtoDAsync(
                                     to, from, static_cast<size_t>(bytes), queue.stream);
                                 if (result != CUDA_SUCCESS && queue.error.empty())
                                     queue.error = cuda::driver_error("cuMemcpyDtoDAsync", result).text;
                             }});
    return plan;
}

Outcome<Plan> empty_launches_plan(cuda::Device& device, size_t count, Follow follow) {
    const auto kernel =
        device.kernel(source, follow == Follow::graph_programmatic ? "empty_programmatic" : "empty");
    if (!kernel) return kernel.error();
    Plan plan;
    plan.follow = follow;
    auto info = std::make_shared<LaunchInfo>();
    info->name = "empty launches";
    info->meaning = "Does nothing.";
    info->grid = {1, 1, 1};
    info->block = {32, 1, 1};
    const auto start = [kernel = *kernel, grid = info->grid, block = info->block](Queue& queue) {
        cuda::launch(queue, kernel, grid, block, 0, nullptr);
    };
    plan.launches.assign(count, {info, start});
    return plan;
}

Outcome<Plan> products_plan(cuda::Device& device, double operations) {
    const Computing computing = products(device.chip());
    const auto kernel = device.kernel(source, computing.entry);
    if (!kernel) return kernel.error();
    const auto never = device.allocate(sizeof(float));
    if (!never) return never.error();
    Plan plan;
    plan.memory.push_back(*never);
    plan.memory_bytes = sizeof(float);
    const double steps = std::max(1.0, std::round(operations / computing.operations_a_step()));
    auto info = std::make_shared<LaunchInfo>();
    info->name = "products";
    info->meaning = "Multiplies matrices in bf16 and reads no memory.";
    info->grid = {computing.blocks, 1, 1};
    info->block = {256, 1, 1};
    info->work.operations = steps * computing.operations_a_step();
    const auto start = [kernel = *kernel, grid = info->grid, block = info->block, to = never->get(),
                        count = static_cast<int>(steps)](Queue& queue) mutable {
        void* arguments[] = {&to, &count};
        cuda::launch(queue, kernel, grid, block, 0, arguments);
    };
    plan.launches.push_back({std::move(info), start});
    return plan;
}

Outcome<Ceilings> measure_gpu_ceilings(GpuTimer& timer, std::stop_token stop) {
    timer.stop_recording();
    timer.set_stop(std::move(stop));
    Ceilings ceilings;
    ceilings.gpu.emplace();
    for (const auto measure : {measure_memory, measure_l2, measure_arithmetic, measure_launches})
        if (const auto error = measure(timer, ceilings)) return *error;
    return ceilings;
}

}  // namespace sawtooth
