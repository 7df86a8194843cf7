#include "app/engine/run/runner.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "app/engine/files/file_stamp.h"
#include "app/engine/files/files.h"
#include "app/engine/files/npz.h"
#include "app/engine/guarded.h"
#include "app/engine/machine/devices.h"
#include "app/engine/machine/memory.h"
#include "app/engine/run/planned_kernels.h"
#include "app/engine/run/single_run.h"
#include "app/engine/run/stopwatch.h"
#include "app/engine/run/sweep_axes.h"
#include "app/engine/run/theory.h"
#include "app/engine/wire/ceilings_json.h"
#include "app/engine/wire/checked.h"
#include "kernels/core/ceilings.h"
#include "kernels/core/in_parallel.h"
#include "profiling/ceilings.h"
#include "profiling/ceilings_gpu.h"
#include "profiling/clocks.h"

namespace sawtooth {

// Everything that determines the inputs, and therefore the reference.
struct InputKey {
    std::string family;
    uint64_t seed = 0;
    Values values = Values::usual;
    bool optional = false;
    FileStamp file;
    std::map<std::string, Value> parameters;  // those that renew inputs, with their effective values
    bool operator==(const InputKey&) const = default;
};

namespace {

InputKey key_of(const Configuration& configuration, const Request& request, const FileStamp& file) {
    const Family& family = *configuration.family;
    const Parameters acting = family.acting(configuration.parameters, configuration.backend);
    InputKey key{family.name, request.seed, request.values, request.optional, file, {}};
    for (const Parameter& row : family.parameters)
        if (row.renews == Renews::inputs) key.parameters[row.name] = acting.at(row.name);
    return key;
}

void say_excused(const OnProgress& progress, TimeLimit& limit, double fraction, std::string words) {
    limit.excuse(true);
    if (progress) progress({fraction, std::move(words), true}, nullptr);
}

// The name and release of the operating system: "Linux 6.1.0".
std::string system_words() {
    utsname system{};
    return uname(&system) == 0 ? std::string(system.sysname) + " " + system.release : "";
}

// Returns whether the memory or the arithmetic of a variant is faster than the measured limits allow. Arrays
// that fit into the cache may be faster than memory.
bool beats_limits(const Result& result, int64_t cache_bytes) {
    constexpr double most = 1.05;
    if (!result.ceilings) return false;
    const Ceilings& limits = *result.ceilings;
    const double peak =
        std::max(limits.operations_per_second, limits.gpu ? limits.gpu->bf16_operations_per_second : 0);
    return std::any_of(result.variants.begin(), result.variants.end(), [&](const VariantResult& variant) {
        if (!variant.time || variant.time->median <= 0) return false;
        const double seconds = variant.time->median / 1e6;
        return (variant.memory_bytes > cache_bytes &&
                variant.work.bytes > most * seconds * limits.copy_bytes_per_second) ||
               variant.work.operations > most * seconds * peak;
    });
}

// The name of a device, such as "NVIDIA H100 80GB HBM3", as part of a file name.
std::string file_word(const std::string& name) {
    std::string word;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain)
            word += c;
        else if (!word.empty() && word.back() != '-')
            word += '-';
    }
    return word;
}

// A note on members of an input file that are not used; "" if there are none. Outputs that an earlier run
// wrote are expected and not mentioned.
std::string skipped_words(const Family& family, const std::string& file,
                          const std::vector<std::string>& skipped) {
    std::vector<std::string> strange;
    for (const std::string& member : skipped) {
        const std::string folder = member.substr(0, member.find('/'));
        if (folder != "reference" && !family.variant(folder)) strange.push_back(member);
    }
    if (strange.empty()) return "";
    const std::string others = strange.size() > 1 ? fmt::format(" and {} more", strange.size() - 1) : "";
    return fmt::format("{}: {}{} not used: inputs have no / in their names", file, strange.front(),
                       others.empty() ? " is" : others + " are");
}

// Everything that determines the outputs: the effective values of parameters that affect more than figures.
std::map<std::string, Value> computing(const Configuration& configuration) {
    const Family& family = *configuration.family;
    const Parameters acting = family.acting(configuration.parameters, configuration.backend);
    std::map<std::string, Value> values;
    for (const Parameter& row : family.parameters)
        if (row.renews != Renews::figures) values[row.name] = acting.at(row.name);
    return values;
}

}  // namespace

