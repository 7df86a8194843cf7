#include "app/engine/run/configure.h"

#include <sys/sysinfo.h>

#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "app/engine/run/values.h"
#include "kernels/core/dimensions.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/nearest.h"
#include "kernels/core/typed_values.h"
#include "kernels/cpu/half.h"
#include "kernels/families.h"

namespace sawtooth {
namespace {

bool is_input(const ArraySpec& spec) { return spec.role != Role::output; }

// Sizes that given arrays fix, and the array that fixes each of them.
struct Fixed {
    int64_t size = 0;
    std::string array;
};

Outcome<std::map<std::string, Fixed>> sizes_of(const Family& family, const Request& request,
                                               const Arrays& given) {
    std::map<std::string, Fixed> fixed;
    for (const Array& array : given) {
        const ArraySpec& spec = *family.array(array.name);
        const std::string place = request.input + ": array " + array.name;
        if (array.shape.size() != spec.dimensions.size() && !spec.shape)
            return Error::usage(Refusal{place, to_text(array.shape),
                                        "expected " + std::to_string(spec.dimensions.size()) +
                                            " dimensions, [" + listed(spec.dimensions) + "]"});
        const auto names = dimensions_of(spec, array.shape);
        for (size_t axis = 0; axis < names.size(); ++axis) {
            const Parameter* const row = family.parameter(names[axis]);
            if (!row) continue;
            const int64_t size = array.shape[axis];
            if (const auto refusal = row->check(size))
                return Error::usage(
                    Refusal{place, to_text(array.shape), row->name + " accepts " + row->accepted()});
            const auto [known, is_new] = fixed.try_emplace(row->name, Fixed{size, array.name});
            if (!is_new && known->second.size != size)
                return Error::usage(Refusal{place, to_text(array.shape),
                                            row->name + " is " + std::to_string(known->second.size) +
                                                " in array " + known->second.array});
        }
    }
    return fixed;
}

const Preset* find_preset(const Family& family, std::string_view name) {
    const auto found = std::find_if(family.presets.begin(), family.presets.end(),
                                    [&](const Preset& row) { return row.name == name; });
    return found == family.presets.end() ? nullptr : &*found;
}

std::optional<Error> check_names(const Family& family, const Request& request, const Arrays& given) {
    if (auto error = check_inputs_exist(family, request.input, given)) return error;
    for (const auto& [name, value] : request.parameters.values) {
        const Parameter* const row = family.parameter(name);
        if (!row) return Error::usage(no_such_parameter(name, family));
        if (const auto refusal = row->check(value)) return Error::usage(*refusal);
    }
    return {};
}

// Converts the array to the dtype of the schema; the error says why that is not possible.
Outcome<Array> converted(const Array& array, const ArraySpec& spec, const Parameters& parameters,
                         const Request& request) {
    const Dtype wanted = spec.dtype_with(parameters);
    if (array.dtype == wanted) return array;
    Array result = Array::uninitialised(array.name, wanted, array.shape);
    if (array.dtype == Dtype::f32 && wanted == Dtype::complex64) {
        for (int64_t i = 0; i < array.count(); ++i)
            result.as<std::complex<float>>()[static_cast<size_t>(i)] =
                array.as<float>()[static_cast<size_t>(i)];
        return result;
    }
    if (array.dtype == Dtype::int32 && wanted == Dtype::f32) {
        for (int64_t i = 0; i < array.count(); ++i)
            result.as<float>()[static_cast<size_t>(i)] =
                static_cast<float>(array.as<int32_t>()[static_cast<size_t>(i)]);
        return result;
    }
    return Error::usage(Refusal{request.input + ": array " + array.name, std::string(name_of(array.dtype)),
                                "expected " + std::string(name_of(wanted))});
}

void note_without_effect(Configuration& configuration, const Request& request) {
    for (const Parameter& row : configuration.family->parameters) {
        if (!request.parameters.has(row.name)) continue;
        const std::string why =
            why_unused(row, configuration.parameters, configuration.backend, request.arch);
        if (!why.empty())
            configuration.notes.push_back(row.name + " has no effect: " + why);
        else if (const std::string end = words_of_end(row, configuration.parameters); !end.empty())
            configuration.notes.push_back(
                fmt::format("{} = {} {}", row.name, to_text(configuration.parameters.at(row.name)), end));
    }
}

bool is_generated(const ArraySpec& spec, const Configuration& configuration) {
    return is_input(spec) && (spec.role != Role::optional || configuration.with_optional);
}

const char* title_of(Backend backend) { return backend == Backend::cpu ? "CPU" : "CUDA"; }

Outcome<std::vector<const Variant*>> chosen_variants(const Family& family, const Request& request,
                                                     Backend backend) {
    std::vector<const Variant*> chosen, able;
    for (const Variant& variant : family.variants)
        if (variant.runs_on(backend)) able.push_back(&variant);
    const auto able_names = [&] {
        Names names;
        for (const Variant* variant : able) names.push_back(variant->name);
        return listed(names);
    };
    for (const std::string& name : request.variants) {
        const Variant* const variant = family.variant(name);
        if (!variant)
            return Error::usage(Refusal{"--variant", name, not_one_of(name, names_of_rows(family.variants))});
        if (!variant->runs_on(backend))
            return Error::failure(Refusal{"--variant", name,
                                          std::string("no ") + title_of(backend) + " implementation; " +
                                              (able.empty() ? "no variant of " + family.name + " has one"
                                                            : "variants that have one: " + able_names())}
                                      .sentence());
    }
    for (const Variant* variant : able) {
        const bool named = std::find(request.variants.begin(), request.variants.end(), variant->name) !=
                           request.variants.end();
        if (request.variants.empty() || named) chosen.push_back(variant);
    }
    return chosen;
}

}  // namespace

std::optional<Error> check_inputs_exist(const Family& family, const std::string& file, const Arrays& given) {
    Names inputs;
    for (const ArraySpec& spec : family.arrays)
        if (is_input(spec)) inputs.push_back(spec.name);
    for (const Array& array : given)
        if (std::find(inputs.begin(), inputs.end(), array.name) == inputs.end())
            return Error::usage(file + ": array " +
                                no_such_name(array.name, "an input of " + family.name, "Inputs", inputs));
    return {};
}

Outcome<InputFile> read_input(const Family& family, const Request& request, std::stop_token stop) {
    ReadLimits limits;
    limits.check = [&](const Arrays& shapes) -> std::optional<Error> {
        if (auto error = check_inputs_exist(family, request.input, shapes)) return error;
        const auto fixed = sizes_of(family, request, shapes);
        return fixed ? std::nullopt : std::optional(fixed.error());
    };
    limits.memory_bytes = request.memory_limit_bytes;
    limits.stop = std::move(stop);
    return read_npz(request.input, limits);
}

const std::vector<const Family*>& families() { return all_families(); }

std::vector<const Family*> offered_families() {
    std::vector<const Family*> offered;
    for (const Family* family : all_families())
        if (family->has_kernels()) offered.push_back(family);
    return offered;
}

Outcome<const Family*> find_offered_family(std::string_view name) {
    const auto offered = offered_families();
    for (const Family* family : offered)
        if (family->name == name) return family;
    Names names;
    for (const Family* family : offered) names.push_back(family->name);
    return Error::usage(no_such_name(name.empty() ? "\"\"" : name, "a family", "Families", names));
}

Outcome<Configuration> configure_shapes(const Request& request, const Arrays& given, Backend backend) {
    const auto found = find_offered_family(request.family);
    if (!found) return found.error();
    const Family& family = **found;
    Configuration configuration;
    configuration.family = &family;
    configuration.backend = backend;
    configuration.multiprocessors = request.multiprocessors;
    configuration.with_optional = request.optional;
    if (const auto error = check_names(family, request, given)) return *error;

    if (!request.preset.empty() && !find_preset(family, request.preset))
        return Error::usage(
            Refusal{"--preset", request.preset, not_one_of(request.preset, names_of_rows(family.presets))});
    const auto fixed = sizes_of(family, request, given);
    if (!fixed) return fixed.error();
    for (const auto& [name, value] : request.parameters.values) {
        const auto size = fixed->find(name);
        if (size != fixed->end() && value != Value(size->second.size))
            return Error::usage(Refusal{name, to_text(value),
                                        "array " + size->second.array + " of " + request.input + " has " +
                                            std::to_string(size->second.size)});
    }

    configuration.parameters = in_force(family, request, given, backend);
    for (const auto& [name, chosen] : overruled(family, request, given, backend))
        return Error::usage(Refusal{name, to_text(request.parameters.at(name)),
                                    "the arrays of " + request.input + " choose " + to_text(chosen)});
    if (family.check)
        if (const auto refusal = family.check(configuration.parameters)) return Error::usage(*refusal);
    auto variants = chosen_variants(family, request, backend);
    if (!variants) return variants.error();
    configuration.variants = std::move(*variants);
    note_without_effect(configuration, request);
    return configuration;
}

Outcome<Configuration> configure(const Request& request, const Arrays& given, Backend backend) {
    auto settled = configure_shapes(request, given, backend);
    if (!settled) return settled.error();
    Configuration configuration = std::move(*settled);
    const Family& family = *configuration.family;
    const Parameters& parameters = configuration.parameters;
    for (const Array& array : given) {
        const ArraySpec& spec = *family.array(array.name);
        if (!spec.is_used(parameters)) {
            configuration.notes.push_back(array.name + " of the input file is not used with these settings");
            continue;
        }
        auto ready = converted(array, spec, parameters, request);
        if (!ready) return ready.error();
        configuration.given.push_back(std::move(*ready));
    }
    if (family.check_inputs)
        if (const auto refusal = family.check_inputs(parameters, given)) return Error::usage(*refusal);
    for (const Array& array : configuration.given) {
        const Shape wanted = family.array(array.name)->shape_for(parameters, configuration.given);
        if (array.shape != wanted)
            return Error::usage(Refusal{request.input + ": array " + array.name, to_text(array.shape),
                                        "expected shape " + to_text(wanted)});
    }
    return configuration;
}

std::map<std::string, Value> overruled(const Family& family, const Request& request, const Arrays& given,
                                       Backend backend) {
    std::map<std::string, Value> chosen;
    if (given.empty()) return chosen;
    const Parameters with = in_force(family, request, given, backend);
    const Parameters without = in_force(family, request, {}, backend);
    for (const auto& [name, value] : request.parameters.values) {
        const Parameter* const row = family.parameter(name);
        if (row && row->type == Type::choice && without.at(name) == value && with.at(name) != value)
            chosen.emplace(name, with.at(name));
    }
    return chosen;
}

Parameters in_force(const Family& family, const Request& request, const Arrays& given, Backend backend) {
    Parameters parameters = family.defaults();
    if (const Preset* const preset = find_preset(family, request.preset))
        for (const auto& [name, value] : preset->values) parameters.set(name, value);
    if (const auto fixed = sizes_of(family, request, given))
        for (const auto& [name, size] : *fixed) parameters.set(name, size.size);
    for (const auto& [name, value] : request.parameters.values)
        if (const Parameter* const row = family.parameter(name); row && !row->check(value))
            parameters.set(name, value);
    if (family.settle) family.settle(parameters, given, backend);
    return parameters;
}

std::string words_of_end(const Parameter& row, const Parameters& parameters) {
    const auto* const value = std::get_if<int64_t>(&parameters.at(row.name));
    const double last = row.last(parameters);
    if (!value || !row.end || static_cast<double>(*value) <= last) return "";
    return fmt::format("acts like {:.0f} ({})", last, row.end->words);
}

std::string why_unused(const Parameter& row, const Parameters& parameters, Backend backend,
                       const std::string& arch) {
    std::string why = row.why_unused(parameters, backend);
    if (!arch.empty() && row.why_unused(parameters, Backend::cuda).empty()) why.clear();
    return why;
}

Outcome<std::pair<std::string, Value>> parse_setting(const Family& family, std::string_view name,
                                                     std::string_view text) {
    const Parameter* const row = find_parameter(family, name);
    if (!row) return Error::usage(no_such_parameter(name, family));
    auto value = row->parse(text);
    if (!value) return value.error();
    return std::pair{row->name, std::move(*value)};
}

std::string input_with_strange_number(const Configuration& configuration, const Request& request) {
    Names names;
    for (const ArraySpec& spec : configuration.family->arrays)
        if (spec.is_used(configuration.parameters) && is_generated(spec, configuration) &&
            spec.dtype_with(configuration.parameters) != Dtype::int32 &&
            !find(configuration.given, spec.name))
            names.push_back(spec.name);
    Random random(request.seed, "values");
    if (names.empty()) return "";
    return names[static_cast<size_t>(random.uniform() * static_cast<double>(names.size()))];
}

Outcome<Arrays> make_inputs(const Configuration& configuration, const Request& request,
                            std::stop_token stop) {
    const Family& family = *configuration.family;
    const Storage storage = configuration.parameters.has("dtype")
                                ? storage_named(configuration.parameters.text("dtype"))
                                : Storage::f32;
    const std::string chosen = input_with_strange_number(configuration, request);
    Arrays inputs;
    for (const ArraySpec& spec : family.arrays) {
        if (!is_input(spec) || !spec.is_used(configuration.parameters)) continue;
        const Array* const given = find(configuration.given, spec.name);
        if (!given && !is_generated(spec, configuration)) continue;
        Array array = given ? *given
                            : family.generate(spec, configuration.parameters, inputs,
                                              Random(request.seed, spec.name), stop);
        if (stop.stop_requested()) return Error::cancelled();
        if (!given)
            place_values(request.values, array, spec.name == chosen, storage,
                         Random(request.seed, spec.name + " values"));
        if (spec.rounded && array.dtype == Dtype::f32 && storage != Storage::f32) {
            Array rounded = Array::uninitialised(array.name, array.dtype, array.shape);
            std::ranges::copy(array.as<float>(), rounded.as<float>().begin());
            cpu::round_to(storage, rounded.as<float>().data(), rounded.count());
            array = std::move(rounded);
        }
        inputs.push_back(std::move(array));
    }
    return inputs;
}

Chip cpu_chip() {
    struct sysinfo system = {};
    sysinfo(&system);
    Chip chip;
    chip.name = "CPU";
    chip.architecture = "x86-64";
    chip.multiprocessors = core_count();
    chip.memory_bytes = static_cast<int64_t>(system.totalram) * system.mem_unit;
    return chip;
}

}  // namespace sawtooth
