// Correct and wrong results, the summary of a report, and the content of its page.

#include "app/cli/report_page.h"

#include <algorithm>

#include "app/cli/report_summary.h"
#include "app/cli/report_svg.h"
#include "kernels/families.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "profiling/measure.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/gpu_result.h"
#include "viz/canvas_svg.h"

namespace {

using namespace sawtooth;
using namespace sawtooth::cli;

std::shared_ptr<Result> result_of(const std::string& family) {
    Request request;
    request.family = family;
    auto result = gpu_result(request, "a GPU");
    result->main_output = "y";
    for (VariantResult& variant : result->variants) {
        variant.errors = {{"y", 1e-7, 2e-7, 0, {}, {}}};
        variant.verdicts = {{.output = "y", .verdict = Verdict::right, .judged = 1000, .rel_l2 = 1e-7}};
        variant.exact = find_family(family)->variant(variant.name)->is_exact(result->parameters);
    }
    return result;
}

VariantResult& variant_of(Result& result, const std::string& name) {
    return *std::find_if(result.variants.begin(), result.variants.end(),
                         [&](const VariantResult& variant) { return variant.name == name; });
}

void set(Result& result, const std::string& name, double time, double error) {
    VariantResult& variant = variant_of(result, name);
    variant.time = statistics_of(std::vector<double>(9, time));
    variant.errors[0].rel_l2 = error;
}

void set_wrong(Result& result, const std::string& name) {
    variant_of(result, name).verdicts = {
        {.output = "y", .verdict = Verdict::wrong, .judged = 1000, .elements = 12}};
}

std::string text_of(const std::vector<SummaryLine>& lines) {
    std::string text;
    for (const SummaryLine& line : lines) text += (line.wrong ? "! " : "") + line.text + "\n";
    return text;
}

TEST_CASE("a wrong kernel is told apart from a method that approximates", "[report]") {
    const auto result = result_of("memory");
    VariantResult& frozen = variant_of(*result, "chunkwise_gd");
    frozen.errors[0].rel_l2 = 0.3;
    CHECK(verdict_words(frozen) == "right");
    CHECK(wrong_words(frozen).empty());
    CHECK(*approximation_of(*result, frozen) == 0.3);
    CHECK(*kernel_error(*result, frozen) == 1e-7);
    CHECK_FALSE(has_diverged(*result, frozen));
    frozen.errors[0].rel_l2 = 2.1;
    CHECK(has_diverged(*result, frozen));
    frozen.errors[0] = {"y", {}, {}, 3, 7, {}};
    CHECK(has_diverged(*result, frozen));
    CHECK(wrong_words(frozen).empty());

    VariantResult& exact = variant_of(*result, "exact_chunk");
    CHECK_FALSE(approximation_of(*result, exact));
    exact.verdicts.push_back({.output = "m", .verdict = Verdict::cannot_judge});
    CHECK(verdict_words(exact) == "right");  // everything that can be judged is right
    exact.verdicts.push_back({.output = "s", .verdict = Verdict::wrong, .judged = 4096, .elements = 1});
    exact.verdicts.back().worst = JudgedElement{{0, 65, 3}, 0.5, 0.25, 1e-6, "length = 65: row 1 of tile 1"};
    CHECK(verdict_words(exact) == "wrong");
    CHECK(wrong_badge(exact) == "wrong");
    CHECK(wrong_sentence(exact) ==
          "s is wrong: 1 of 4,096 elements, the worst at [0, 65, 3]: 0.5 instead of 0.25 (rounding allows "
          "1e-06); length = 65: row 1 of tile 1");
    CHECK(first_wrong(*result) == "exact_chunk: s is wrong: 1 of 4,096 elements");
    CHECK_FALSE(is_right(*result, "exact_chunk"));
    exact.verdicts.clear();
    CHECK(verdict_words(exact) == "pending");
}

TEST_CASE("only correct results can be the fastest", "[report]") {
    const auto result = result_of("memory");
    for (VariantResult& variant : result->variants) set(*result, variant.name, 500, 2e-7);
    variant_of(*result, "sequential").launch_count = 1024;
    set(*result, "exact_chunk", 200, 2e-7);
    set(*result, "tnt", 20, 0.01);
    set_wrong(*result, "tnt");
    set(*result, "chunkwise_gd", 100, 0.066);
    CHECK(text_of(summary_of(*result)) ==
          "Fastest correct result: exact_chunk, 200 us, 2.5x faster than sequential (interval 2.5x to 2.5x), "
          "relative error 2.0e-07.\n"
          "Fastest approximation: chunkwise_gd, 100 us, relative error 6.6 %.\n"
          "sequential leaves the GPU idle 16 % of the time, between 1024 launches.\n"
          "! tnt: y is wrong: 12 of 1,000 elements\n");
    for (VariantResult& variant : result->variants) variant.verdicts[0].verdict = Verdict::wrong;
    CHECK(fastest_right(*result).empty());
    CHECK_FALSE(contains(text_of(summary_of(*result)), "Fastest"));
}

TEST_CASE("speeds have an interval, and no ratio where it cannot be told", "[report]") {
    const auto result = result_of("scan");
    result->in_turns = true;
    for (VariantResult& variant : result->variants) set(*result, variant.name, 300, 2e-7);
    set(*result, "lookback", 100, 2e-7);
    set(*result, "blelloch", 100, 2e-7);
    set_wrong(*result, "blelloch");
    variant_of(*result, "three_phase").time = statistics_of({10, 900, 20, 800, 30, 700, 40, 600, 50});
    const Table table = speed_table(*result);
    CHECK(table.columns[1].name == "than sequential");
    const auto row = [&](const std::string& name) {
        for (const auto& cells : table.rows)
            if (cells[0] == name) return cells;
        return std::vector<std::string>{};
    };
    CHECK(row("lookback") == std::vector<std::string>{"lookback", "faster", "3x", "3x", "3x", "0"});
    CHECK(row("hillis_steele")[1] == "same");
    CHECK(row("three_phase")[1] == "cannot tell");
    CHECK(row("three_phase")[2].empty());
    CHECK(row("sequential").empty());  // the baseline has no row
    CHECK(row("blelloch").empty());    // a wrong variant has no row
}

Figure line_figure(const std::string& id, const std::string& title, Place place) {
    Figure figure;
    figure.id = id;
    figure.place = place;
    figure.title = title;
    figure.marks = {Line{"sequential", {}, {1, 2}, {1, 2}, true, {}}};
    return figure;
}

TEST_CASE("a page explains a family and shows the figures of its first screen first", "[report]") {
    const auto result = result_of("memory");
    const Family& family = **find_offered_family("memory");
    const std::string first = family.story.front().figures.front(),
                      second = family.story.at(1).figures.front();
    Figure zoom = line_figure("zoom", "Enlarged", Place::views);
    zoom.zoom = Zoom{first, 0, 1};
    Figure main = line_figure(first, "Main figure", Place::views);
    for (int word = 0; word < 100; ++word) main.caption += "word" + std::to_string(word) + " ";
    const std::string page = report_page({{&family,
                                           result,
                                           {zoom, line_figure("other", "Another", Place::outputs),
                                            line_figure(second, "Second figure", Place::error), main}}},
                                         "2030-01-02");
    CHECK(contains(page, family.about.formula.substr(0, family.about.formula.find('\n'))));
    for (const VariantResult& variant : result->variants)
        CHECK(contains(
            page, "</svg>\n" + variant.name + "</dt><dd>" + escaped(family.variant(variant.name)->idea)));
    CHECK(contains(page, main.caption));  // the whole caption
    const auto place_of = [&](const char* title) { return page.find("<b>" + std::string(title) + "</b>"); };
    CHECK(place_of("Main figure") < place_of("Enlarged"));
    CHECK(place_of("Enlarged") < place_of("Second figure"));
    CHECK(place_of("Second figure") < place_of("Another"));
    CHECK(page.find("<b>Enlarged") == page.rfind("<b>Enlarged"));
    for (const char* network : {"http:", "https:", "src=", "@import", "url("})
        CHECK_FALSE(contains(page.substr(0, page.find("<h3>Source")), network));
}

TEST_CASE("a figure of a page is high enough for the names of all its rows", "[report]") {
    Figure figure;
    Bars bars;
    for (int i = 0; i < 40; ++i) {
        figure.y.categories.push_back(fmt::format("launch {}", i));
        bars.bars.emplace_back().segments = {{"", 1.0 + i}};
    }
    figure.marks.push_back(std::move(bars));
    const std::string svg = PageDrawings().figure(figure);
    CHECK_FALSE(contains(svg, "viewBox=\"0 0 640 360\""));
    for (const std::string& name : figure.y.categories) CHECK(contains(svg, ">" + name + "<"));
}

TEST_CASE("a figure of a page is drawn once, with the colours of both themes in the style sheet",
          "[report]") {
    PageDrawings drawings;
    const std::string svg = drawings.figure(line_figure("a", "A figure", Place::views));
    CHECK(contains(svg, "class=\"c1\""));
    CHECK_FALSE(contains(svg, "#"));  // no colours outside the style sheet
    CHECK_FALSE(contains(svg, "A figure"));
    const auto hex = [](uint32_t colour) {
        std::string text = "000000";
        for (size_t i = 6; i-- > 0; colour /= 16) text[i] = "0123456789abcdef"[colour % 16];
        return text;
    };
    CHECK(contains(drawings.light_style(), "fill:#" + hex(light_theme().text)));
    CHECK(contains(drawings.dark_style(), "fill:#" + hex(dark_theme().text)));
    const size_t before = drawings.light_style().size();
    drawings.figure(line_figure("a", "A figure", Place::views));
    CHECK(drawings.light_style().size() == before);  // the rules are shared
}

TEST_CASE("a page starts with the summary and mentions no clicks", "[report]") {
    const auto result = result_of("memory");
    set(*result, "tnt", 1, 3.0);
    set_wrong(*result, "tnt");
    VariantResult& skipped = variant_of(*result, "lattice_gla");
    skipped = {};
    skipped.name = "lattice_gla";
    skipped.refused = "needs rule lattice";
    result->notes = {"lattice_gla skipped: needs rule lattice", "another note"};
    result->request.parameters.set("rule", std::string("delta"));
    Figure figure;
    figure.id = "trade-off";
    figure.place = Place::views;
    figure.title = "Time against error";
    figure.caption = "Down and to the left is better.";
    figure.marks = {Line{"sequential", {}, {1, 2}, {1, 2}, true, {}}};
    Figure empty;
    empty.id = "empty";
    empty.title = "Counters";
    empty.missing = "Press F5";
    const auto family = find_offered_family("memory");
    REQUIRE(family);
    const std::string page = report_page({{*family, result, {figure, empty}}}, "2030-01-02");
    CHECK(page.find("<h3>Summary</h3>") < page.find("<h3>Times</h3>"));
    CHECK(page.find("<h3>Times</h3>") < page.find("<h3>Views</h3>"));
    CHECK(contains(page, "<li class=\"wrong\">tnt: y is wrong: 12 of 1,000 elements</li>"));
    CHECK(contains(page, "<td>tnt <span class=\"wrong\">y is wrong: 12 of 1,000 elements</span></td>"));
    CHECK(contains(page, "lattice_gla skipped: needs rule lattice"));
    CHECK(page.find("lattice_gla skipped") == page.rfind("lattice_gla skipped"));  // only once
    CHECK(contains(page, "another note"));
    CHECK(contains(page, "Run with rule delta."));
    CHECK(contains(page, "Not measured in this run: Counters."));
    for (const char* live : {"click", "F5", "hover", "drag"}) CHECK_FALSE(contains(page, live));
}

}  // namespace
