#include "app/engine/compare/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/engine/wire/json_values.h"
#include "profiling/measure.h"

namespace sawtooth {
namespace {

// Conclusions from the worst to the best.
constexpr std::array conclusions = {Conclusion::wrong, Conclusion::slower, Conclusion::cannot_tell,
                                    Conclusion::same_or_faster};

std::string time_cell(const ComparedSide& side) {
    const auto time = time_of(side);
    return time ? time_words(*time) : "";
}

// "1.031", with the digits that show a difference of 1 in 1000.
std::string ratio_text(double ratio) { return fmt::format("{:.3f}", ratio); }

bool has_ratio(const Comparison& comparison) { return comparison.ratio > 0; }
bool has_interval(const Comparison& comparison) {
    return comparison.low > 0 && comparison.high < std::numeric_limits<double>::infinity();
}

// The names of the first variants with that conclusion, and how many times slower they are.
std::string names_of(const ComparisonReport& report, Conclusion conclusion) {
    constexpr size_t most = 3;
    std::string names;
    size_t count = 0;
    for (const ComparedVariant& variant : report.variants) {
        if (conclusion_of(variant) != conclusion || ++count > most) continue;
        names += (names.empty() ? "" : "; ") + name_of(variant);
        if (conclusion == Conclusion::slower) names += " (" + pace_words(variant.comparison) + ")";
    }
    return names + (count > most ? fmt::format("; and {} more", count - most) : "");
}

size_t count_of(const ComparisonReport& report, Conclusion conclusion) {
    return static_cast<size_t>(
        std::count_if(report.variants.begin(), report.variants.end(),
                      [&](const ComparedVariant& variant) { return conclusion_of(variant) == conclusion; }));
}

// The text of one line of Markdown: cells of a table end at |.
std::string markdown_line(const std::string& text) {
    std::string line;
    for (const char c : text) line += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
    return line;
}

// Escaped for an attribute or a text of XML, which allows no control characters.
std::string xml(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '&')
            escaped += "&amp;";
        else if (c == '<')
            escaped += "&lt;";
        else if (c == '>')
            escaped += "&gt;";
        else if (c == '"')
            escaped += "&quot;";
        else
            escaped += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
    return escaped;
}

std::string junit_case(const ComparedVariant& variant) {
    const auto time = time_of(variant.b);
    const Conclusion conclusion = conclusion_of(variant);
    std::string text =
        fmt::format("    <testcase classname=\"sawtooth.compare.{}\" name=\"{}\" time=\"{:.9f}\">\n",
                    xml(variant.family), xml(name_of(variant)), time ? time->median / 1e6 : 0);
    const std::string words = xml(words_of(variant));
    if (conclusion == Conclusion::slower || conclusion == Conclusion::wrong)
        text += fmt::format("      <failure type=\"{}\" message=\"{}\"/>\n", name_of(conclusion), words);
    if (conclusion == Conclusion::cannot_tell)
        text += fmt::format("      <skipped message=\"{}\"/>\n", words);
    text += fmt::format("      <system-out>A {}, B {}: {}</system-out>\n", xml(time_cell(variant.a)),
                        xml(time_cell(variant.b)), words);
    return text + "    </testcase>\n";
}

Json side_of(const ComparedSide& side) {
    Json time = nullptr;
    if (const auto all = time_of(side))
        time = {{"median", number(all->median)},
                {"q1", number(all->q1)},
                {"q3", number(all->q3)},
                {"rounds",
                 list_of(side.rounds, [](const TimeStatistics& round) { return numbers(round.samples); })}};
    return {{"variant", side.variant},
            {"device", side.device},
            {"parameters", object_of(side.parameters)},
            {"wrong", side.wrong.empty() ? Json() : Json(side.wrong)},
            {"time_us", time}};
}

Json variant_of(const ComparedVariant& variant) {
    const Comparison& comparison = variant.comparison;
    Json ratio = nullptr;
    if (has_ratio(comparison))
        ratio = {{"b_over_a", number(1 / comparison.ratio)},
                 {"low", has_interval(comparison) ? number(1 / comparison.high) : Json()},
                 {"high", has_interval(comparison) ? number(1 / comparison.low) : Json()}};
    return {{"family", variant.family},
            {"name", name_of(variant)},
            {"conclusion", name_of(conclusion_of(variant))},
            {"pace", name_of(comparison.pace)},
            {"words", words_of(variant)},
            {"ratio", ratio},
            {"a", side_of(variant.a)},
            {"b", side_of(variant.b)}};
}

}  // namespace

std::string_view name_of(Conclusion conclusion) {
    switch (conclusion) {
        case Conclusion::same_or_faster:
            return "same_or_faster";
        case Conclusion::slower:
            return "slower";
        case Conclusion::wrong:
            return "wrong";
        case Conclusion::cannot_tell:
            return "cannot_tell";
    }
    return "";
}

Conclusion conclusion_of(const ComparedVariant& variant) {
    if (!variant.a.wrong.empty() || !variant.b.wrong.empty()) return Conclusion::wrong;
    if (!variant.unknown.empty() || variant.comparison.pace == Pace::cannot_tell)
        return Conclusion::cannot_tell;
    return variant.comparison.pace == Pace::slower ? Conclusion::slower : Conclusion::same_or_faster;
}

