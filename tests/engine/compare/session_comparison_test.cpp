// Comparisons of the results in two session files.

#include "app/engine/compare/session_comparison.h"

#include "profiling/measure.h"
#include "tests/engine/session/sample_session.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace {

using namespace sawtooth;

// What a result of these tests may differ in.
struct Sample {
    double us = 100;
    int64_t length = 64;
    uint64_t seed = 1;
    int multiprocessors = 0, jitter = 0;
    std::string device = "a GPU";
    std::optional<Clocks> clocks = {};
    Verdict verdict = Verdict::right;
};

Result result_of(const Sample& sample) {
    Result result = small_result();
    result.request.seed = sample.seed;
    result.request.multiprocessors = sample.multiprocessors;
    result.request.jitter = sample.jitter;
    result.parameters.set("length", sample.length);
    result.device = sample.device;
    result.clocks = sample.clocks;
    for (VariantResult& variant : result.variants) {
        variant.time = statistics_of({sample.us, sample.us * 1.001, sample.us, sample.us * 1.002, sample.us,
                                      sample.us, sample.us * 0.999, sample.us, sample.us});
        for (OutputVerdict& verdict : variant.verdicts) verdict.verdict = sample.verdict;
    }
    return result;
}

Session session_of(const std::vector<Sample>& samples) {
    Session session;
    for (const Sample& sample : samples) session.results.emplace_back(result_of(sample));
    return session;
}

ComparisonReport compared(const std::vector<Sample>& a, const std::vector<Sample>& b) {
    const auto report = compare_sessions(session_of(a), session_of(b), "A.sawtooth", "B.sawtooth");
    REQUIRE(report);
    return *report;
}

std::vector<Sample> six_of(double us) {
    std::vector<Sample> samples;
    for (int i = 0; i < 6; ++i) samples.push_back({.us = us * (1 + 0.001 * i)});
    return samples;
}

TEST_CASE("results of two sessions are paired by their settings", "[compare]") {
    const ComparisonReport report = compared({{.us = 100}, {.us = 100, .length = 128}},
                                             {{.us = 200, .length = 128}, {.us = 101}, {.us = 9, .seed = 2}});
    REQUIRE(report.variants.size() == 4);  // two variants of two settings
    CHECK(name_of(report.variants[0]) == "scan " + small_result().variants[0].name + ", length 64, seed 1");
    CHECK(report.variants[0].comparison.pace == Pace::same);
    CHECK(report.variants[2].settings == "length 128, seed 1");
    CHECK(report.variants[2].comparison.pace == Pace::slower);
    CHECK(report.not_compared == std::vector<std::string>{"only in B: scan, length 64, seed 2"});
    CHECK(conclusion_of(report) == Conclusion::slower);
}

TEST_CASE("one result each tells only large differences, six tell small ones", "[compare]") {
    const ComparisonReport one = compared({{.us = 100}}, {{.us = 120}});
    CHECK(conclusion_of(one) == Conclusion::cannot_tell);
    REQUIRE(one.notes.size() == 1);
    CHECK(contains(one.notes[0], "fewer than 6 results"));
    CHECK(conclusion_of(compared({{.us = 100}}, {{.us = 200}})) == Conclusion::slower);
    const ComparisonReport six = compared(six_of(100), six_of(120));
    CHECK(conclusion_of(six) == Conclusion::slower);
    CHECK(six.notes.empty());
    CHECK(six.variants[0].a.rounds.size() == 6);
    CHECK(conclusion_of(compared(six_of(120), six_of(100))) == Conclusion::same_or_faster);
    // Of the side that has more, the last ones count.
    auto more = six_of(100);
    more.insert(more.begin(), {.us = 900});
    const ComparisonReport uneven = compared(more, six_of(100));
    CHECK(uneven.variants[0].a.rounds.size() == 6);
    CHECK(conclusion_of(uneven) == Conclusion::same_or_faster);
}

TEST_CASE("results for fewer multiprocessors or with jitter are not compared with others", "[compare]") {
    CHECK(compared({{}}, {{.multiprocessors = 4}}).variants.empty());
    CHECK(compared({{}}, {{.jitter = 2}}).variants.empty());
    const auto same = Sample{.multiprocessors = 4, .jitter = 2};
    CHECK_FALSE(compared({same}, {same}).variants.empty());
}

TEST_CASE("results of other devices are not compared", "[compare]") {
    const ComparisonReport report = compared({{}}, {{.device = "another GPU"}});
    CHECK(report.variants.empty());
    CHECK(report.not_compared ==
          std::vector<std::string>{"only in A: scan, on a GPU", "only in B: scan, on another GPU"});
    CHECK(conclusion_of(report) == Conclusion::cannot_tell);
}

