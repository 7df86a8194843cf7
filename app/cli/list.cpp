#include <fmt/format.h>

#include <algorithm>

#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/run/configure.h"
#include "app/engine/wire/json.h"
#include "kernels/core/nearest.h"
#include "kernels/core/typed_values.h"

namespace sawtooth::cli {
namespace {

template <class Rows, class ToText>
std::string joined(const Rows& rows, ToText&& to_text) {
    std::string text;
    for (const auto& row : rows) text += (text.empty() ? "" : ", ") + std::string(to_text(row));
    return text;
}

// One line for a row, with its meaning on the line below.
std::string entry(const std::string& line, const std::string& meaning) {
    return fmt::format("    {}\n        {}\n", wrapped(line, text_width - 4, 8),
                       wrapped(meaning, text_width - 8, 8));
}

std::string variants_of(const Family& family) {
    std::string text;
    for (const Variant& variant : family.variants) {
        std::string backends;
        for (const Backend backend : {Backend::cpu, Backend::cuda})
            if (variant.runs_on(backend))
                backends += (backends.empty() ? "" : ", ") + std::string(name_of(backend));
        text += entry(fmt::format("{} ({}): {}", variant.name, backends.empty() ? "no kernels yet" : backends,
                                  listed(variant.outputs)),
                      variant.idea);
    }
    return text;
}

// When the parameter applies: ", only for rule lattice", ", only on CUDA; up to length"; "" if it always
// does.
std::string applies(const Parameter& row) {
    std::string text;
    for (const Condition& condition : row.applies) text += (text.empty() ? ", " : "; ") + condition.words;
    if (row.end) text += (text.empty() ? ", up to " : "; up to ") + row.end->words;
    return text;
}

std::string parameters_of(const Family& family) {
    std::string text;
    for (const Parameter& row : family.parameters) {
        const bool is_word = std::holds_alternative<std::string>(row.initial);
        const std::string unit = row.unit.empty() || is_word ? "" : " " + row.unit;
        text += entry(fmt::format("{} = {}{} ({}){}", name_and_title(row), to_text(row.initial), unit,
                                  row.accepted(), applies(row)),
                      row.meaning);
    }
    return text;
}

std::string arrays_of(const Family& family) {
    static constexpr const char* roles[] = {"input", "optional input", "output gradient", "output"};
    std::string text;
    for (const ArraySpec& array : family.arrays)
        text += entry(fmt::format("{} [{}], {}", array.name, listed(array.dimensions),
                                  roles[static_cast<size_t>(array.role)]),
                      array.meaning);
    return text;
}

std::string text_of(const Family& family) {
    std::string text =
        fmt::format("{}: {}\n", family.name, wrapped(family.summary, text_width - family.name.size() - 2, 2));
    if (!family.source.empty())
        text += fmt::format("  {}\n", wrapped("source: " + family.source, text_width - 2, 4));
    text += "\n  Variants (backends) and their outputs\n" + variants_of(family);
    text += "\n  Parameters (titles) = default (accepted values)\n" + parameters_of(family);
    text += "\n  Arrays\n" + arrays_of(family);
    for (const Preset& preset : family.presets) {
        const auto setting = [](const auto& value) { return value.first + " " + to_text(value.second); };
        text += fmt::format("\n  {}\n",
                            wrapped(fmt::format("preset {}: {}", preset.name, joined(preset.values, setting)),
                                    text_width - 2, 4));
    }
    return text;
}

}  // namespace

int list(const Arguments& arguments) {
    auto shown = offered_families();
    if (!arguments.families.empty()) shown.clear();
    for (const std::string& name : arguments.families) {
        const auto family = find_offered_family(name);
        if (!family) return fail(family.error());
        if (std::find(shown.begin(), shown.end(), *family) == shown.end()) shown.push_back(*family);
    }
    if (arguments.has("--json")) return print(families_json(shown));
    std::string text;
    for (const Family* family : shown) text += (text.empty() ? "" : "\n\n") + text_of(*family);
    return print(text);
}

}  // namespace sawtooth::cli