struct Runner::Kept {
    FileStamp file;
    Arrays given;
    std::vector<std::string> skipped, notes;  // those of the file
    std::optional<InputKey> key;
    Arrays inputs, reference;

    // The key of outputs that depend on more parameters than the inputs do.
    struct KernelKey {
        std::map<std::string, Value> parameters;
        bool with_extras = false;
        bool operator==(const KernelKey&) const = default;
    };
    std::optional<KernelKey> kernel_key;
    Arrays kernel_reference;
    Definitions definitions;
};

Runner::Runner(std::string cache_directory, Counts counts)
    : cache_directory_(cache_directory.empty() ? sawtooth::cache_directory() : std::move(cache_directory)),
      counts_(counts),
      gpus_(cache_directory_),
      kept_(std::make_shared<Kept>()) {}

Runner::~Runner() {
    if (deaf_) gpus_.leave_open();
}

cpu::Pool& Runner::pool(int threads) {
    const int wanted = threads > 0 ? threads : core_count();
    if (!pool_ || pool_->threads() != wanted) pool_ = std::make_unique<cpu::Pool>(wanted);
    return *pool_;
}

Outcome<Machine> Runner::machine(const Request& request, const Family& family) {
    Machine machine;
    if (request.backend != BackendChoice::cpu) {
        auto problem = cuda_form_problem(family);
        auto timer = problem ? Outcome<GpuTimer*>(*problem)
                             : gpus_.open(request.device, request.kernels, request.jitter);
        if (timer) {
            machine.timer = *timer;
            machine.chip = machine.device()->chip();
            machine.words = machine.chip.name + ", " + machine.chip.architecture;
            return machine;
        }
        if (timer.error().kind == Error::Kind::usage) return timer.error();
        if (request.backend == BackendChoice::cuda)
            return Error::failure("backend cuda: " + timer.error().text);
        machine.notes.push_back("backend auto: using the CPU, because " + timer.error().text);
    }
    machine.pool = &pool(request.threads);
    machine.chip = cpu_chip();
    machine.words = cpu_words(machine.pool->threads());
    return machine;
}

// The cached ceilings, if they belong to this processor.
std::optional<Ceilings> Runner::kept_ceilings(const std::string& path, const std::string& processor,
                                              int threads) {
    const auto fits = [&](const Ceilings& known) {
        return known.threads == threads && known.processor == processor;
    };
    if (ceilings_ && fits(*ceilings_)) return ceilings_;
    if (const auto text = read_file(path, 1 << 16))
        if (const auto known = parse_ceilings(*text); known && fits(*known)) return ceilings_ = known;
    return {};
}

// If the folder is not writable, the next run measures again.
Ceilings Runner::keep_ceilings(const std::string& path, const Ceilings& measured) {
    ceilings_ = measured;
    std::error_code absent;
    const auto status = std::filesystem::symlink_status(path, absent);
    const bool writable = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    // A pipe would wait for a reader, and a link may lead to a file of somebody else.
    if (writable) write_file(path, ceilings_json(measured));
    return measured;
}

Outcome<Ceilings> Runner::ceilings(const Machine& machine, std::stop_token stop, bool anew) {
    return machine.timer ? gpu_ceilings(*machine.timer, std::move(stop), anew)
                         : cpu_ceilings(*machine.pool, std::move(stop), anew);
}

Outcome<Ceilings> Runner::cpu_ceilings(cpu::Pool& pool, std::stop_token stop, bool anew) {
    const Devices::Cpu processor = find_cpu();
    constexpr int64_t mebibyte = 1 << 20;
    const std::string path =
        fmt::format("{}/ceilings-{}-{}-{}MiB.json", cache_directory_, file_word(processor.name),
                    pool.threads(), processor.last_level_cache_bytes / mebibyte);
    const auto kept = kept_ceilings(path, processor.name, pool.threads());
    if (kept && !anew) return *kept;
    pool.set_stop(stop);
    // Each array alone is larger than all last-level caches.
    const int64_t bytes = std::clamp(processor.last_level_cache_bytes + processor.last_level_cache_bytes / 4,
                                     64 * mebibyte, std::max(64 * mebibyte, free_memory_bytes() / 16));
    auto measured = measure_ceilings(pool, bytes, stop);
    if (!measured) return Error::cancelled();
    measured->processor = processor.name;
    measured->date = today();
    measured->driver = system_words();
    measured->clock_mhz = processor_mhz().value_or(0);
    return keep_ceilings(path, kept ? best_of(*kept, *measured) : *measured);
}

