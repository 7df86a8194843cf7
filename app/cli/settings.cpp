#include "app/cli/settings.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/cli/worker_list.h"
#include "app/engine/files/files.h"
#include "app/engine/files/npz.h"
#include "app/engine/machine/devices.h"
#include "app/engine/recordings/recordings.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/sweep_axes.h"
#include "app/engine/tables/triton_configs.h"
#include "kernels/core/nearest.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth::cli {
namespace {

// Parses options into variables and keeps the first error, so that `settle` reads like a table.
class OptionReader {
  public:
    explicit OptionReader(const Arguments& arguments) : arguments_(arguments) {}

    const std::optional<Error>& error() const { return error_; }
    void fail(Error error) {
        if (!error_) error_ = std::move(error);
    }
    void refuse(const std::string& option, const std::string& why) {
        fail(Error::usage(Refusal{option, arguments_.value(option), why}));
    }

    template <class Integer>
    void integer(const char* option, Integer least, Integer most, Integer& to) {
        if (!arguments_.has(option)) return;
        const std::string text = arguments_.value(option);
        Integer number{};
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (problem == std::errc{} && end == text.data() + text.size() && number >= least && number <= most)
            to = number;
        else
            refuse(option, fmt::format("expected an integer from {} to {}", least, most));
    }

    std::optional<double> real(const char* option, double least, double most, const char* expected) {
        if (!arguments_.has(option)) return {};
        const std::string text = arguments_.value(option);
        double number = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (problem == std::errc{} && end == text.data() + text.size() && number >= least && number <= most)
            return number;
        refuse(option, expected);
        return {};
    }

    template <class T>
    void word(const char* option, const std::vector<std::pair<const char*, T>>& words, T& to) {
        if (!arguments_.has(option)) return;
        Names names;
        for (const auto& [name, value] : words) {
            if (arguments_.value(option) == name) {
                to = value;
                return;
            }
            names.emplace_back(name);
        }
        refuse(option, not_one_of(arguments_.value(option), names));
    }

  private:
    const Arguments& arguments_;
    std::optional<Error> error_;
};

// Parses "4096" or "512MiB".
std::optional<int64_t> parse_bytes(std::string_view text) {
    int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || number <= 0) return {};
    const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
    constexpr std::pair<std::string_view, int> units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    for (const auto& [name, shift] : units)
        if (unit == name && number <= (INT64_MAX >> shift)) return number << shift;
    return {};
}

void read_memory_limit(const Arguments& arguments, OptionReader& reader, Request& request) {
    if (!arguments.has("--memory-limit")) return;
    request.memory_limit_bytes = parse_bytes(arguments.value("--memory-limit"));
    if (!request.memory_limit_bytes)
        reader.refuse("--memory-limit", "expected a number of bytes, like 4096 or 512MiB");
}

void settle_backend(const Arguments& arguments, OptionReader& reader, Settings& settings) {
    const Request& request = settings.request;
    const bool is_for_window = arguments.command == Command::window || arguments.command == Command::open;
    if (request.backend != BackendChoice::cpu || is_for_window) return;
    if (request.device != 0)
        reader.fail(Error::usage(Refusal{"--device", std::to_string(request.device),
                                         "the CPU has device 0 only; for a GPU add --backend cuda"}));
    if (request.profile == Profile::counters || request.profile == Profile::sampling)
        settings.notes.push_back(
            "--profile counters and --profile sampling need a GPU; this run records the timeline");
}

void settle_profile_of_bench(const Arguments& arguments, Settings& settings) {
    Request& request = settings.request;
    if (arguments.command != Command::bench || request.backend == BackendChoice::cpu ||
        request.profile != Profile::sampling)
        return;
    request.profile = Profile::timeline;
    settings.notes.push_back(
        "bench shows no samples and records the timeline; --profile counters says what limits each variant");
}

// Settles the architecture; sm_90 is accepted for sm_90a.
void settle_architecture(const Arguments& arguments, OptionReader& reader, Request& request) {
    if (!arguments.has("--arch")) return;
    request.arch = arguments.value("--arch");
    Names names;
    for (const Chip& chip : chips()) {
        const std::string& name = chip.architecture;
        if (request.arch == name || request.arch + "a" == name) return;
        names.push_back(name);
    }
    reader.refuse("--arch", "not one of " + listed(names));
}

