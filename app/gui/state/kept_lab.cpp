#include "app/gui/state/kept_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "app/engine/run/configure.h"
#include "app/engine/run/run_rows.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/settings.h"

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

std::optional<View::Range> parse_range(std::string_view text) {
    View::Range range;
    const char* const end = text.data() + text.size();
    const auto low = std::from_chars(text.data(), end, range.low);
    if (low.ec != std::errc{} || low.ptr == end || *low.ptr != ' ') return {};
    const auto high = std::from_chars(low.ptr + 1, end, range.high);
    const bool whole = high.ec == std::errc{} && high.ptr == end;
    return whole && std::isfinite(range.low) && std::isfinite(range.high) && range.low < range.high
               ? std::optional(range)
               : std::nullopt;
}

constexpr std::string_view zoom_word = "zoom ";

// Takes the lines in order: the lines of a family follow the line that names it.
class Parser {
  public:
    // Takes a line; false if it is skipped.
    bool take(std::string_view name, std::string_view value) {
        if (name == "family" || name == "other family") return begin_family(name == "family", value);
        if (!family_) return false;
        FamilySettings& settings = kept.families[family_->name];
        if (name == "preset") return take_preset(settings, value);
        if (name == "input") {
            settings.input = value;
            return true;
        }
        if (name == "variant" || name == "hidden") return take_variant(settings, name == "hidden", value);
        if (name.starts_with(zoom_word)) {
            const auto range = parse_range(value);
            if (range) settings.visible[std::string(name.substr(zoom_word.size()))] = *range;
            return range.has_value();
        }
        return take_value(settings, name, value);
    }

    KeptLab kept;

  private:
    bool begin_family(bool shown, std::string_view name) {
        const auto found = find_offered_family(std::string(name));
        family_ = found ? *found : nullptr;
        if (family_ && shown) kept.request.family = name;
        return family_ != nullptr;
    }

    bool take_preset(FamilySettings& settings, std::string_view value) {
        const bool known = std::any_of(family_->presets.begin(), family_->presets.end(),
                                       [&](const Preset& preset) { return preset.name == value; });
        if (known) settings.preset = value;
        return known;
    }

    // If some variants are off, the lines name those that are on.
    bool take_variant(FamilySettings& settings, bool hidden, std::string_view name) {
        const auto index = variant_index(*family_, name);
        if (index && hidden) settings.hidden_variants.insert(*index);
        if (!index || hidden) return index.has_value();
        if (settings.disabled_variants.empty())
            for (const Variant& variant : family_->variants) settings.disabled_variants.insert(variant.name);
        settings.disabled_variants.erase(std::string(name));
        return true;
    }

    bool take_value(FamilySettings& settings, std::string_view name, std::string_view value) {
        const Parameter* const own = family_->parameter(name);
        const Parameter* const row = own ? own : run_row(name);
        const auto parsed = row ? row->parse(value) : Outcome<Value>(Error::usage(""));
        if (!parsed) return false;
        if (own)
            settings.parameters.set(own->name, *parsed);
        else
            set_run_value(kept.request, name, *parsed);
        return true;
    }

    const Family* family_ = nullptr;
};

void drop_defaults(std::map<std::string, FamilySettings>& families) {
    std::erase_if(families, [](const auto& each) { return each.second == FamilySettings{}; });
}

bool is_one_line(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' '; });
}

}  // namespace

KeptLab kept_of(const LabState& lab) {
    KeptLab kept{lab.request, lab.others};
    kept.request.variants.clear();
    kept.request.parameters = {};
    kept.request.preset.clear();
    kept.request.input.clear();
    kept.families[lab.family->name] = settings_of(lab);
    drop_defaults(kept.families);
    return kept;
}

std::string kept_lab_text(const KeptLab& kept) {
    std::string text;
    const auto add = [&](std::string_view name, std::string_view value) {
        if (!value.empty() && is_one_line(name) && is_one_line(value))
            text += fmt::format("{} = {}\n", name, value);
    };
    const auto add_settings = [&](const std::string& name) {
        const auto found = kept.families.find(name);
        if (found == kept.families.end()) return;
        const FamilySettings& settings = found->second;
        add("preset", settings.preset);
        add("input", settings.input);
        const Family& family = **find_offered_family(name);
        if (!settings.disabled_variants.empty())
            for (const Variant& variant : family.variants)
                if (!settings.disabled_variants.contains(variant.name)) add("variant", variant.name);
        for (const int index : settings.hidden_variants)
            add("hidden", family.variants[static_cast<size_t>(index)].name);
        for (const auto& [parameter, value] : settings.parameters.values) add(parameter, to_text(value));
        for (const auto& [axis, range] : settings.visible)
            add(std::string(zoom_word) + axis, fmt::format("{} {}", range.low, range.high));
    };
    add("family", kept.request.family);
    add_settings(kept.request.family);
    for (const Parameter& row : run_rows())
        if (const Value value = run_value(kept.request, row.name); value != row.initial)
            add(row.name, to_text(value));
    for (const auto& [name, settings] : kept.families) {
        if (name == kept.request.family) continue;
        add("other family", name);
        add_settings(name);
    }
    return text;
}

TakenLines read_kept_lab(std::string_view text, KeptLab& kept) {
    Parser parser;
    for (const Parameter& row : run_rows()) set_run_value(parser.kept.request, row.name, row.initial);
    TakenLines lines = take_lines(
        text, [&](std::string_view name, std::string_view value) { return parser.take(name, value); });
    drop_defaults(parser.kept.families);
    kept = std::move(parser.kept);
    return lines;
}

void restore(LabState& lab, const KeptLab& kept) {
    lab.others = kept.families;
    FamilySettings settings = std::move(lab.others[kept.request.family]);
    lab.others.erase(kept.request.family);
    const std::string input = settings.input;
    show_family(lab, **find_offered_family(kept.request.family), std::move(settings));
    for (const Parameter& row : run_rows())
        set_run_value(lab.request, row.name, run_value(kept.request, row.name));
    submit(lab);
    if (!input.empty()) open_file(lab, input);
}

void restore_others(LabState& lab, const KeptLab& kept) {
    lab.others = kept.families;
    lab.others.erase(lab.family->name);
}

bool leaves_open(const Request& request) {
    return request.family.empty() && request.preset.empty() && request.input.empty() &&
           request.variants.empty() && request.parameters.values.empty() &&
           std::all_of(run_rows().begin(), run_rows().end(),
                       [&](const Parameter& row) { return run_value(request, row.name) == row.initial; });
}

}  // namespace sawtooth