Outcome<Ceilings> Runner::gpu_ceilings(GpuTimer& timer, std::stop_token stop, bool anew) {
    const std::string& name = timer.device().chip().name;
    const std::string path = cache_directory_ + "/ceilings-" + file_word(name) + ".json";
    const auto kept = kept_ceilings(path, name, 0);
    if (kept && !anew) return *kept;
    auto measured = measure_gpu_ceilings(timer, std::move(stop));
    if (!measured) return measured.error();
    measured->processor = name;
    measured->date = today();
    if (const auto driver = cuda::find_driver()) measured->driver = "CUDA " + driver->version;
    if (auto clocks = GpuClocks::of(timer.device())) {
        clocks->read_before();
        if (const auto now = clocks->read_after()) measured->clock_mhz = now->after_mhz;
    }
    return keep_ceilings(path, kept ? best_of(*kept, *measured) : *measured);
}

Outcome<std::shared_ptr<const Result>> Runner::run(const Request& request, std::stop_token stop,
                                                   const OnProgress& progress) {
    return run_guarded(request, std::move(stop), progress, false);
}

Outcome<std::shared_ptr<const Result>> Runner::run_guarded(const Request& request, std::stop_token stop,
                                                           const OnProgress& progress, bool is_cell) {
    return guarded([&]() -> Outcome<std::shared_ptr<const Result>> {
        TimeLimit limit(stop, request.time_limit_seconds, counts_, deaf_);
        auto outcome = run_within(request, limit, progress, is_cell);
        if (!outcome && outcome.error().kind == Error::Kind::cancelled)
            return limit.reason(outcome.error(), "computing inputs and reference");
        return outcome;
    });
}

// Reads the arrays of the Request's file unless they are cached.
std::optional<Error> Runner::read_input(const Request& request, const Family& family, std::stop_token stop) {
    const FileStamp stamp = stamp_of(request.input);
    if (stamp == kept_->file && stamp.size >= 0) return {};
    kept_->given.clear();
    kept_->skipped.clear();
    kept_->notes.clear();
    kept_->file = {};
    if (request.input.empty()) return {};
    auto file = sawtooth::read_input(family, request, std::move(stop));
    if (!file) return file.error();
    kept_->given = std::move(file->arrays);
    kept_->skipped = std::move(file->skipped);
    kept_->notes = std::move(file->notes);
    kept_->file = stamp;
    return {};
}

// Computes inputs and reference unless they are cached.
std::optional<Error> Runner::renew_inputs(const Request& request, const Configuration& configuration,
                                          TimeLimit& limit, const OnProgress& progress, Stopwatch& clock) {
    // With the stamp of the file that was read, as it may have been replaced since.
    InputKey key = key_of(configuration, request, kept_->file);
    if (kept_->key == key) return {};
    kept_->key.reset();
    kept_->kernel_key.reset();
    kept_->definitions = {};
    say_excused(progress, limit, 0, "inputs");
    auto inputs = make_inputs(configuration, request, limit.token());
    if (!inputs) return inputs.error();
    kept_->inputs = std::move(*inputs);
    clock.done("inputs");
    say_excused(progress, limit, 0.05, "reference");
    auto reference = configuration.family->reference(configuration.parameters, kept_->inputs, limit.token());
    if (!reference) return reference.error();
    kept_->reference = std::move(*reference);
    kept_->key = std::move(key);
    return {};
}

