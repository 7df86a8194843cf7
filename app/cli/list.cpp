#include <fmt/format.h>

#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/configure.h"
#include "app/engine/json.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {
namespace {

constexpr size_t width = 110;

std::string indented(const std::string& text) {
    std::string lines = "  ";
    for (const char c : text) lines += c == '\n' ? std::string("\n  ") : std::string(1, c);
    return lines.substr(0, lines.size() - 2);  // the table ends a line
}

template <class Rows, class ToText>
std::string joined(const Rows& rows, ToText&& to_text) {
    std::string text;
    for (const auto& row : rows) text += (text.empty() ? "" : ", ") + std::string(to_text(row));
    return text;
}

Table variants_of(const Family& family) {
    Table table;
    table.columns = {
        {"variant", "", false}, {"backends", "", false}, {"outputs", "", false}, {"idea", "", false}};
    for (const Variant& variant : family.variants) {
        std::string backends;
        for (const Backend backend : {Backend::cpu, Backend::cuda})
            if (variant.runs_on(backend))
                backends += (backends.empty() ? "" : ", ") + std::string(name_of(backend));
        const std::string outputs = joined(variant.outputs, [](const std::string& name) { return name; });
        table.rows.push_back({variant.name, backends.empty() ? "none yet" : backends, outputs, variant.idea});
    }
    return table;
}

// "always", "only for rule lattice", "only on CUDA; up to length"
std::string applies(const Parameter& row) {
    std::string text = joined(row.applies, [](const Condition& condition) { return condition.words; });
    if (row.end) text += (text.empty() ? "" : "; ") + ("up to " + row.end->words);
    return text.empty() ? "always" : text;
}

Table parameters_of(const Family& family) {
    Table table;
    table.columns = {{"parameter", "", false},
                     {"default", "", false},
                     {"accepted", "", false},
                     {"applies", "", false},
                     {"meaning", "", false}};
    for (const Parameter& row : family.parameters) {
        const std::string unit = row.unit.empty() ? "" : " " + row.unit;
        table.rows.push_back(
            {row.name, to_text(row.initial), row.accepted() + unit, applies(row), row.meaning});
    }
    return table;
}

Table arrays_of(const Family& family) {
    static constexpr const char* roles[] = {"input", "optional", "gradient", "output"};
    Table table;
    table.columns = {{"array", "", false}, {"role", "", false}, {"shape", "", false}, {"meaning", "", false}};
    for (const ArraySpec& array : family.arrays) {
        const std::string shape = joined(array.dimensions, [](const std::string& name) { return name; });
        table.rows.push_back(
            {array.name, roles[static_cast<size_t>(array.role)], "[" + shape + "]", array.meaning});
    }
    return table;
}

std::string text_of(const Family& family) {
    std::string text =
        fmt::format("{}: {}\n", family.name, wrapped(family.summary, width - family.name.size() - 2, 2));
    if (!family.source.empty())
        text += fmt::format("  {}\n", wrapped("source: " + family.source, width - 2, 4));
    text += "\n" + indented(variants_of(family).plain());
    text += "\n" + indented(parameters_of(family).plain());
    text += "\n" + indented(arrays_of(family).plain());
    for (const Preset& preset : family.presets) {
        const auto setting = [](const auto& value) { return value.first + " " + to_text(value.second); };
        text += fmt::format(
            "\n  {}\n",
            wrapped(fmt::format("preset {}: {}", preset.name, joined(preset.values, setting)), width - 2, 4));
    }
    return text;
}

}  // namespace

int list(const Arguments& arguments) {
    const auto shown = arguments.has("--all") ? families() : offered_families();
    if (arguments.has("--json")) return print(families_json(shown));
    std::string text;
    for (const Family* family : shown) text += (text.empty() ? "" : "\n\n") + text_of(*family);
    return print(text);
}

}  // namespace sawtooth::cli