Conclusion conclusion_of(const ComparisonReport& report) {
    if (report.variants.empty()) return Conclusion::cannot_tell;
    return *std::find_if(conclusions.begin(), conclusions.end(),
                         [&](Conclusion conclusion) { return count_of(report, conclusion) > 0; });
}

std::string name_of(const ComparedVariant& variant) {
    const std::string& a = variant.a.variant;
    const std::string& b = variant.b.variant;
    return variant.family + " " + (a == b ? a : a + " / " + b) +
           (variant.settings.empty() ? "" : ", " + variant.settings);
}

std::optional<TimeStatistics> time_of(const ComparedSide& side) {
    std::vector<double> samples;
    for (const TimeStatistics& round : side.rounds)
        samples.insert(samples.end(), round.samples.begin(), round.samples.end());
    if (samples.empty()) return {};
    return statistics_of(std::move(samples));
}

std::string words_of(const ComparedVariant& variant) {
    std::string wrong;
    for (const auto& [name, side] : {std::pair("A", &variant.a), std::pair("B", &variant.b)})
        if (!side->wrong.empty())
            wrong += (wrong.empty() ? "" : "; ") + std::string("wrong in ") + name + ": " + side->wrong;
    if (!wrong.empty()) return wrong;
    if (!variant.unknown.empty()) return "cannot tell: " + variant.unknown;
    return pace_words(variant.comparison);
}

std::string sentence_of(const ComparisonReport& report) {
    const auto counted = [&](Conclusion conclusion) {
        return fmt::format("{} of {}: {}.", count_of(report, conclusion),
                           count_words(std::ssize(report.variants), "variant"), names_of(report, conclusion));
    };
    if (report.variants.empty()) return "A and B have no variant in common.";
    switch (conclusion_of(report)) {
        case Conclusion::wrong:
            return "The outputs are wrong in " + counted(Conclusion::wrong);
        case Conclusion::slower:
            return "B is slower than A in " + counted(Conclusion::slower);
        case Conclusion::cannot_tell:
            return "It cannot be told whether B is slower than A in " + counted(Conclusion::cannot_tell);
        case Conclusion::same_or_faster:
            break;
    }
    const auto faster =
        std::count_if(report.variants.begin(), report.variants.end(),
                      [](const auto& variant) { return variant.comparison.pace == Pace::faster; });
    if (report.variants.size() == 1)
        return fmt::format("B is not slower than A{}.", faster > 0 ? ", but faster" : "");
    return fmt::format("B is not slower than A in any of {}, and faster in {}.",
                       count_words(std::ssize(report.variants), "variant"), faster);
}

Table comparison_table(const ComparisonReport& report) {
    Table table{{{"variant", "", false},
                 {"A", ""},
                 {"B", ""},
                 {"B / A", ""},
                 {"interval", ""},
                 {"verdict", "", false}},
                {}};
    for (const ComparedVariant& variant : report.variants) {
        const Comparison& comparison = variant.comparison;
        table.rows.push_back({name_of(variant), time_cell(variant.a), time_cell(variant.b),
                              has_ratio(comparison) ? ratio_text(1 / comparison.ratio) : "",
                              has_interval(comparison)
                                  ? ratio_text(1 / comparison.high) + " to " + ratio_text(1 / comparison.low)
                                  : "",
                              words_of(variant)});
    }
    return table;
}

std::string comparison_markdown(const ComparisonReport& report) {
    std::string text =
        fmt::format("**{}**\n\nA: {}; B: {}; {}.\n", markdown_line(sentence_of(report)),
                    markdown_line(report.name_a), markdown_line(report.name_b), markdown_line(report.how));
    if (!report.variants.empty()) text += "\n" + comparison_table(report).markdown();
    std::string rest;
    for (const std::string& line : report.not_compared) rest += "- " + markdown_line(line) + "\n";
    for (const std::string& note : report.notes) rest += "- note: " + markdown_line(note) + "\n";
    return text + (rest.empty() ? "" : "\n" + rest);
}

std::string comparison_junit(const ComparisonReport& report) {
    const std::string counts =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", report.variants.size(),
                    count_of(report, Conclusion::slower) + count_of(report, Conclusion::wrong),
                    count_of(report, Conclusion::cannot_tell));
    std::string text = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sawtooth compare\" {}>\n"
        "  <testsuite name=\"{} against {}\" {}>\n",
        counts, xml(report.name_b), xml(report.name_a), counts);
    for (const ComparedVariant& variant : report.variants) text += junit_case(variant);
    return text + "  </testsuite>\n</testsuites>\n";
}

std::string to_json(const ComparisonReport& report) {
    return text_of({{"version", report.version},
                    {"date", report.date},
                    {"a", report.name_a},
                    {"b", report.name_b},
                    {"how", report.how},
                    {"conclusion", name_of(conclusion_of(report))},
                    {"exit_code", static_cast<int>(conclusion_of(report))},
                    {"sentence", sentence_of(report)},
                    {"variants", list_of(report.variants, variant_of)},
                    {"not_compared", report.not_compared},
                    {"notes", report.notes}});
}

}  // namespace sawtooth
