#include "app/cli/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "app/cli/report_summary.h"
#include "app/cli/terminal.h"
#include "app/engine/configure.h"
#include "app/engine/tables.h"
#include "kernels/core/correctness.h"
#include "viz/canvas_svg.h"
#include "viz/figure_svg.h"
#include "viz/present.h"

namespace sawtooth::cli {
namespace {

constexpr const char* style = R"(
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --card: #fff; --text: #1d2128; --quiet: #68707d; --line: #dfe2e7; --wrong: #c0262d;
}
.dark { display: none; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #111317; --card: #16181d; --text: #dfe3ea; --quiet: #858d9b; --line: #2b2f38;
    --wrong: #ff7b72; }
  .dark { display: block; }
  .light { display: none; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 Roboto, "Segoe UI", sans-serif; }
main { max-width: 1840px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 30px; margin: 0; }
h2 { font-size: 24px; margin: 56px 0 4px; }
h3 { font-size: 17px; margin: 32px 0 12px; }
p { margin: 4px 0; max-width: 90ch; }
.quiet { color: var(--quiet); }
ul { margin: 8px 0; padding-left: 20px; }
.wrong { color: var(--wrong); font-weight: 600; }
nav a { margin-right: 16px; color: inherit; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); gap: 16px; }
figure, pre { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
figure { padding: 8px; }
figure > div > svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; }
.scroll + .scroll { margin-top: 12px; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 500; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
pre { padding: 8px 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
)";

// The red words beside the name of a row; "" for none.
using BadgeOf = std::function<std::string(const std::string& name)>;

std::string badge(const std::string& words) {
    return words.empty() ? "" : " <span class=\"wrong\">" + escaped(words) + "</span>";
}

std::string html_of(const Table& table, const BadgeOf& badge_of = {}) {
    std::string text = "<div class=\"scroll\"><table><thead><tr>";
    const auto kind = [&](size_t c) { return table.columns[c].number ? " class=\"number\"" : ""; };
    for (size_t c = 0; c < table.columns.size(); ++c) {
        const Table::Column& column = table.columns[c];
        const std::string unit = column.unit.empty() ? "" : " (" + column.unit + ")";
        text += fmt::format("<th{}>{}</th>", kind(c), escaped(column.name + unit));
    }
    text += "</tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
        text += "<tr>";
        for (size_t c = 0; c < row.size(); ++c) {
            const std::string beside = c == 0 && badge_of ? badge(badge_of(row[c])) : "";
            text += fmt::format("<td{}>{}{}</td>", kind(c), escaped(row[c]), beside);
        }
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

// Numbers do not wrap: a wide table is split into parts below each other.
std::string html_in_parts(const Table& table, const BadgeOf& badge_of) {
    constexpr size_t characters = 130;  // fit a page of 1280 pixels
    std::string text;
    for (const Table& part : parts_within(table, characters)) text += html_of(part, badge_of);
    return text;
}

// The SVG element without the XML header.
std::string inline_svg(const Figure& figure, const Theme& theme) {
    const std::string document = to_svg(figure, theme, 640, 400);
    return document.substr(std::min(document.find("<svg"), document.size()));
}

// Title and caption are part of the drawing.
std::string html_of(const Figure& drawn, const FamilyReport& report) {
    const Figure figure = with_present(drawn, report.result->parameters);
    return fmt::format(
        "<figure id=\"{}\"><div class=\"light\">{}</div><div class=\"dark\">{}</div></figure>\n",
        escaped(report.family->name + "-" + figure.id), inline_svg(figure, light_theme()),
        inline_svg(figure, dark_theme()));
}

struct Section {
    Place place;
    const char* title;
};
// In this order after the times.
constexpr std::array<Section, 5> sections = {{{Place::outputs, "Outputs"},
                                              {Place::error, "Error"},
                                              {Place::views, "Views"},
                                              {Place::timeline, "Timeline"},
                                              {Place::occupancy, "Occupancy"}}};

std::string figures_of(const FamilyReport& report, Place place) {
    std::string drawn;
    for (const Figure& figure : report.figures)
        if (figure.place == place && !figure.marks.empty()) drawn += html_of(figure, report);
    return drawn.empty() ? "" : "<div class=\"figures\">\n" + drawn + "</div>\n";
}

std::string html_of(const FamilyReport& report, const Section& section) {
    const std::string drawn = figures_of(report, section.place);
    return drawn.empty() ? "" : fmt::format("<h3>{}</h3>\n{}", section.title, drawn);
}

// The section of the first figure comes first, like its panel in the window.
std::vector<Section> sections_of(const FamilyReport& report) {
    std::vector<Section> ordered(sections.begin(), sections.end());
    const auto is_first = [&](const Section& section) {
        return !report.figures.empty() && report.figures.front().place == section.place;
    };
    std::stable_partition(ordered.begin(), ordered.end(), is_first);
    return ordered;
}

// Titles of the figures without data.
std::string without_data(const FamilyReport& report) {
    std::string titles;
    for (const Figure& figure : report.figures)
        if (figure.marks.empty()) titles += (titles.empty() ? "" : ", ") + figure.title;
    return titles.empty() ? ""
                          : "<p class=\"quiet\">Not measured in this run: " + escaped(titles) + ".</p>\n";
}

std::string quiet(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += "<p class=\"quiet\">" + escaped(line) + "</p>\n";
    return text;
}

std::string summary_html(const Result& result) {
    std::string lines;
    for (const SummaryLine& line : summary_of(result))
        lines += fmt::format("<li{}>{}</li>\n", line.wrong ? " class=\"wrong\"" : "", escaped(line.text));
    return "<h3>Summary</h3>\n<ul>\n" + lines + "</ul>\n" + quiet(skipped_lines(result)) +
           quiet(other_notes(result));
}

std::string times_html(const FamilyReport& report) {
    const Result& result = *report.result;
    const auto wrong = [&](const std::string& name) {
        const VariantResult* const variant = find(result, name);
        return variant ? wrong_words(*variant) : "";
    };
    return "<h3>Times</h3>\n" + figures_of(report, Place::times) +
           html_in_parts(measured_table(result), wrong);
}

// "rule titans, chunk 32": preset and parameters that were set.
std::string settings_of(const Request& request) {
    std::string text = request.preset.empty() ? "" : "preset " + request.preset;
    for (const auto& [name, value] : request.parameters.values)
        text += (text.empty() ? "" : ", ") + name + " " + to_text(value);
    return text;
}

// Parameters in effect as a table, the others in a sentence.
std::string parameters_html(const Family& family, const Result& result) {
    Table table;
    table.columns = {{"parameter", "", false},
                     {"value", ""},
                     {"unit", "", false},
                     {"accepted", "", false},
                     {"meaning", "", false}};
    std::string unused;
    for (const Parameter& row : family.parameters) {
        if (!result.parameters.has(row.name)) continue;
        const std::string why = why_unused(row, result.parameters, result.backend, result.request.arch);
        if (!why.empty())
            unused += fmt::format("{}{} ({})", unused.empty() ? "" : ", ", row.name, why);
        else
            table.rows.push_back(
                {row.name, to_text(result.parameters.at(row.name)), row.unit, row.accepted(), row.meaning});
    }
    if (!unused.empty()) unused = "<p class=\"quiet\">Not used: " + escaped(unused) + ".</p>\n";
    return "<h3>Parameters</h3>\n" + html_of(table) + unused;
}

std::string html_of(const FamilyReport& report) {
    const Family& family = *report.family;
    const Result& result = *report.result;
    const std::string settings = settings_of(result.request);
    std::string text =
        fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n", escaped(family.name),
                    escaped(family.title.empty() ? family.name : family.title), escaped(family.summary));
    if (!settings.empty()) text += "<p>Run with " + escaped(settings) + ".</p>\n";
    if (!family.source.empty()) text += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(family.source));
    text += summary_html(result) + times_html(report);
    for (const Section& section : sections_of(report)) text += html_of(report, section);
    if (const Table errors = errors_table(result); errors.rows.size() > result.variants.size())
        text += "<h3>Errors by output</h3>\n" + html_of(errors);
    if (const Table compiled = compiled_table(result); !compiled.rows.empty())
        text += "<h3>Compiled kernels</h3>\n" + html_of(compiled);
    text += without_data(report);
    text += parameters_html(family, result);
    text += fmt::format("<h3>Command</h3>\n<pre>{}</pre>\n</section>\n", escaped(command_of(result.request)));
    return text;
}

}  // namespace

std::string report_page(const std::vector<FamilyReport>& families, const std::string& date) {
    std::string links, bodies;
    for (const FamilyReport& report : families) {
        links += fmt::format("<a href=\"#{0}\">{0}</a>", escaped(report.family->name));
        bodies += html_of(report);
    }
    const Result& first = *families.front().result;
    const std::string limits = first.ceilings ? words_of(*first.ceilings) : "";
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Sawtooth report, {0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>Sawtooth "
        "report</h1>\n"
        "<p>{2}, {0}, sawtooth {3}</p>\n<p "
        "class=\"quiet\">{4}</p>\n<nav>{5}</nav>\n{6}</main>\n</body>\n</html>\n",
        escaped(date), style, escaped(first.device), SAWTOOTH_VERSION, escaped(limits), links, bodies);
}

}  // namespace sawtooth::cli