void settle_kernels(const Arguments& arguments, OptionReader& reader, Request& request) {
    if (!arguments.has("--kernels")) return;
    request.kernels = arguments.value("--kernels");
    if (arguments.has("--on") || arguments.has("--on-file"))
        return;  // the worker opens the file, on its own machine
    struct stat status {};
    if (::stat(request.kernels.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        reader.refuse("--kernels", "expected a folder that contains kernels/FAMILY/FILE.cu");
}

void settle_workers(const Arguments& arguments, OptionReader& reader, Settings& settings) {
    settings.workers = arguments.values("--on");
    if (arguments.has("--on-file")) {
        auto more = read_workers(arguments.value("--on-file"));
        if (!more) return reader.fail(more.error());
        settings.workers.insert(settings.workers.end(), more->begin(), more->end());
    }
    if (settings.workers.size() > most_workers)
        return reader.fail(
            Error::usage(fmt::format("--on and --on-file name {} workers; at most {} are possible",
                                     settings.workers.size(), most_workers)));
    if (!settings.workers.empty()) settings.request.on = settings.workers.front();
}

void settle_recording(const Arguments& arguments, OptionReader& reader, Request& request) {
    if (!arguments.has("--recording")) return;
    request.recording = arguments.value("--recording");
    const Names names = recording_names();
    if (std::find(names.begin(), names.end(), request.recording) == names.end())
        return reader.refuse("--recording",
                             names.empty() ? "no recordings are installed" : "not one of " + listed(names));
    for (const char* const other : {"--on", "--on-file", "--input", "--backend", "--device", "--kernels",
                                    "--arch", "--repeat", "--profile", "--jitter", "--multiprocessors"})
        if (arguments.has(other))
            return reader.refuse("--recording", std::string("cannot be combined with ") + other);
    request.backend = BackendChoice::cuda;
}

void settle_cache_directory(const Arguments& arguments, OptionReader& reader, Settings& settings) {
    if (!arguments.has("--cache-dir")) return;
    const std::string path = arguments.value("--cache-dir");
    struct stat status {};
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
        reader.fail(Error::failure(fmt::format("--cache-dir = {}: {}", path, std::strerror(errno))));
    else if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        reader.fail(Error::failure(fmt::format("--cache-dir = {}: not a folder", path)));
    settings.cache_directory = path;
}

void settle_parameters(const Arguments& arguments, OptionReader& reader, Settings& settings) {
    for (const std::string& text : arguments.values("--set")) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            return reader.fail(Error::usage("--set " + text + ": expected NAME=VALUE"));
        const std::string name = text.substr(0, equals);
        auto setting = parse_setting(*settings.family, name, text.substr(equals + 1));
        if (!setting) return reader.fail(setting.error());
        if (settings.request.parameters.has(setting->first))
            return reader.fail(Error::usage("--set " + text + ": " + setting->first + " is set twice"));
        settings.request.parameters.set(setting->first, setting->second);
    }
}

void settle_variants(const Arguments& arguments, Request& request) {
    for (const std::string& name : arguments.values("--variant"))
        if (std::find(request.variants.begin(), request.variants.end(), name) == request.variants.end())
            request.variants.push_back(name);
}

void settle_family(const Arguments& arguments, OptionReader& reader, Settings& settings) {
    if (arguments.command == Command::check) return;  // check has families of its own
    const bool one = arguments.command == Command::run || arguments.command == Command::sweep ||
                     arguments.command == Command::compare;
    if (arguments.command == Command::report && arguments.families.size() != 1) {
        for (const char* option : {"--set", "--variant", "--input"})
            if (arguments.has(option))
                reader.fail(Error::usage(std::string(option) +
                                         " needs exactly one family: sawtooth report DIR FAMILY " + option +
                                         " ..."));
        return;
    }
    const bool named = one || arguments.command == Command::report;
    std::string name = named ? arguments.families.front() : arguments.value("--family");
    const bool configures = arguments.has("--set") || arguments.has("--variant") ||
                            arguments.has("--preset") || arguments.has("--input");
    if (name.empty() && !named && !configures) return;
    if (name.empty() && !named && !offered_families().empty()) name = offered_families().front()->name;
    const auto family = find_offered_family(name);
    if (!family) return reader.fail(family.error());
    settings.family = *family;
    settings.request.family = name;
}

}  // namespace

