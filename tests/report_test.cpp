// Correct and wrong results, the summary of a report, and the content of its page.

#include "app/cli/report_page.h"

#include <algorithm>

#include "app/cli/report_summary.h"
#include "kernels/core/correctness.h"
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
    for (VariantResult& variant : result->variants) {
        variant.errors = {{"y", 1e-7, 2e-7, 0, {}, {}}};
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
    variant.time = TimeStatistics{time, time, time, {time}};
    variant.errors[0].rel_l2 = error;
}

std::string text_of(const std::vector<SummaryLine>& lines) {
    std::string text;
    for (const SummaryLine& line : lines) text += (line.wrong ? "! " : "") + line.text + "\n";
    return text;
}

TEST_CASE("a result is wrong if its error exceeds its tolerance", "[report]") {
    const auto result = result_of("memory");
    VariantResult& exact = variant_of(*result, "exact_chunk");
    VariantResult& frozen = variant_of(*result, "chunkwise_gd");
    CHECK(wrong_words(*result, exact).empty());
    exact.errors[0].rel_l2 = 4e-3;
    CHECK(wrong_words(*result, exact) == "error 0.4 %");
    frozen.errors[0].rel_l2 = 0.3;  // approximation errors are not mistakes
    CHECK(wrong_words(*result, frozen).empty());
    frozen.errors[0].rel_l2 = 0.9999;
    CHECK(wrong_words(*result, frozen) == "error 100 %");
    frozen.errors[0].rel_l2 = 2.1;
    CHECK(wrong_words(*result, frozen) == "error 210 %");
    frozen.errors[0].rel_l2 = 1e6;
    CHECK(wrong_words(*result, frozen) == "diverged");
    frozen.errors[0] = {"y", {}, {}, 3, 7, {}};
    CHECK(wrong_words(*result, frozen) == "diverged");
    result->parameters.set("precision", std::string("bf16"));
    CHECK(wrong_words(*result, exact).empty());  // rounding of products
}

TEST_CASE("only correct results can be the fastest", "[report]") {
    const auto result = result_of("memory");
    for (VariantResult& variant : result->variants) set(*result, variant.name, 500, 2e-7);
    variant_of(*result, "sequential").launch_count = 1024;
    set(*result, "exact_chunk", 200, 2e-7);
    set(*result, "tnt", 20, 1.0);
    set(*result, "chunkwise_gd", 100, 0.066);
    CHECK(
        text_of(summary_of(*result)) ==
        "Fastest correct result: exact_chunk, 200 us, 2.50x faster than sequential, relative error 2.0e-07.\n"
        "Fastest approximation: chunkwise_gd, 100 us, relative error 6.6 %.\n"
        "sequential leaves the GPU idle 16 % of the time, between 1024 launches.\n"
        "! tnt: error 100 %\n");
    for (VariantResult& variant : result->variants) variant.errors[0].nonfinite = 1;
    CHECK(fastest_right(*result) == nullptr);
    CHECK_FALSE(contains(text_of(summary_of(*result)), "Fastest"));
}

TEST_CASE("a page starts with summary and times and mentions no clicks", "[report]") {
    const auto result = result_of("memory");
    set(*result, "tnt", 1, 3.0);
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
    CHECK(contains(page, "<li class=\"wrong\">tnt: error 300 %</li>"));
    CHECK(contains(page, "<td>tnt <span class=\"wrong\">error 300 %</span></td>"));
    CHECK(contains(page, "lattice_gla skipped: needs rule lattice"));
    CHECK(page.find("lattice_gla skipped") == page.rfind("lattice_gla skipped"));  // once
    CHECK(contains(page, "another note"));
    CHECK(contains(page, "Run with rule delta."));
    CHECK(contains(page, "Not measured in this run: Counters."));
    for (const char* live : {"click", "F5", "hover", "drag"}) CHECK_FALSE(contains(page, live));
}

}  // namespace
