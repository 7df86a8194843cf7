// What a comparison concludes, and the documents made of it.

#include "app/engine/compare/comparison_report.h"

#include <nlohmann/json.hpp>

#include "profiling/measure.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace {

using namespace sawtooth;

ComparedSide side_of(const std::string& variant, double us) {
    ComparedSide side{variant, "a processor", {}};
    side.parameters.set("length", int64_t{64});
    for (int round = 0; round < 9; ++round)
        side.rounds.push_back(statistics_of({us, us * 1.001, us * 0.999}));
    return side;
}

ComparedVariant compared(const std::string& variant, double a, double b) {
    ComparedVariant made{"scan", "", side_of(variant, a), side_of(variant, b)};
    made.comparison = compare_rounds(made.b.rounds, made.a.rounds, Met::in_turns);
    return made;
}

ComparisonReport report_of(std::vector<ComparedVariant> variants) {
    return {"block_size=256", "block_size=512", "in turns", "2026-11-26", "1.0", std::move(variants)};
}

ComparedVariant wrong_in_b() {
    ComparedVariant made = compared("blelloch", 10, 10);
    made.b.rounds.clear();
    made.b.wrong = "y is wrong: 1 of 9 elements, <worst> & \"more\"";
    return made;
}

ComparedVariant unknown() {
    ComparedVariant made = compared("three_phase", 10, 10);
    made.unknown = "it did not run in B: too large";
    return made;
}

TEST_CASE("the conclusion is the worst of all variants, and an exit code", "[compare]") {
    const ComparedVariant same = compared("lookback", 10, 10.01), slower = compared("sequential", 10, 11),
                          faster = compared("hillis_steele", 10, 9);
    CHECK(conclusion_of(same) == Conclusion::same_or_faster);
    CHECK(conclusion_of(faster) == Conclusion::same_or_faster);
    CHECK(conclusion_of(slower) == Conclusion::slower);
    CHECK(conclusion_of(wrong_in_b()) == Conclusion::wrong);
    CHECK(conclusion_of(unknown()) == Conclusion::cannot_tell);
    CHECK(conclusion_of(report_of({same, faster})) == Conclusion::same_or_faster);
    CHECK(conclusion_of(report_of({same, unknown(), faster})) == Conclusion::cannot_tell);
    CHECK(conclusion_of(report_of({unknown(), slower, same})) == Conclusion::slower);
    CHECK(conclusion_of(report_of({slower, wrong_in_b()})) == Conclusion::wrong);
    CHECK(conclusion_of(report_of({})) == Conclusion::cannot_tell);
    CHECK(static_cast<int>(Conclusion::same_or_faster) == 0);
    CHECK(static_cast<int>(Conclusion::slower) == 3);
    CHECK(static_cast<int>(Conclusion::wrong) == 4);
    CHECK(static_cast<int>(Conclusion::cannot_tell) == 5);
}

TEST_CASE("a comparison is said in words", "[compare]") {
    CHECK(words_of(compared("lookback", 10, 11)) == "1.1x slower");
    CHECK(words_of(compared("lookback", 11, 10)) == "1.1x faster");
    CHECK(words_of(compared("lookback", 10, 10)) == "same");
    CHECK(words_of(unknown()) == "cannot tell: it did not run in B: too large");
    CHECK(words_of(wrong_in_b()).starts_with("wrong in B: y is wrong"));
    CHECK(sentence_of(report_of({compared("lookback", 10, 11), compared("sequential", 10, 10)})) ==
          "B is slower than A in 1 of 2 variants: scan lookback (1.1x slower).");
    CHECK(sentence_of(report_of({compared("lookback", 11, 10), compared("sequential", 10, 10)})) ==
          "B is not slower than A in any of 2 variants, and faster in 1.");
    const ComparedVariant slow = compared("lookback", 10, 20);
    CHECK(sentence_of(report_of({slow, slow, slow, slow, slow})) ==
          "B is slower than A in 5 of 5 variants: scan lookback (2x slower); scan lookback (2x slower); scan "
          "lookback (2x slower); and 2 more.");
    CHECK(sentence_of(report_of({})) == "A and B have no variant in common.");
    ComparedVariant other = compared("lookback", 10, 10);
    other.b.variant = "three_phase";
    other.settings = "length 64";
    CHECK(name_of(other) == "scan lookback / three_phase, length 64");
}

TEST_CASE("the table has both times, their ratio and its interval", "[compare]") {
    const Table table = comparison_table(report_of({compared("lookback", 10, 11), wrong_in_b()}));
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0][1] == "10 us");
    CHECK(table.rows[0][2] == "11 us");
    CHECK(table.rows[0][3] == "1.100");
    CHECK(contains(table.rows[0][4], " to "));
    CHECK(table.rows[0][5] == "1.1x slower");
    CHECK(table.rows[1][2].empty());
}

TEST_CASE("JSON has every round and the exit code", "[compare]") {
    const auto json = nlohmann::json::parse(to_json(report_of({compared("lookback", 10, 11), wrong_in_b()})));
    CHECK(json["conclusion"] == "wrong");
    CHECK(json["exit_code"] == 4);
    CHECK(json["a"] == "block_size=256");
    const auto& first = json["variants"][0];
    CHECK(first["pace"] == "slower");
    CHECK(first["conclusion"] == "slower");
    CHECK(first["a"]["time_us"]["rounds"].size() == 9);
    CHECK(first["a"]["time_us"]["rounds"][0].size() == 3);
    CHECK(first["a"]["parameters"]["length"] == 64);
    CHECK(first["ratio"]["b_over_a"].get<double>() == Approx(1.1));
    CHECK(first["ratio"]["low"].get<double>() <= 1.1);
    CHECK(json["variants"][1]["b"]["time_us"].is_null());
    CHECK(json["variants"][1]["b"]["wrong"].is_string());
}

TEST_CASE("JUnit counts failures and skipped variants, and escapes texts", "[compare]") {
    ComparisonReport report = report_of({compared("lookback", 10, 11), wrong_in_b(), unknown()});
    report.name_b = "kernels=a\"b<c>&\x01";
    const std::string xml = comparison_junit(report);
    CHECK(contains(xml, "tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"1\""));
    CHECK(contains(xml, "kernels=a&quot;b&lt;c&gt;&amp;  against"));
    CHECK(contains(xml, "<failure type=\"slower\" message=\"1.1x slower\"/>"));
    CHECK(contains(xml, "<failure type=\"wrong\""));
    CHECK(contains(xml, "&lt;worst&gt; &amp; &quot;more&quot;"));
    CHECK(contains(xml, "<skipped message=\"cannot tell: it did not run in B: too large\"/>"));
    CHECK(contains(xml, "classname=\"sawtooth.compare.scan\" name=\"scan lookback\" time=\"0.000011000\""));
    CHECK(xml.find('\x01') == std::string::npos);
}

TEST_CASE("Markdown has the sentence, the table and what was not compared", "[compare]") {
    ComparisonReport report = report_of({compared("lookback", 10, 11)});
    report.not_compared = {"only in A: scan, length 8"};
    report.notes = {"a | b"};
    const std::string text = comparison_markdown(report);
    CHECK(text.starts_with("**B is slower than A in 1 of 1 variant: scan lookback (1.1x slower).**\n\nA: "));
    CHECK(contains(text, "| scan lookback |"));
    CHECK(contains(text, "- only in A: scan, length 8\n- note: a \\| b\n"));
}

}  // namespace