// Computes the reference of outputs that depend on more than the inputs, unless it is cached.
std::optional<Error> Runner::renew_kernel_reference(const Configuration& configuration, bool with_extras,
                                                    TimeLimit& limit, const OnProgress& progress) {
    Kept::KernelKey key{computing(configuration), with_extras};
    if (kept_->kernel_key == key) return {};
    kept_->kernel_key.reset();
    kept_->kernel_reference.clear();
    if (configuration.family->kernel_reference) {
        say_excused(progress, limit, 0.08, "reference");
        auto reference = configuration.family->kernel_reference(configuration.parameters, kept_->inputs,
                                                                with_extras, limit.token());
        if (!reference) return reference.error();
        kept_->kernel_reference = std::move(*reference);
    }
    kept_->kernel_key = std::move(key);
    return {};
}

Outcome<std::shared_ptr<const Result>> Runner::run_within(const Request& request, TimeLimit& limit,
                                                          const OnProgress& progress, bool is_cell) {
    const std::stop_token stop = limit.token();
    Stopwatch clock;
    if (auto error = check_numbers(request)) return *error;
    const auto family = find_offered_family(request.family);
    if (!family) return family.error();
    if (auto error = read_input(request, **family, stop)) return *error;
    auto machine = this->machine(request, **family);
    const bool on_gpu =
        machine ? machine->backend() == Backend::cuda : request.backend == BackendChoice::cuda;
    auto configuration = configure(request, kept_->given, on_gpu ? Backend::cuda : Backend::cpu);
    if (!configuration) return configuration.error();
    if (std::string words = skipped_words(**family, request.input, kept_->skipped); !words.empty())
        configuration->notes.push_back(std::move(words));
    configuration->notes.insert(configuration->notes.end(), kept_->notes.begin(), kept_->notes.end());
    if (!machine) return machine.error();

    const bool with_extras = stores_extras(*configuration, request.extras);
    const MemoryNeed need = needed_memory(*configuration, *machine, with_extras);
    if (const auto error = check_memory(need, *machine, request.memory_limit_bytes)) return *error;
    clock.done("request checked");
    if (const auto error = renew_inputs(request, *configuration, limit, progress, clock)) return *error;
    if (const auto error = renew_kernel_reference(*configuration, with_extras, limit, progress))
        return *error;
    clock.done("reference");
    Prepared prepared{request,          *configuration,     *machine,     kept_->inputs,
                      kept_->reference, kept_->definitions, clock.hops(), with_extras};
    prepared.reference.insert(prepared.reference.end(), kept_->kernel_reference.begin(),
                              kept_->kernel_reference.end());
    kept_->definitions.renew(*configuration, machine->backend());
    prepared.keeps_plans = fit_together(need, *machine, request.memory_limit_bytes);
    prepared.is_cell = is_cell;
    auto outcome = run_prepared(prepared, limit, progress);
    const bool abandoned = on_gpu && machine->timer->abandoned();
    broken_ = broken_ || abandoned || (!outcome && cuda::is_fatal(outcome.error()));
    return outcome;
}

Outcome<std::shared_ptr<const Result>> Runner::run_prepared(const Prepared& prepared, TimeLimit& limit,
                                                            const OnProgress& progress) {
    const Request& request = prepared.request;
    const Machine& machine = prepared.machine;
    SingleRun run(prepared, limit, progress);
    if (auto error = run.compute_outputs()) return *error;
    run.show();

    if (auto error = run.prepare_timing()) return *error;
    if (!request.arch.empty()) {
        add_theory_for(request, limit, progress, run.result());
        if (limit.token().stop_requested())
            return run.stopped_or(Error::cancelled(), "compiling for " + request.arch);
    }
    run.say("limits of " + machine.chip.name, 0.2, true);
    auto limits = ceilings(machine, limit.token());
    if (limits)
        run.result().ceilings = std::move(*limits);
    else if (limit.token().stop_requested() || cuda::is_fatal(limits.error()))
        return run.stopped_or(limits.error(), "measuring the machine");
    else
        run.result().notes.push_back("could not measure the limits of the machine: " + limits.error().text);
    machine.set_stop(limit.token());
    if (auto error = run.measure_variants()) return *error;
    const int64_t cache_bytes = machine.device() ? machine.chip.l2_bytes : find_cpu().last_level_cache_bytes;
    if (beats_limits(run.result(), cache_bytes) && !std::exchange(measured_anew_, true)) {
        run.say("limits of " + machine.chip.name, 1, true);
        if (auto anew = ceilings(machine, limit.token(), true)) run.result().ceilings = std::move(*anew);
        machine.set_stop(limit.token());
    }
    run.result().timed = true;
    run.show();
    if (auto error = run.judge_outputs()) return *error;
    run.result().complete = true;
    return std::make_shared<const Result>(std::move(run.result()));
}