TEST_CASE("results of two devices have titles that name the device", "[compare]") {
    const std::vector<Sample> both = {{.device = "one GPU"}, {.device = "other GPU"}};
    Session a = session_of(both), b = session_of({both[0]});
    Result fewer = result_of(both[1]);
    const std::string kept = fewer.variants.front().name, dropped = fewer.variants.back().name;
    fewer.variants.pop_back();
    b.results.emplace_back(fewer);
    const auto report = compare_sessions(a, b, "A", "B");
    REQUIRE(report);
    REQUIRE(report->variants.size() == 3);
    CHECK(name_of(report->variants[0]) == "scan " + kept + ", on one GPU");
    CHECK(name_of(report->variants[1]) == "scan " + dropped + ", on one GPU");
    CHECK(name_of(report->variants[2]) == "scan " + kept + ", on other GPU");
    CHECK(report->not_compared == std::vector<std::string>{"only in A: scan, on other GPU, " + dropped});
    // The same variant on the first device is no partner.
    const auto turned = compare_sessions(b, a, "A", "B");
    REQUIRE(turned);
    CHECK(turned->not_compared == std::vector<std::string>{"only in B: scan, on other GPU, " + dropped});
}

TEST_CASE("the device of a result without a partner is named beside other settings", "[compare]") {
    const ComparisonReport report = compared({{}}, {{}, {.length = 128, .device = "another GPU"}});
    CHECK(report.variants.front().settings == "length 64, on a GPU");
    CHECK(report.not_compared == std::vector<std::string>{"only in B: scan, length 128, on another GPU"});
}

TEST_CASE("it cannot be told where clocks differ or were throttled", "[compare]") {
    const Clocks full{1980, 1980, 1980, ""}, low{1500, 1500, 1980, ""}, capped{1980, 1975, 1980, "power cap"};
    const auto reason = [](const Clocks& a, const Clocks& b) {
        const ComparisonReport report = compared({{.us = 100, .clocks = a}}, {{.us = 300, .clocks = b}});
        return words_of(report.variants[0]);
    };
    CHECK(reason(full, full) == "3x slower");
    CHECK(reason(full, low) == "cannot tell: the clock was 1980 MHz in A and 1500 MHz in B");
    CHECK(reason(capped, full) == "cannot tell: the clock was throttled in A (power cap)");
    CHECK(reason(full, capped) == "cannot tell: the clock was throttled in B (power cap)");
}

TEST_CASE("it cannot be told from disturbed results, and the reason is what was measured", "[compare]") {
    for (const auto& [backend, seen] : {std::pair(Backend::cpu, "a thread of the run waited for a core"),
                                        std::pair(Backend::cuda, "the clock of the GPU changed")}) {
        Session quiet, disturbed;
        Result result = result_of({.us = 300});
        result.backend = backend;
        quiet.results.emplace_back(result);
        for (VariantResult& variant : result.variants) variant.time->disturbed = {0, 2, 4, 6};
        disturbed.results.emplace_back(result);
        const auto report = compare_sessions(quiet, disturbed, "A", "B");
        REQUIRE(report);
        CHECK(words_of(report->variants[0]) ==
              "cannot tell: " + std::string(seen) + " in more than a third of the repeats");
    }
}

TEST_CASE("the newest result decides whether a variant is wrong", "[compare]") {
    const ComparisonReport wrong = compared({{}}, {{}, {.verdict = Verdict::wrong}});
    CHECK(conclusion_of(wrong) == Conclusion::wrong);
    CHECK(contains(words_of(wrong.variants[0]), "wrong in B"));
    CHECK(conclusion_of(compared({{}}, {{.verdict = Verdict::wrong}, {}})) == Conclusion::same_or_faster);
}

TEST_CASE("a variant of one session alone is listed", "[compare]") {
    Session a = session_of({{}}), b;
    Result fewer = result_of({});
    const std::string dropped = fewer.variants.back().name;
    fewer.variants.pop_back();
    b.results.emplace_back(fewer);
    const auto report = compare_sessions(a, b, "A", "B");
    REQUIRE(report);
    CHECK(report->variants.size() == 1);
    CHECK(report->not_compared == std::vector<std::string>{"only in A: scan, " + dropped});
    const auto turned = compare_sessions(b, a, "A", "B");
    REQUIRE(turned);
    CHECK(turned->not_compared == std::vector<std::string>{"only in B: scan, " + dropped});
    CHECK(compare_sessions({}, {}, "A", "B")->variants.empty());
}

TEST_CASE("a comparison of sessions can be stopped", "[compare]") {
    std::stop_source stop;
    stop.request_stop();
    const auto report = compare_sessions(session_of({{}}), session_of({{}}), "A", "B", stop.get_token());
    REQUIRE_FALSE(report);
    CHECK(report.error().kind == Error::Kind::cancelled);
}

}  // namespace
