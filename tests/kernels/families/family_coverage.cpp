#include "tests/kernels/families/family_coverage.h"

#include <algorithm>
#include <set>

#include "tests/kernels/cuda/cuda_devices.h"

namespace sawtooth {
namespace {

using Facts = std::set<std::string>;

struct Candidate {
    CoveringSetting setting;
    Facts facts, programs;  // programs: what must be compiled for it, files with their defines
};

bool is_accepted(const Family& family, const Variant& variant, const Parameters& parameters,
                 const Chip& chip) {
    return !(family.check && family.check(parameters)) && !variant.refusal(parameters, chip);
}

// Finds what compiling the setting covers: parameter values, and the kernels or launches of the variant.
Candidate candidate_of(const Family& family, const CoveringSetting& setting, cuda::Device& device,
                       Coverage coverage) {
    const std::string who = setting.variant->name + ": ";
    Candidate candidate{setting, {}, {}};
    Facts& facts = candidate.facts;
    for (const Parameter& row : family.parameters) {
        if (coverage == Coverage::files || coverage == Coverage::kernels) break;
        const std::string value = row.name + " = " + to_text(setting.parameters.at(row.name));
        const bool is_choice = row.type == Type::choice || row.type == Type::boolean;
        if (row.group == Group::tiling)
            facts.insert((coverage == Coverage::values_of_every_variant ? who : "") + value);
        else if (is_choice && row.renews != Renews::figures)
            facts.insert(value);
    }
    const Arrays inputs = input_shapes(family, setting.parameters, true);
    const Plan plan = plan_on_device(device, family, setting.variant->name, setting.parameters, inputs, true);
    for (const PlannedKernel& kernel : plan.kernels) {
        std::string program = kernel.file;
        for (const auto& [name, value] : kernel.defines) program += " " + name + "=" + value;
        candidate.programs.insert(std::move(program));
        if (coverage != Coverage::values_of_every_variant)
            facts.insert(kernel.file + (coverage == Coverage::files ? "" : " " + kernel.entry));
    }
    if (coverage == Coverage::values_of_every_variant)
        for (const Launch& launch : plan.launches)
            facts.insert(who + launch.info->name + " of " + launch.info->grid_formula);
    return candidate;
}

// Returns the defaults, and settings that differ from them in one choice, flag, list or dimension, or in two
// dimensions that are 1.
std::vector<Settings> near_defaults(const Family& family) {
    std::vector<Settings> all = {{}};
    const auto add = [&](const Parameter& row, const Value& value) {
        if (!row.check(value)) all.push_back({{row.name, value}});
    };
    Settings smallest;
    for (const Parameter& row : family.parameters) {
        if (row.group == Group::tiling || row.renews == Renews::figures) continue;
        for (const Value& choice : row.choices) add(row, choice);
        if (row.type == Type::boolean)
            for (const bool flag : {false, true}) add(row, flag);
        if (row.type == Type::list) add(row, std::vector<int64_t>{8});
        if (row.group != Group::shape || row.type != Type::integer) continue;
        add(row, int64_t{1});
        smallest.emplace_back(row.name, int64_t{1});
    }
    all.push_back(smallest);
    return all;
}

std::vector<CoveringSetting> candidates_of(const Family& family, const Variant& variant, const Chip& chip) {
    std::vector<CoveringSetting> accepted;
    const auto try_settings = [&](const Settings& settings) {
        Parameters parameters = settled(family, settings, {}, Backend::cuda);
        if (is_accepted(family, variant, parameters, chip))
            accepted.push_back({&variant, std::move(parameters)});
    };
    for (const Settings& settings : near_defaults(family)) try_settings(settings);
    if (accepted.empty()) return accepted;
    const Parameters first = accepted.front().parameters;
    for (const Parameter& row : family.parameters) {
        if (row.group != Group::tiling) continue;
        for (const Value& value : tiling_values(row)) {
            Parameters parameters = first;
            parameters.set(row.name, value);
            if (family.settle) family.settle(parameters, {}, Backend::cuda);
            if (is_accepted(family, variant, parameters, chip))
                accepted.push_back({&variant, std::move(parameters)});
        }
    }
    return accepted;
}

size_t missing(const Facts& facts, const Facts& known) {
    return static_cast<size_t>(
        std::count_if(facts.begin(), facts.end(), [&](const auto& fact) { return !known.contains(fact); }));
}

}  // namespace

std::vector<Value> tiling_values(const Parameter& row) {
    std::vector<Value> values = row.choices;
    if (row.type == Type::choice) return values;
    for (const int64_t value : {1, 16, 64, 65, 256})
        if (!row.check(value) && std::ranges::count(values, Value(value)) == 0) values.emplace_back(value);
    return values;
}

// Always picks the setting that covers most of what is still missing per program to compile.
std::vector<CoveringSetting> covering_settings(const Family& family, cuda::Device& device,
                                               Coverage coverage) {
    std::vector<Candidate> candidates;
    for (const Variant& variant : family.variants) {
        if (!variant.runs_on(Backend::cuda)) continue;
        for (const CoveringSetting& setting : candidates_of(family, variant, device.chip()))
            candidates.push_back(candidate_of(family, setting, device, coverage));
    }
    std::vector<CoveringSetting> chosen;
    Facts known, compiled;
    while (true) {
        const Candidate* best = nullptr;
        double most = 0;
        for (const Candidate& candidate : candidates) {
            const auto facts = static_cast<double>(missing(candidate.facts, known));
            // Less than one program for those that need none, so that these come first.
            const double worth =
                facts / std::max(static_cast<double>(missing(candidate.programs, compiled)), 0.01);
            if (worth <= most) continue;
            most = worth;
            best = &candidate;
        }
        if (!best) return chosen;
        known.insert(best->facts.begin(), best->facts.end());
        compiled.insert(best->programs.begin(), best->programs.end());
        chosen.push_back(best->setting);
    }
}

std::vector<CoveringSetting> tiling_grid(const Family& family, const Chip& chip) {
    std::vector<Settings> grid = {{}};
    for (const Parameter& row : family.parameters) {
        if (row.group != Group::tiling) continue;
        std::vector<Settings> wider;
        for (const Settings& settings : grid)
            for (const Value& value : tiling_values(row)) {
                wider.push_back(settings);
                wider.back().emplace_back(row.name, value);
            }
        grid = std::move(wider);
    }
    std::vector<CoveringSetting> all;
    for (const Settings& settings : grid) {
        const Parameters parameters = settled(family, settings, {}, Backend::cuda);
        for (const Variant& variant : family.variants)
            if (variant.runs_on(Backend::cuda) && is_accepted(family, variant, parameters, chip))
                all.push_back({&variant, parameters});
    }
    return all;
}

}  // namespace sawtooth