Outcome<Settings> settle(const Arguments& arguments) {
    Settings settings;
    Request& request = settings.request;
    OptionReader reader(arguments);
    settle_family(arguments, reader, settings);
    reader.word(
        "--backend",
        {{"cpu", BackendChoice::cpu}, {"cuda", BackendChoice::cuda}, {"auto", BackendChoice::automatic}},
        request.backend);
    reader.integer("--device", 0, most_device, request.device);
    reader.integer("--jitter", 0, most_jitter, request.jitter);
    reader.integer("--multiprocessors", 0, most_multiprocessors, request.multiprocessors);
    reader.integer("--threads", 1, most_threads, request.threads);
    reader.integer<uint64_t>("--seed", 0, UINT64_MAX, request.seed);
    reader.word<Values>("--values", {std::begin(value_names), std::end(value_names)}, request.values);
    request.optional = arguments.has("--optional");
    reader.integer("--repeat", 1, most_repeats, request.repeats);
    reader.word("--cache", {{"cold", Cache::cold}, {"hot", Cache::hot}}, request.cache);
    reader.word("--profile",
                {{"none", Profile::none},
                 {"timeline", Profile::timeline},
                 {"counters", Profile::counters},
                 {"sampling", Profile::sampling}},
                request.profile);
    request.time_limit_seconds = reader.real("--time-limit", 1e-3, 1e9, "expected seconds, at least 0.001");
    read_memory_limit(arguments, reader, request);
    if (settings.family) settle_parameters(arguments, reader, settings);
    settle_variants(arguments, request);
    request.preset = arguments.value("--preset");
    request.input = arguments.value("--input");
    settle_backend(arguments, reader, settings);
    settle_profile_of_bench(arguments, settings);
    settle_architecture(arguments, reader, request);
    settle_kernels(arguments, reader, request);
    settle_workers(arguments, reader, settings);
    settle_recording(arguments, reader, request);
    if (!reader.error()) settle_cache_directory(arguments, reader, settings);
    if (reader.error()) return *reader.error();
    return settings;
}

std::optional<Error> check_for_all_cells(const Settings& settings) {
    const Family& family = *settings.family;
    const Request& request = settings.request;
    const auto is_preset = [&](const Preset& row) { return row.name == request.preset; };
    if (!request.preset.empty() && std::none_of(family.presets.begin(), family.presets.end(), is_preset))
        return Error::usage(
            Refusal{"--preset", request.preset, not_one_of(request.preset, names_of_rows(family.presets))});
    for (const std::string& name : request.variants)
        if (!family.variant(name))
            return Error::usage(Refusal{"--variant", name, not_one_of(name, names_of_rows(family.variants))});
    if (request.input.empty()) return {};
    ReadLimits limits;
    limits.only_shapes = true;
    limits.memory_bytes = request.memory_limit_bytes;
    limits.check = [&](const Arrays& shapes) { return check_inputs_exist(family, request.input, shapes); };
    const auto given = read_npz(request.input, limits);
    return given ? std::nullopt : std::optional(given.error());
}

Outcome<std::vector<SweepAxis>> settle_axes(const Arguments& arguments, const Settings& settings) {
    const std::string form = "NAME=VALUES, like chunk=16,64 or chunk=16..256";
    const auto texts = arguments.values("--over");
    if (texts.empty()) return Error::usage("--over is missing: a sweep has one or two axes " + form);
    if (texts.size() > 2)
        return Error::usage(
            fmt::format("--over is given {} times; a sweep has one or two axes {}", texts.size(), form));
    std::vector<SweepAxis> axes;
    for (const std::string& text : texts) {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
            return Error::usage("--over " + text + ": expected " + form);
        auto axis = parse_axis(*settings.family, text.substr(0, equals), text.substr(equals + 1));
        if (!axis) return axis.error();
        for (const std::string& name : names_of(*axis))
            if (settings.request.parameters.has(name))
                return Error::usage("--over " + text + ": " + name +
                                    " is also set by --set; sweep it or set it");
        axes.push_back(std::move(*axis));
    }
    if (const auto error = check_sweep({"", settings.request, axes})) return *error;
    return axes;
}

std::optional<Error> check_export(const Arguments& arguments, const Settings& settings,
                                  const std::vector<SweepAxis>& axes) {
    std::string kind;
    OptionReader reader(arguments);
    reader.word<std::string>("--export", {{"json", "json"}, {"triton", "triton"}}, kind);
    if (reader.error() || kind != "triton") return reader.error();
    return check_triton(*settings.family, axes);
}

