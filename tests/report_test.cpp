// Correct and wrong results, the summary of a report, and the content of its page.

#include "app/cli/report_page.h"

#include <algorithm>

#include "app/cli/report_summary.h"
#include "kernels/core/comparison.h"
#include "kernels/core/correctness.h"
#include "profiling/measure.h"
#include "tests/catch.h"
#include "tests/contains.h"
#include "tests/gpu_result.h"

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
    CHECK(verdict_words(exact) == "right");  // what can be judged is
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
    CHECK(verdict_words(exact) == "judging");
}

TEST_CASE("only correct results can be the fastest", "[report]") {
    const auto result = result_of("memory");
    for (VariantResult& variant : result->variants) set(*result, variant.name, 500, 2e-7);
    variant_of(*result, "sequential").launch_count = 1024;
    set(*result, "exact_chunk", 200, 2e-7);
    set(*result, "tnt", 20, 0.01);
    set_wrong(*result, "tnt");
    set(*result, "chunkwise_gd", 100, 0.066);
    CHECK(
        text_of(summary_of(*result)) ==
        "Fastest correct result: exact_chunk, 200 us, 2.5x faster than sequential, relative error 2.0e-07.\n"
        "Fastest approximation: chunkwise_gd, 100 us, relative error 6.6 %.\n"
        "sequential leaves the GPU idle 16 % of the time, between 1024 launches.\n"
        "! tnt: y is wrong: 12 of 1,000 elements\n");
    for (VariantResult& variant : result->variants) variant.verdicts[0].verdict = Verdict::wrong;
    CHECK(fastest_right(*result).empty());
    CHECK_FALSE(contains(text_of(summary_of(*result)), "Fastest"));
}

TEST_CASE("a page starts with summary and times and mentions no clicks", "[report]") {
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
    CHECK(page.find("lattice_gla skipped") == page.rfind("lattice_gla skipped"));  // once
    CHECK(contains(page, "another note"));
    CHECK(contains(page, "Run with rule delta."));
    CHECK(contains(page, "Not measured in this run: Counters."));
    for (const char* live : {"click", "F5", "hover", "drag"}) CHECK_FALSE(contains(page, live));
}

}  // namespace
