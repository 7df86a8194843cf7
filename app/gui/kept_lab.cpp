#include "app/gui/kept_lab.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/engine/configure.h"
#include "app/gui/input_file.h"
#include "app/gui/lab.h"
#include "app/gui/run_rows.h"
#include "app/gui/settings.h"

namespace sawtooth {
namespace {

const Parameter* run_row(std::string_view name) {
    const auto& rows = run_rows();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.name == name; });
    return row == rows.end() ? nullptr : &*row;
}

std::optional<int> variant_index(const Family& family, std::string_view name) {
    for (size_t i = 0; i < family.variants.size(); ++i)
        if (family.variants[i].name == name) return static_cast<int>(i);
    return {};
}

// Parses one line; the first line sets `family`.
bool take(KeptLab& kept, const Family*& family, std::string_view name, std::string_view value) {
    Request& request = kept.request;
    if (name == "family") {
        const auto found = find_offered_family(std::string(value));
        if (!found) return false;
        family = *found;
        request.family = value;
        return true;
    }
    if (!family) return false;
    if (name == "preset") {
        request.preset = value;
        return std::any_of(family->presets.begin(), family->presets.end(),
                           [&](const Preset& preset) { return preset.name == value; });
    }
    if (name == "input") {
        request.input = value;
        return true;
    }
    if (name == "variant" || name == "hidden") {
        const auto index = variant_index(*family, value);
        if (!index) return false;
        if (name == "hidden")
            kept.hidden.insert(*index);
        else
            request.variants.emplace_back(value);
        return true;
    }
    const Parameter* const own = family->parameter(name);
    const Parameter* const row = own ? own : run_row(name);
    const auto parsed = row ? row->parse(value) : Outcome<Value>(Error::usage(""));
    if (!parsed) return false;
    if (own)
        request.parameters.set(own->name, *parsed);
    else
        set_run_value(request, name, *parsed);
    return true;
}

bool is_one_line(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' '; });
}

}  // namespace

KeptLab kept_of(const LabState& lab) {
    KeptLab kept{lab.request, lab.hidden_variants};
    kept.request.variants.clear();
    if (!lab.disabled_variants.empty())
        for (const Variant& variant : lab.family->variants)
            if (!lab.disabled_variants.contains(variant.name)) kept.request.variants.push_back(variant.name);
    return kept;
}

std::string kept_lab_text(const KeptLab& kept) {
    const Request& request = kept.request;
    std::string text;
    const auto add = [&](std::string_view name, std::string_view value) {
        if (!value.empty() && is_one_line(value)) text += fmt::format("{} = {}\n", name, value);
    };
    add("family", request.family);
    add("preset", request.preset);
    add("input", request.input);
    for (const std::string& variant : request.variants) add("variant", variant);
    const Family& family = **find_offered_family(request.family);
    for (const int index : kept.hidden) add("hidden", family.variants[static_cast<size_t>(index)].name);
    for (const auto& [name, value] : request.parameters.values) add(name, to_text(value));
    for (const Parameter& row : run_rows())
        if (const Value value = run_value(request, row.name); value != row.initial)
            add(row.name, to_text(value));
    return text;
}

std::optional<KeptLab> parse_kept_lab(std::string_view text) {
    KeptLab kept;
    for (const Parameter& row : run_rows()) set_run_value(kept.request, row.name, row.initial);
    const Family* family = nullptr;
    const bool whole = for_each_setting(
        text, [&](std::string_view name, std::string_view value) { return take(kept, family, name, value); });
    return whole && family ? std::optional(std::move(kept)) : std::nullopt;
}

void restore(LabState& lab, const KeptLab& kept) {
    choose_family(lab, **find_offered_family(kept.request.family));
    Request& request = lab.request;
    request.preset = kept.request.preset;
    request.parameters = kept.request.parameters;
    for (const Parameter& row : run_rows())
        set_run_value(request, row.name, run_value(kept.request, row.name));
    const auto& on = kept.request.variants;
    for (const Variant& variant : lab.family->variants)
        if (!on.empty() && std::find(on.begin(), on.end(), variant.name) == on.end())
            lab.disabled_variants.insert(variant.name);
    lab.hidden_variants = kept.hidden;
    submit(lab);
    if (!kept.request.input.empty()) open_file(lab, kept.request.input);
}

bool leaves_open(const Request& request) {
    return request.family.empty() && request.preset.empty() && request.input.empty() &&
           request.variants.empty() && request.parameters.values.empty() &&
           std::all_of(run_rows().begin(), run_rows().end(),
                       [&](const Parameter& row) { return run_value(request, row.name) == row.initial; });
}

}  // namespace sawtooth