Outcome<std::optional<Shard>> settle_shard(const Arguments& arguments) {
    if (!arguments.has("--shard")) return std::optional<Shard>();
    const std::string text = arguments.value("--shard");
    const char* const end = text.data() + text.size();
    Shard shard;
    const auto [slash, problem] = std::from_chars(text.data(), end, shard.number);
    const bool is_pair = problem == std::errc{} && slash != end && *slash == '/';
    const auto count = is_pair ? std::from_chars(slash + 1, end, shard.count) : std::from_chars_result{};
    const bool is_whole = is_pair && count.ec == std::errc{} && count.ptr == end;
    if (!is_whole || shard.number < 1 || shard.number > shard.count || shard.count > most_shards)
        return Error::usage(Refusal{
            "--shard", text,
            fmt::format("expected K/N, the shard and their number, from 1/1 to {0}/{0}", most_shards)});
    return std::optional(shard);
}

Outcome<int> settle_trials(const Arguments& arguments) {
    int trials = 1000;
    OptionReader reader(arguments);
    reader.integer("--trials", 1, 1000000, trials);
    if (reader.error()) return *reader.error();
    return trials;
}

Outcome<std::optional<double>> settle_seconds(const Arguments& arguments) {
    OptionReader reader(arguments);
    const auto seconds = reader.real("--seconds", 0.1, 1e6, "expected seconds, at least 0.1");
    if (reader.error()) return *reader.error();
    return seconds;
}

Outcome<WindowOptions> settle_window(const Arguments& arguments) {
    auto settings = settle(arguments);
    if (!settings) return settings.error();
    WindowOptions options;
    options.request = settings->request;
    options.cache_directory = settings->cache_directory;
    OptionReader reader(arguments);
    reader.word<std::string>("--theme", {{"dark", "dark"}, {"light", "light"}}, options.theme);
    options.scale = reader.real("--scale", 1, 2, "expected a number from 1 to 2").value_or(0);
    if (reader.error()) return *reader.error();
    constexpr double usual_limit = 10;  // seconds a window may wait for a run
    if (!options.request.time_limit_seconds) options.request.time_limit_seconds = usual_limit;
    return options;
}

Outcome<ShotOptions> settle_shot(const Arguments& arguments) {
    auto window = settle_window(arguments);
    if (!window) return window.error();
    ShotOptions options;
    static_cast<WindowOptions&>(options) = *window;
    options.path = arguments.target;
    options.panel = arguments.value("--panel");
    if (!options.path.ends_with(".png"))
        return Error::usage(Refusal{"shot", options.path, "expected a file name that ends in .png"});
    if (arguments.has("--size")) {
        const std::string size = arguments.value("--size");
        const char* end = size.data() + size.size();
        const auto [cross, problem] = std::from_chars(size.data(), end, options.width);
        const bool two = problem == std::errc{} && cross != end && *cross == 'x';
        const auto height =
            two ? std::from_chars(cross + 1, end, options.height.emplace()) : std::from_chars_result{};
        const bool whole = two && height.ec == std::errc{} && height.ptr == end;
        if (!whole || options.width < 320 || options.height < 240 || options.width > 7680 ||
            options.height > 4320)
            return Error::usage(Refusal{"--size", size, "expected WIDTHxHEIGHT from 320x240 to 7680x4320"});
    }
    if (auto problem = check_writable(options.path)) return *problem;
    return options;
}

std::string place_of(const std::string& path) {
    if (is_standard_output(path)) return "-";
    std::error_code problem;
    const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, problem), problem);
    return problem ? path : place.string();
}

Outcome<TableFiles> settle_files(const Arguments& arguments) {
    TableFiles files;
    std::vector<std::string> taken;
    if (arguments.has("--json") && arguments.has("--export"))
        return Error::usage("--export and --json both print a document to standard output; give one of them");
    if (arguments.has("--json") || arguments.has("--export")) taken.push_back("-");
    if (arguments.has("--session")) taken.push_back(place_of(arguments.value("--session")));
    for (const auto& [option, to] :
         {std::pair("--json-file", &files.json), std::pair("--csv", &files.csv),
          std::pair("--markdown", &files.markdown), std::pair("--junit", &files.junit)}) {
        if (!arguments.has(option)) continue;
        const std::string path = *to = arguments.value(option);
        if (path.empty())
            return Error::usage(Refusal{option, "", "expected a file name, or - for standard output"});
        const std::string place = place_of(path);
        if (std::find(taken.begin(), taken.end(), place) != taken.end())
            return Error::usage(Refusal{option, path, "another document is already written there"});
        taken.push_back(place);
        files.to_standard_output = files.to_standard_output || place == "-";
        if (auto problem = check_writable(path)) return *problem;
    }
    return files;
}

}  // namespace sawtooth::cli
