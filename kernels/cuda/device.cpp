#include "kernels/cuda/device.h"

#include <optional>

#include "kernels/cuda/chips.h"
#include "kernels/cuda/context.h"

namespace sawtooth::cuda {

struct Device::State {
    Chip chip;
    Compiler compiler;
    std::function<void(const std::string&)> compiling;
    SharedContext context;  // null for a theoretical device
    Stream stream;
    std::map<std::string, Module> modules;  // by the key of the source
    std::string warnings;

    const DriverCalls& calls() const {
        context->make_current();
        return context->calls();
    }
};

namespace {

CUdeviceptr address_of(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

std::optional<Error> error_of(const char* call, CUresult result) {
    if (result == CUDA_SUCCESS) return {};
    return driver_error(call, result);
}

}  // namespace

Device::Device(std::unique_ptr<State> state) : state_(std::move(state)) {}
Device::~Device() = default;

Outcome<std::unique_ptr<Device>> Device::open(int index, CompilerOptions options) {
    auto context = Context::of_device(index);
    if (!context) return context.error();
    auto stream = make_stream(*context);
    if (!stream) return stream.error();
    const Chip chip = chip_of_device((*context)->calls(), (*context)->device());
    if (chip.compute_capability < 80)
        return Error::failure(
            chip.name + " is " + chip.architecture +
            ": the kernels need compute capability 8.0 (Ampere) or newer; use a newer GPU or "
            "the CPU");
    return std::unique_ptr<Device>(new Device(std::make_unique<State>(
        State{chip, Compiler(std::move(options)), {}, *context, std::move(*stream), {}, {}})));
}

Outcome<std::unique_ptr<Device>> Device::theory(std::string_view architecture, CompilerOptions options) {
    const auto chip = chip_of(architecture);
    if (!chip) return chip.error();
    return std::unique_ptr<Device>(new Device(
        std::make_unique<State>(State{*chip, Compiler(std::move(options)), {}, nullptr, {}, {}, {}})));
}

const Chip& Device::chip() const { return state_->chip; }
bool Device::present() const { return state_->context != nullptr; }

CUstream_st* Device::stream() const {
    if (present()) state_->context->make_current();
    return state_->stream.get();
}

void Device::set_jitter(int jitter) { state_->compiler.set_jitter(jitter); }

void Device::on_compiling(std::function<void(const std::string& file)> compiling) {
    state_->compiling = std::move(compiling);
}

const std::string& Device::warnings() const { return state_->warnings; }

Outcome<Kernel> Device::kernel(const Source& source, const std::string& entry, const std::stop_token& stop) {
    const auto compiled = state_->compiler.compile(source, chip().architecture, state_->compiling, stop);
    if (!compiled) return compiled.error();
    const auto resources = compiled->kernels.find(entry);
    if (resources == compiled->kernels.end())
        return Error::failure(source.file + " has no kernel " + entry + " (extern \"C\" __global__)");
    if (!compiled->log.empty() && state_->warnings.find(compiled->log) == std::string::npos)
        state_->warnings += compiled->log + "\n";
    Kernel kernel{entry, resources->second, nullptr};
    if (!present()) return kernel;

    Module& module = state_->modules[compiled->key];
    if (!module) {
        auto loaded = load_module(state_->context, compiled->cubin);
        if (!loaded) return Error::failure(source.file + ": " + loaded.error().text);
        module = std::move(*loaded);
    }
    if (auto error = error_of("cuModuleGetFunction", state_->calls().cuModuleGetFunction(
                                                         &kernel.function, module.get(), entry.c_str())))
        return *error;
    // Beyond 48 KiB a kernel must opt in to dynamic shared memory. That costs nothing until a launch uses it.
    const int64_t most = chip().shared_bytes_per_block - kernel.resources.shared_bytes;
    if (auto error = error_of(
            "cuFuncSetAttribute",
            state_->calls().cuFuncSetAttribute(
                kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(most))))
        return *error;
    return kernel;
}

void Device::compile_together(const std::vector<PlannedKernel>& kernels, const std::stop_token& stop,
                              size_t threads) {
    std::vector<Source> sources;
    for (const PlannedKernel& kernel : kernels) {
        Source source{kernel.file, {}};
        for (const auto& [name, value] : kernel.defines) source.defines.emplace_back(name, value);
        sources.push_back(std::move(source));
    }
    state_->compiler.compile_together(sources, chip().architecture, threads, state_->compiling, stop);
}

Outcome<Memory> Device::allocate(int64_t bytes) {
    if (!present()) return Error::failure(chip().name + " is not present: cannot allocate memory on it");
    return cuda::allocate(state_->context, bytes);
}

std::optional<Error> Device::upload(void* to, const void* from, int64_t bytes) {
    if (bytes == 0) return {};
    if (auto error = error_of(
            "cuMemcpyHtoDAsync",
            state_->calls().cuMemcpyHtoDAsync(address_of(to), from, static_cast<size_t>(bytes), stream())))
        return error;
    return wait();
}

std::optional<Error> Device::download(void* to, const void* from, int64_t bytes) {
    if (bytes == 0) return {};
    if (auto error = error_of(
            "cuMemcpyDtoHAsync",
            state_->calls().cuMemcpyDtoHAsync(to, address_of(from), static_cast<size_t>(bytes), stream())))
        return error;
    return wait();
}

std::optional<Error> Device::fill(void* at, int64_t bytes, unsigned char byte) {
    if (bytes == 0) return {};
    return error_of("cuMemsetD8Async", state_->calls().cuMemsetD8Async(address_of(at), byte,
                                                                       static_cast<size_t>(bytes), stream()));
}

std::optional<Error> Device::wait() {
    return error_of("cuStreamSynchronize", state_->calls().cuStreamSynchronize(stream()));
}

int64_t Device::free_bytes() const {
    size_t free = 0, total = 0;
    if (!present() || state_->calls().cuMemGetInfo(&free, &total) != CUDA_SUCCESS) return chip().memory_bytes;
    return static_cast<int64_t>(free);
}

}  // namespace sawtooth::cuda