// Compiles for `request.arch` in addition to the run; automatic values are those of CUDA.
void Runner::add_theory_for(const Request& request, TimeLimit& limit, const OnProgress& progress,
                            Result& result) {
    const auto note = [&](const Error& error) {
        result.notes.push_back("could not compile for " + request.arch + ": " + error.text);
    };
    Request wanted = request;
    const Family& family = **find_offered_family(request.family);
    if (const auto problem = cuda_form_problem(family)) return note(*problem);
    std::erase_if(wanted.variants,
                  [&](const std::string& name) { return !family.variant(name)->runs_on(Backend::cuda); });
    if (wanted.variants.empty() && !request.variants.empty())
        return;  // no named variant has a CUDA implementation
    const auto configuration = configure(wanted, kept_->given, Backend::cuda);
    if (!configuration) return note(configuration.error());
    const auto device = gpus_.theory(request.arch, request.kernels);
    if (!device) return note(device.error());
    (*device)->on_compiling([&](const std::string& file) {
        say_excused(progress, limit, 0.2,
                    "compiling " + file + " for " + request.arch + " (first time only)");
    });
    // These are the resources on the present chip.
    for (VariantResult& variant : result.variants) variant.compiled.clear();
    add_theory(*configuration, kept_->inputs, **device, limit.token(), result);
    (*device)->on_compiling({});
}

void Runner::compile_cells(const Sweep& sweep, size_t first, const std::stop_token& stop,
                           const OnProgress& progress) {
    constexpr size_t together = 32;
    if (sweep.base.backend == BackendChoice::cpu) return;
    CompiledCells& done = compiled_cells_;
    if (first >= done.first && first < done.end && done.sweep == sweep) return;
    const auto family = find_offered_family(sweep.base.family);
    if (!family || read_input(sweep.base, **family, stop)) return;
    const auto machine = this->machine(sweep.base, **family);
    if (!machine || !machine->device()) return;
    cuda::Device& device = *machine->device();
    done = {sweep, first, std::min(first + together, sweep.cells())};
    std::vector<PlannedKernel> kernels;
    for (size_t cell = done.first; cell < done.end; ++cell) {
        const auto configuration = configure(sweep.request(cell), kept_->given, Backend::cuda);
        if (!configuration) continue;
        const Arrays inputs = input_shapes(**family, configuration->parameters, sweep.base.optional);
        for (PlannedKernel& kernel : planned_kernels(*configuration, inputs, false, device, stop))
            if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
                kernels.push_back(std::move(kernel));
    }
    device.on_compiling([&](const std::string& files) {
        if (progress) progress({0, "compiling " + files + " (first time only)", true}, nullptr);
    });
    device.compile_together(kernels, stop);
    device.on_compiling({});
}

Outcome<SweepCell> Runner::sweep_cell(const Sweep& sweep, size_t index, std::stop_token stop,
                                      const OnProgress& progress) {
    SweepCell cell;
    cell.values = sweep.cell(index);
    Request request = sweep.request(index);
    request.extras = Extras::none;  // sweeps keep no arrays
    auto outcome = guarded([&] {
        compile_cells(sweep, index, stop, progress);
        return run_guarded(request, std::move(stop), progress, true);
    });
    if (!outcome) {
        if (outcome.error().kind == Error::Kind::cancelled) return outcome.error();
        cell.refused = outcome.error().text;
        return cell;
    }
    // A sweep keeps numbers, not arrays.
    auto result = std::make_shared<Result>(**outcome);
    result->inputs.clear();
    result->reference.clear();
    for (VariantResult& variant : result->variants) {
        variant.outputs.clear();
        // No figure of a sweep by the user shows them, and they are most of the bytes of a cell.
        if (sweep.id.empty())
            for (OutputError& error : variant.errors) error.by_position.clear();
    }
    cell.result = std::move(result);
    return cell;
}

}  // namespace sawtooth
