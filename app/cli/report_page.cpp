#include "app/cli/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/engine/tables.h"
#include "viz/canvas_svg.h"
#include "viz/figure_svg.h"
#include "viz/present.h"

namespace sawtooth::cli {
namespace {

constexpr const char* style = R"(
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --card: #fff; --text: #1d2128; --quiet: #68707d; --line: #dfe2e7;
}
.dark { display: none; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #111317; --card: #16181d; --text: #dfe3ea; --quiet: #858d9b; --line: #2b2f38; }
  .dark { display: block; }
  .light { display: none; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 Roboto, "Segoe UI", sans-serif; }
main { max-width: 1360px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 30px; margin: 0; }
h2 { font-size: 24px; margin: 56px 0 4px; }
h3 { font-size: 17px; margin: 32px 0 12px; }
p { margin: 4px 0; max-width: 90ch; }
.quiet { color: var(--quiet); }
nav a { margin-right: 16px; color: inherit; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); gap: 16px; }
figure, pre { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
figure { padding: 8px; }
figure > div > svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 500; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
pre { padding: 8px 12px; overflow-x: auto; }
)";

std::string html_of(const Table& table) {
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
        for (size_t c = 0; c < row.size(); ++c)
            text += fmt::format("<td{}>{}</td>", kind(c), escaped(row[c]));
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

// The part of an SVG document that may stand within a page.
std::string inline_svg(const Figure& figure, const Theme& theme) {
    const std::string document = to_svg(figure, theme, 640, 400);
    return document.substr(std::min(document.find("<svg"), document.size()));
}

// The drawing itself holds title and caption.
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
constexpr std::array<Section, 6> sections = {{{Place::outputs, "Outputs"},
                                              {Place::error, "Error"},
                                              {Place::views, "Views"},
                                              {Place::times, "Times"},
                                              {Place::occupancy, "Occupancy"},
                                              {Place::timeline, "Timeline"}}};

// Figures without data say in a sentence what they would show.
std::string html_of(const FamilyReport& report, const Section& section) {
    std::string drawn, missing;
    for (const Figure& figure : report.figures) {
        if (figure.place != section.place) continue;
        if (figure.marks.empty())
            missing += fmt::format("<p class=\"quiet\">{}: {}</p>\n", escaped(figure.title),
                                   escaped(figure.missing));
        else
            drawn += html_of(figure, report);
    }
    if (drawn.empty() && missing.empty()) return "";
    if (!drawn.empty()) drawn = "<div class=\"figures\">\n" + drawn + "</div>\n";
    return fmt::format("<h3>{}</h3>\n{}{}", section.title, drawn, missing);
}

// The section of the first figure comes first, as its panel does in the window.
std::vector<Section> sections_of(const FamilyReport& report) {
    std::vector<Section> ordered(sections.begin(), sections.end());
    const auto is_first = [&](const Section& section) {
        return !report.figures.empty() && report.figures.front().place == section.place;
    };
    std::stable_partition(ordered.begin(), ordered.end(), is_first);
    return ordered;
}

Table parameters_of(const Family& family, const Parameters& parameters) {
    Table table;
    table.columns = {{"parameter", "", false},
                     {"value", ""},
                     {"unit", "", false},
                     {"accepted", "", false},
                     {"meaning", "", false}};
    for (const Parameter& row : family.parameters)
        if (parameters.has(row.name))
            table.rows.push_back(
                {row.name, to_text(parameters.at(row.name)), row.unit, row.accepted(), row.meaning});
    return table;
}

std::string html_of(const FamilyReport& report) {
    const Family& family = *report.family;
    const Result& result = *report.result;
    std::string text =
        fmt::format("<section id=\"{0}\">\n<h2>{1}</h2>\n<p>{2}</p>\n", escaped(family.name),
                    escaped(family.title.empty() ? family.name : family.title), escaped(family.summary));
    if (!family.source.empty()) text += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(family.source));
    text += "<h3>Numbers</h3>\n" + html_of(numbers_table(result));
    if (const Table errors = errors_table(result); errors.rows.size() > result.variants.size())
        text += "<h3>Errors by output</h3>\n" + html_of(errors);
    for (const std::string& note : result.notes)
        text += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(note));
    for (const Section& section : sections_of(report)) text += html_of(report, section);
    text += "<h3>Parameters</h3>\n" + html_of(parameters_of(family, result.parameters));
    text += fmt::format("<h3>The same numbers</h3>\n<pre>{}</pre>\n</section>\n",
                        escaped(command_of(result.request)));
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
