#include "app/cli/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "app/cli/report_summary.h"
#include "app/cli/report_svg.h"
#include "app/cli/terminal.h"
#include "app/engine/identity.h"
#include "app/engine/run/configure.h"
#include "app/engine/tables/commands.h"
#include "app/engine/tables/comparison_columns.h"
#include "app/engine/tables/tables.h"
#include "kernels/figures/correctness.h"
#include "viz/canvas_svg.h"
#include "viz/present.h"

namespace sawtooth::cli {
namespace {

constexpr const char* style = R"(
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --card: #fff; --text: #1d2128; --quiet: #68707d; --line: #dfe2e7; --wrong: #c0262d;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 Roboto, "Segoe UI", sans-serif; }
main { max-width: 1840px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 30px; margin: 0; }
h2 { font-size: 24px; margin: 56px 0 4px; }
h3 { font-size: 17px; margin: 32px 0 12px; }
p { margin: 4px 0; max-width: 90ch; }
.quiet { color: var(--quiet); }
ul { margin: 8px 0; padding-left: 20px; max-width: 90ch; }
.wrong { color: var(--wrong); font-weight: 600; }
nav a { margin-right: 16px; color: inherit; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 8px 0; max-width: 110ch; }
dd { margin: 0; color: var(--quiet); }
dt svg { width: 28px; height: 12px; margin-right: 8px; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); gap: 16px; }
figure, pre { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
figure { padding: 12px; display: flex; flex-direction: column; justify-content: space-between; }
figure svg { display: block; width: 100%; height: auto; font: 12px Roboto, "Helvetica Neue", Arial, sans-serif; }
figcaption { font-size: 14px; padding: 0 4px 4px; color: var(--quiet); }
figcaption b { display: block; color: var(--text); font-weight: 500; font-size: 15px; }
.scroll { overflow-x: auto; }
.scroll + .scroll { margin-top: 12px; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 500; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
pre { padding: 8px 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
@page { size: A4 landscape; margin: 12mm; }
@media print {
  main { padding: 0; }
  nav { display: none; }
  section { break-before: page; }
  h2, h3 { break-after: avoid; }
  figure, tr, pre { break-inside: avoid; }
  .figures { grid-template-columns: 1fr 1fr; }
  .scroll { overflow: visible; }
}
)";
constexpr const char* dark_style =
    ":root { --ground: #111317; --card: #16181d; --text: #dfe3ea; --quiet: #858d9b; --line: #2b2f38; "
    "--wrong: #ff7b72; }\n";

// Returns the red words beside the name of a row; "" for none.
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
    constexpr size_t characters = 130;  // this many fit a page that is 1280 pixels wide
    std::string text;
    for (const Table& part : parts_within(table, characters)) text += html_of(part, badge_of);
    return text;
}

std::string html_of(const Figure& figure, const FamilyReport& report, PageDrawings& drawings) {
    return fmt::format("<figure id=\"{}\">\n<figcaption><b>{}</b>{}</figcaption>\n{}</figure>\n",
                       escaped(report.family->name + "-" + figure.id), escaped(figure.title),
                       escaped(figure.caption),
                       drawings.figure(with_present(figure, report.result->parameters)));
}

struct Section {
    Place place;
    const char* title;
};
// The sections follow the story in this order; the times also have a table.
constexpr std::array<Section, 6> sections = {{{Place::times, "Times"},
                                              {Place::outputs, "Outputs"},
                                              {Place::error, "Error"},
                                              {Place::views, "Views"},
                                              {Place::timeline, "Timeline"},
                                              {Place::occupancy, "Occupancy"}}};

using Shown = std::vector<const Figure*>;

bool is_of_story(const Family& family, const Figure& figure) {
    return std::any_of(family.story.begin(), family.story.end(), [&](const StoryRow& row) {
        return std::find(row.figures.begin(), row.figures.end(), figure.id) != row.figures.end();
    });
}

// Figures with data that are not zooms, each followed by its zooms.
Shown with_zooms(const Shown& figures, const FamilyReport& report) {
    Shown all;
    const auto zooms_of = [&](const std::string& id) {
        Shown zooms;
        for (const Figure& figure : report.figures)
            if (figure.zoom && figure.zoom->figure == id && !figure.marks.empty()) zooms.push_back(&figure);
        return zooms;
    };
    const auto has_owner = [&](const Figure& figure) {
        return figure.zoom && std::any_of(report.figures.begin(), report.figures.end(), [&](const Figure& f) {
                   return f.id == figure.zoom->figure && !f.marks.empty();
               });
    };
    for (const Figure* figure : figures) {
        if (figure->marks.empty() || has_owner(*figure)) continue;
        all.push_back(figure);
        for (const Figure* zoom : zooms_of(figure->id)) all.push_back(zoom);
    }
    return all;
}

// The figures of the first screen, in its order.
Shown story_of(const FamilyReport& report) {
    Shown story;
    for (const StoryRow& row : report.family->story)
        for (const std::string& id : row.figures)
            for (const Figure& figure : report.figures)
                if (figure.id == id) story.push_back(&figure);
    return with_zooms(story, report);
}

// The figures of that place that the first screen does not show.
Shown others_of(const FamilyReport& report, Place place) {
    Shown others;
    for (const Figure& figure : report.figures)
        if (figure.place == place && !is_of_story(*report.family, figure)) others.push_back(&figure);
    return with_zooms(others, report);
}

std::string html_of(const Shown& figures, const FamilyReport& report, PageDrawings& drawings) {
    std::string drawn;
    for (const Figure* figure : figures) drawn += html_of(*figure, report, drawings);
    return drawn.empty() ? "" : "<div class=\"figures\">\n" + drawn + "</div>\n";
}

Table times_of(const FamilyReport& report) {
    Table table = measured_table(*report.result);
    if (report.baseline)
        add_comparison(table, *report.result, *report.baseline->result, report.baseline->name);
    return table;
}

std::string sections_html(const FamilyReport& report, PageDrawings& drawings) {
    const Result& result = *report.result;
    const auto wrong = [&](const std::string& name) {
        const VariantResult* const variant = find(result, name);
        return variant ? wrong_words(*variant) : "";
    };
    std::string text;
    for (const Section& section : sections) {
        std::string content = html_of(others_of(report, section.place), report, drawings);
        if (section.place == Place::times) content += html_in_parts(times_of(report), wrong);
        if (!content.empty()) text += fmt::format("<h3>{}</h3>\n{}", section.title, content);
    }
    return text;
}

// The titles of the figures without data.
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
    std::string text = "<h3>Summary</h3>\n<ul>\n" + lines + "</ul>\n" + quiet(skipped_lines(result)) +
                       quiet(other_notes(result));
    const Table speeds = speed_table(result);
    if (speeds.rows.empty()) return text;
    return text + html_of(speeds) +
           quiet({"At least and at most: the interval that misses the true ratio in at most 1 of 100 "
                  "comparisons. No ratio is given where it cannot be told."});
}

// The pinned results behind this one, and the notes.
std::string marks_html(const FamilyReport& report) {
    std::string text;
    if (!report.pins.empty())
        text += fmt::format(
            "<p>Pinned, faded in the figures: {}.{}</p>\n",
            escaped(fmt::format("{}", fmt::join(report.pins, "; "))),
            report.baseline ? " The baseline of the times is " + escaped(report.baseline->name) + "." : "");
    std::string notes;
    for (const FamilyReport::Note& note : report.notes)
        notes += fmt::format("<li>{}: {}</li>\n", escaped(note.place), escaped(note.text));
    return notes.empty() ? text : text + "<h3>Notes</h3>\n<ul>\n" + notes + "</ul>\n";
}

// Escapes line by line, because `escaped` has no line breaks.
std::string lines_of(const std::string& text) {
    std::string lines;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        lines += (at > 0 ? "\n" : "") + escaped(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

// Describes the family: its formula, and its variants with their ideas.
std::string about_html(const Family& family, const Result& result, PageDrawings& drawings) {
    const About& about = family.about;
    std::string text = "<p>" + escaped(about.text.empty() ? family.summary : about.text) + "</p>\n";
    if (!about.formula.empty()) text += "<pre>" + lines_of(about.formula) + "</pre>\n";
    text += "<h3>Variants</h3>\n<dl>\n";
    for (const VariantResult& made : result.variants) {
        const Variant& variant = *family.variant(made.name);
        text += fmt::format("<dt>{}{}</dt><dd>{}</dd>\n", drawings.swatch(made.index), escaped(variant.name),
                            escaped(variant.idea));
    }
    return text + "</dl>\n";
}

// The preset and the parameters that were set: "rule titans, chunk 32".
std::string settings_of(const Request& request) {
    std::string text = request.preset.empty() ? "" : "preset " + request.preset;
    for (const auto& [name, value] : request.parameters.values)
        text += (text.empty() ? "" : ", ") + name + " " + to_text(value);
    return text;
}

// The parameters in effect as a table, and the others in a sentence.
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

// The device and its measured limits.
std::string machine_html(const std::string& device, const Result& result) {
    const std::string limits = result.ceilings ? words_of(*result.ceilings) : "";
    return fmt::format("<p>{}</p>\n<p class=\"quiet\">{}</p>\n", device, escaped(limits));
}

// With `place` the section says where it was measured.
std::string html_of(const FamilyReport& report, bool place, PageDrawings& drawings) {
    const Family& family = *report.family;
    const Result& result = *report.result;
    const std::string settings = settings_of(result.request);
    std::string text = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", escaped(family.name),
                                   escaped(family.title.empty() ? family.name : family.title));
    if (place)
        text +=
            machine_html(escaped(fmt::format("Measured on {} ({}).", result.device, result.host)), result);
    if (!report.measured.empty())
        text += "<p>From a session, measured " + escaped(report.measured) + ".</p>\n";
    text += about_html(family, result, drawings);
    if (!settings.empty()) text += "<p>Run with " + escaped(settings) + ".</p>\n";
    text += summary_html(result) + marks_html(report);
    if (const std::string story = html_of(story_of(report), report, drawings); !story.empty())
        text += "<h3>Main figures</h3>\n" + story;
    text += sections_html(report, drawings);
    if (const Table errors = errors_table(result); errors.rows.size() > result.variants.size())
        text += "<h3>Errors by output</h3>\n" + html_of(errors);
    if (const Table compiled = compiled_table(result); !compiled.rows.empty())
        text += "<h3>Compiled kernels</h3>\n" + html_of(compiled);
    text += without_data(report);
    text += parameters_html(family, result);
    if (!family.source.empty()) text += "<h3>Source</h3>\n" + quiet({family.source});
    text += fmt::format("<h3>Command</h3>\n<pre>{}</pre>\n</section>\n", escaped(command_of(result.request)));
    return text;
}

}  // namespace

std::string report_page(const std::vector<FamilyReport>& families, const std::string& date) {
    const Result& first = *families.front().result;
    const bool is_of_several = std::any_of(families.begin(), families.end(), [&](const FamilyReport& report) {
        return report.result->device != first.device || report.result->host != first.host;
    });
    PageDrawings drawings;
    std::string links, bodies;
    for (const FamilyReport& report : families) {
        links += fmt::format("<a href=\"#{0}\">{0}</a>", escaped(report.family->name));
        bodies += html_of(report, is_of_several, drawings);
    }
    const std::string date_and_build = fmt::format("{}, sawtooth {}", escaped(date), build_identity());
    const std::string machine =
        is_of_several ? fmt::format("<p>Several machines, {}</p>\n", date_and_build)
                      : machine_html(fmt::format("{}, {}", escaped(first.device), date_and_build), first);
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Sawtooth report, {0}</title>\n<style>{1}{2}"
        "@media screen and (prefers-color-scheme: dark) {{\n{3}{4}}}\n</style>\n</head>\n<body>\n<main>\n"
        "<h1>Sawtooth report</h1>\n{5}<nav>{6}</nav>\n{7}</main>\n</body>\n</html>\n",
        escaped(date), style, drawings.light_style(), dark_style, drawings.dark_style(), machine, links,
        bodies);
}

}  // namespace sawtooth::cli
