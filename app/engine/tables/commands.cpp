#include "app/engine/tables/commands.h"

#include <fmt/format.h>

#include "app/engine/run/configure.h"
#include "kernels/families.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

// The word, quoted for a POSIX shell.
std::string quoted(const std::string& word) {
    constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

// A value as text; a real number has all digits, so that the command reproduces the same bits.
std::string exact_text(const Value& value) {
    const auto* real = std::get_if<double>(&value);
    return real ? fmt::format("{}", *real) : to_text(value);
}

// Returns whether an option can be left out: the value is the default of the family and replaces no value of
// a preset or a file.
bool changes_nothing(const Request& request, const std::string& name, const Value& value) {
    if (!request.preset.empty() || !request.input.empty()) return false;
    if (const Family* family = find_family(request.family))
        if (const Parameter* row = family->parameter(name)) return row->initial == value;
    return false;
}

// The names of an axis: "chunk,C_G".
std::string listed_names(const SweepAxis& axis) {
    std::string text;
    for (const std::string& name : names_of(axis)) text += (text.empty() ? "" : ",") + name;
    return text;
}

const char* word_for(Profile profile) {
    switch (profile) {
        case Profile::none:
            return "none";
        case Profile::timeline:
            return "timeline";
        case Profile::counters:
            return "counters";
        case Profile::sampling:
            return "sampling";
    }
    return "";
}

// Everything in the Request that is not the default, as options.
std::string options_of(const Request& request) {
    const Request usual;
    std::string text;
    const auto add = [&](const char* option, const std::string& value) {
        text += fmt::format(" {} {}", option, quoted(value));
    };
    if (!request.preset.empty()) add("--preset", request.preset);
    if (!request.input.empty()) add("--input", request.input);
    for (const auto& [name, value] : request.parameters.values)
        if (!changes_nothing(request, name, value)) add("--set", name + "=" + exact_text(value));
    for (const std::string& variant : request.variants) add("--variant", variant);
    if (request.threads != usual.threads) add("--threads", std::to_string(request.threads));
    if (request.seed != usual.seed) add("--seed", std::to_string(request.seed));
    if (request.values != usual.values) add("--values", name_of(request.values));
    if (request.optional) text += " --optional";
    if (request.cache != usual.cache) add("--cache", "hot");
    if (request.time_limit_seconds) add("--time-limit", fmt::format("{}", *request.time_limit_seconds));
    if (request.memory_limit_bytes) add("--memory-limit", std::to_string(*request.memory_limit_bytes));
    if (!request.recording.empty()) {  // with which nothing is measured
        add("--recording", request.recording);
        return text;
    }
    if (request.backend == BackendChoice::cuda) add("--backend", "cuda");
    if (request.backend == BackendChoice::automatic) add("--backend", "auto");
    if (request.device != usual.device) add("--device", std::to_string(request.device));
    if (request.repeats != usual.repeats) add("--repeat", std::to_string(request.repeats));
    if (request.profile != usual.profile) add("--profile", word_for(request.profile));
    if (!request.kernels.empty()) add("--kernels", request.kernels);
    if (request.jitter != usual.jitter) add("--jitter", std::to_string(request.jitter));
    if (request.multiprocessors != usual.multiprocessors)
        add("--multiprocessors", std::to_string(request.multiprocessors));
    if (!request.arch.empty()) add("--arch", request.arch);
    if (!request.on.empty()) add("--on", request.on);
    return text;
}

}  // namespace

std::string command_of(const Request& request) {
    return "sawtooth run " + quoted(request.family) + options_of(request);
}

std::string command_of(const Sweep& sweep) {
    std::string axes;
    Request base = sweep.base;
    for (const SweepAxis& axis : sweep.axes) {
        std::string values;
        for (const Value& value : axis.values) values += (values.empty() ? "" : ",") + exact_text(value);
        axes += " --over " + quoted(listed_names(axis) + "=" + values);
        for (const std::string& name : names_of(axis)) base.parameters.values.erase(name);
    }
    return "sawtooth sweep " + quoted(base.family) + axes + (sweep.search ? " --best" : "") +
           options_of(base);
}

}  // namespace sawtooth
