#include "app/engine/runner.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "app/engine/compare.h"
#include "app/engine/devices.h"
#include "app/engine/files.h"
#include "app/engine/json.h"
#include "app/engine/memory.h"
#include "app/engine/npz.h"
#include "profiling/ceilings.h"
#include "profiling/measure.h"

namespace sawtooth {
namespace {

// Which state of a file was read: another size or time means that it is read anew.
struct FileStamp {
    std::string path;
    int64_t size = -1, seconds = 0, nanoseconds = 0;
    bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& path) {
    struct stat status = {};
    if (path.empty() || stat(path.c_str(), &status) != 0) return {path};
    return {path, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

// What decides the inputs, and so the reference.
struct InputKey {
    std::string family;
    uint64_t seed = 0;
    FileStamp file;
    std::map<std::string, Value> parameters;  // those whose change renews inputs
    bool operator==(const InputKey&) const = default;
};

InputKey key_of(const Configuration& configuration, const Request& request) {
    InputKey key{configuration.family->name, request.seed, stamp_of(request.input), {}};
    for (const Parameter& row : configuration.family->parameters)
        if (row.renews == Renews::inputs) key.parameters[row.name] = configuration.parameters.at(row.name);
    return key;
}

// Stops when the outer token stops or when the time limit has passed.
class TimeLimit {
  public:
    TimeLimit(std::stop_token outer, std::optional<double> seconds)
        : forward_(std::move(outer), [this] { source_.request_stop(); }) {
        if (seconds)
            timer_ = std::jthread([this, limit = std::chrono::duration<double>(*seconds)](
                                      std::stop_token finished) {
                std::unique_lock lock(mutex_);
                if (wake_.wait_for(lock, finished, limit, [] { return false; }) || finished.stop_requested())
                    return;
                passed_ = true;
                source_.request_stop();
            });
    }
    std::stop_token token() const { return source_.get_token(); }
    bool passed() const { return passed_; }

  private:
    std::stop_source source_;
    std::atomic<bool> passed_ = false;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::stop_callback<std::function<void()>> forward_;
    std::jthread timer_;  // last: ends first
};

int sequence_axis_of(const Family& family, const std::string& output) {
    const ArraySpec* const spec = family.array(output);
    if (!spec || family.sequence_axis.empty()) return -1;
    const auto found = std::find(spec->dimensions.begin(), spec->dimensions.end(), family.sequence_axis);
    return found == spec->dimensions.end() ? -1 : static_cast<int>(found - spec->dimensions.begin());
}

std::vector<Metric> metrics_of(const VariantResult& variant, const Result& result) {
    if (!variant.time) return {};
    const double seconds = variant.time->median / 1e6;
    const double rate = result.work.bytes / seconds;
    std::vector<Metric> metrics = {
        {"rate", "rate", "GB/s", rate / 1e9},
        {"operations", "arithmetic", "GFLOP/s", result.work.operations / seconds / 1e9}};
    if (result.ceilings)
        metrics.push_back(
            {"of_copy", "of copy bandwidth", "%", 100 * rate / result.ceilings->copy_bytes_per_second});
    return metrics;
}

std::map<std::string, Value> computing(const Configuration& configuration) {
    std::map<std::string, Value> values;
    for (const Parameter& row : configuration.family->parameters)
        if (row.renews != Renews::figures) values[row.name] = configuration.parameters.at(row.name);
    return values;
}

// What an output of a variant is compared with; null where there is nothing of its shape.
const Array* reference_of(const Arrays& reference, const std::string& variant, const Array& output) {
    const Array* own = find(reference, variant + "/" + output.name);
    if (!own) own = find(reference, output.name);
    return own && own->shape == output.shape ? own : nullptr;
}

// Shares what it holds with the snapshots that were handed out, which never change.
std::shared_ptr<const Result> snapshot(const Result& result) {
    return std::make_shared<const Result>(result);
}

}  // namespace

struct Runner::Kept {
    FileStamp file;
    Arrays given;
    std::optional<InputKey> key;
    Arrays inputs, reference;

    // Of the outputs that depend on more parameters than the inputs do.
    struct KernelKey {
        std::map<std::string, Value> parameters;
        bool extras = false;
        bool operator==(const KernelKey&) const = default;
    };
    std::optional<KernelKey> kernel_key;
    Arrays kernel_reference;
};

Runner::Runner(std::string cache_directory)
    : cache_directory_(cache_directory.empty() ? sawtooth::cache_directory() : std::move(cache_directory)),
      kept_(std::make_shared<Kept>()) {}

cpu::Pool& Runner::pool(int threads) {
    const int wanted =
        threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    if (!pool_ || pool_->threads() != wanted) pool_ = std::make_unique<cpu::Pool>(wanted);
    return *pool_;
}

Ceilings Runner::ceilings(int threads, std::stop_token stop) {
    cpu::Pool& with = pool(threads);
    const Devices::Cpu processor = find_devices().cpu;
    const auto fits = [&](const Ceilings& known) {
        return known.threads == with.threads() && known.processor == processor.name;
    };
    if (ceilings_ && fits(*ceilings_)) return *ceilings_;
    const std::string path = cache_directory_ + "/ceilings-" + std::to_string(with.threads()) + ".json";
    if (const auto text = read_file(path, 1 << 16))
        if (const auto known = parse_ceilings(*text); known && fits(*known)) return *(ceilings_ = known);
    with.set_stop(stop);
    constexpr int64_t mebibyte = 1 << 20;
    const int64_t bytes = std::clamp(4 * processor.last_level_cache_bytes, 64 * mebibyte, 256 * mebibyte);
    auto measured = measure_ceilings(with, bytes, stop);
    if (!measured) return {};
    measured->processor = processor.name;
    measured->date = today();
    ceilings_ = measured;
    write_file(path,
               ceilings_json(*measured));  // a folder that cannot be written costs a measurement next time
    return *measured;
}

Outcome<std::shared_ptr<const Result>> Runner::run(const Request& request, std::stop_token stop,
                                                   const OnProgress& progress) {
    try {
        return run_guarded(request, std::move(stop), progress);
    } catch (const std::bad_alloc&) {
        return Error::failure("memory: the system gave none; make the shape smaller or name fewer variants");
    }
}

Outcome<Configuration> Runner::configured(const Request& request) {
    const FileStamp stamp = stamp_of(request.input);
    if (stamp != kept_->file || stamp.size < 0) {
        kept_->given.clear();
        kept_->file = {};
        if (!request.input.empty()) {
            auto arrays = read_npz(request.input);
            if (!arrays) return arrays.error();
            kept_->given = std::move(*arrays);
            kept_->file = stamp;
        }
    }
    return configure(request, kept_->given);
}

Outcome<std::shared_ptr<const Result>> Runner::run_guarded(const Request& request, std::stop_token outer,
                                                           const OnProgress& progress) {
    const auto say = [&](double fraction, std::string words,
                         std::shared_ptr<const Result> partial = nullptr) {
        if (progress) progress({fraction, std::move(words)}, std::move(partial));
    };
    const auto configuration = configured(request);
    if (!configuration) return configuration.error();
    const bool extras = stores_extras(*configuration, request.extras);
    if (const auto error =
            check_memory(needed_memory_bytes(*configuration, extras), request.memory_limit_bytes))
        return *error;
    const Family& family = *configuration->family;

    InputKey key = key_of(*configuration, request);
    if (kept_->key != key) {
        kept_->key.reset();
        kept_->kernel_key.reset();
        say(0, "inputs");
        auto inputs = make_inputs(*configuration, request.seed, outer);
        if (!inputs) return inputs.error();
        kept_->inputs = std::move(*inputs);
        say(0.05, "reference");
        auto reference = family.reference(configuration->parameters, kept_->inputs, outer);
        if (!reference) return reference.error();
        kept_->reference = std::move(*reference);
        kept_->key = std::move(key);
    }

    const Kept::KernelKey kernel_key{computing(*configuration), extras};
    if (family.kernel_reference && kept_->kernel_key != kernel_key) {
        kept_->kernel_key.reset();
        say(0.08, "reference at chunks");
        auto reference = family.kernel_reference(configuration->parameters, kept_->inputs, extras, outer);
        if (!reference) return reference.error();
        kept_->kernel_reference = std::move(*reference);
        kept_->kernel_key = kernel_key;
    }

    cpu::Pool& with = pool(request.threads);
    TimeLimit limit(outer, request.time_limit_seconds);
    with.set_stop(limit.token());
    const auto stopped = [&](const std::string& what) {
        if (!limit.passed()) return Error::cancelled();
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%g", *request.time_limit_seconds);
        return Error::failure("time limit: " + what + " had not finished after " + seconds +
                              " s; raise it or make the shape smaller");
    };

    Result result;
    result.request = request;
    result.parameters = configuration->parameters;
    result.device = cpu_words(with.threads());
    result.inputs = kept_->inputs;
    result.reference = kept_->reference;
    if (family.kernel_reference)
        result.reference.insert(result.reference.end(), kept_->kernel_reference.begin(),
                                kept_->kernel_reference.end());
    result.work = family.work(configuration->parameters);
    result.notes = configuration->notes;
    if (request.backend == BackendChoice::automatic)
        result.notes.push_back("backend auto: the CPU, as GPU kernels are not part of this build");
    if (request.profile == Profile::counters || request.profile == Profile::sampling)
        result.notes.push_back(
            "profile: counters and samples come from a GPU; times and launches are of the CPU");

    // First every variant once, so that outputs and errors are seen before times are.
    const Chip chip = cpu_chip();
    const bool has_extras = std::any_of(family.arrays.begin(), family.arrays.end(), [&](const ArraySpec& a) {
        return a.extra && a.is_used(configuration->parameters);
    });
    std::vector<Plan> plans(configuration->variants.size());
    const double steps = static_cast<double>(plans.size() * (1 + static_cast<size_t>(request.repeats)));
    for (size_t v = 0; v < plans.size(); ++v) {
        const Variant& variant = *configuration->variants[v];
        VariantResult row;
        row.name = variant.name;
        row.index = static_cast<int>(&variant - family.variants.data());
        const auto reason = variant.check ? variant.check(configuration->parameters, chip) : std::nullopt;
        if (reason) {
            row.refused = *reason;
            result.notes.push_back(variant.name + " is left out: " + *reason);
            result.variants.push_back(std::move(row));
            continue;
        }
        say(0.1 + 0.9 * static_cast<double>(v) / steps, variant.name);
        plans[v] = variant.plan_cpu({configuration->parameters, kept_->inputs, false, extras});
        if (!run_plan(plans[v], with, Cache::hot, row.launches)) return stopped(variant.name);
        row.memory_bytes = plans[v].memory_bytes;
        row.outputs = *plans[v].outputs();
        for (const Array& output : row.outputs)
            if (const Array* const wanted = reference_of(result.reference, variant.name, output))
                row.errors.push_back(compare(output, *wanted, sequence_axis_of(family, output.name)));
        if (extras && has_extras) {
            // Timed runs store no extras: another plan, whose memory a first run makes warm.
            plans[v] = variant.plan_cpu({configuration->parameters, kept_->inputs});
            if (!run_plan(plans[v], with, Cache::hot, row.launches)) return stopped(variant.name);
        }
        result.variants.push_back(std::move(row));
        if (limit.token().stop_requested()) return stopped(variant.name);
    }
    if (std::none_of(result.variants.begin(), result.variants.end(),
                     [](const auto& row) { return row.ran(); })) {
        std::string reasons;
        for (const auto& row : result.variants) reasons += "; " + row.name + ": " + row.refused;
        return Error::failure("no variant can run this" + reasons);
    }
    for (const std::string& name : request.variants)
        if (const VariantResult* const row = find(result, name); row && !row->ran())
            return Error::failure(name + " cannot run this: " + row->refused);
    say(0.2, "outputs", snapshot(result));

    result.ceilings = ceilings(request.threads, limit.token());
    with.set_stop(limit.token());
    if (limit.token().stop_requested()) return stopped("measuring the machine");
    const auto clock_before = processor_mhz();
    for (size_t v = 0; v < plans.size(); ++v) {
        VariantResult& row = result.variants[v];
        if (!row.ran()) continue;
        const auto before_repeat = [&](int repeat) {
            const double done =
                static_cast<double>(plans.size() + v * static_cast<size_t>(request.repeats)) + repeat;
            say(0.2 + 0.8 * done / steps, row.name + ", repeat " + std::to_string(repeat + 1) + " of " +
                                              std::to_string(request.repeats));
        };
        Measured measured = measure(plans[v], with, request.cache, request.repeats, before_repeat);
        if (measured.time.samples.empty()) return stopped(row.name);
        row.time = std::move(measured.time);
        row.launches = std::move(measured.launches);
        row.launch_count = measured.launch_count;
        if (row.launch_count > static_cast<int64_t>(row.launches.size()))
            result.notes.push_back(row.name + ": of " + std::to_string(row.launch_count) +
                                   " launches the first " + std::to_string(row.launches.size()) +
                                   " are kept");
        if (request.profile == Profile::none) row.launches.clear();
        row.metrics = metrics_of(row, result);
        plans[v] = {};
    }
    if (const auto clock_after = processor_mhz(); clock_before && clock_after) {
        if (std::fabs(*clock_after - *clock_before) > 0.05 * *clock_before) {
            char text[96];
            std::snprintf(text, sizeof text,
                          "the processor's clock moved from %.0f to %.0f MHz during the repeats",
                          *clock_before, *clock_after);
            result.notes.push_back(text);
        }
    }
    result.complete = true;
    return snapshot(result);
}

std::optional<Error> check_sweep(const Sweep& sweep) {
    const auto family = find_offered_family(sweep.base.family);
    if (!family) return family.error();
    if (sweep.axes.empty() || sweep.axes.size() > 2)
        return Error::usage(
            Refusal{"--over", std::to_string(sweep.axes.size()), "accepted are one or two axes"});
    if (sweep.axes.size() == 2 && sweep.axes[0].parameter == sweep.axes[1].parameter)
        return Error::usage(Refusal{"--over", sweep.axes[0].parameter, "two axes sweep two parameters"});
    for (const SweepAxis& axis : sweep.axes) {
        const Parameter* const row = (*family)->parameter(axis.parameter);
        if (!row) return parse_setting(**family, axis.parameter, "").error();
        if (row->type == Type::list)
            return Error::usage(Refusal{"--over", axis.parameter, "a list cannot be swept"});
        if (row->renews == Renews::figures)
            return Error::usage(
                Refusal{"--over", axis.parameter, "it changes figures alone, there is nothing to run"});
        if (axis.values.empty())
            return Error::usage(Refusal{"--over", axis.parameter, "accepted is " + row->accepted()});
        for (const Value& value : axis.values)
            if (const auto refusal = row->check(value)) return Error::usage(*refusal);
    }
    return {};
}

namespace {

std::vector<std::string> names_of(const SweepAxis& axis) {
    std::vector<std::string> names = axis.also;
    names.push_back(axis.parameter);
    return names;
}

}  // namespace

Outcome<SweepCell> Runner::sweep_cell(const Sweep& sweep, size_t index, std::stop_token stop) {
    SweepCell cell;
    cell.values = sweep.cell(index);
    Request request = sweep.base;
    request.extras = Extras::none;  // as it keeps no arrays
    for (size_t a = 0; a < sweep.axes.size(); ++a)
        for (const std::string& name : names_of(sweep.axes[a])) request.parameters.set(name, cell.values[a]);
    auto outcome = run(request, std::move(stop));
    if (!outcome) {
        if (outcome.error().kind == Error::Kind::cancelled) return outcome.error();
        cell.refused = outcome.error().text;
        return cell;
    }
    // A sweep keeps numbers, not arrays.
    auto result = std::make_shared<Result>(**outcome);
    result->inputs.clear();
    result->reference.clear();
    for (VariantResult& variant : result->variants) variant.outputs.clear();
    cell.result = std::move(result);
    return cell;
}

Outcome<SweepResult> Runner::sweep(const Sweep& sweep, std::stop_token stop, const OnCell& done) {
    if (auto error = check_sweep(sweep)) return *error;
    SweepResult result{sweep, {}, false};
    for (size_t index = 0; index < sweep.cells(); ++index) {
        auto cell = sweep_cell(sweep, index, stop);
        if (!cell) return cell.error();
        result.cells.push_back(std::move(*cell));
        if (done) done(result);
    }
    result.complete = true;
    return result;
}

}  // namespace sawtooth
