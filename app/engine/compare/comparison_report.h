#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/core/parameter.h"
#include "kernels/core/result.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"

namespace sawtooth {

// A variant on one side of a comparison.
struct ComparedSide {
    std::string variant, device;
    Parameters parameters;
    std::vector<TimeStatistics> rounds = {};
    std::string wrong = {};  // "y is wrong: …"; "" if it is not
};

// A variant on both sides, A and B.
struct ComparedVariant {
    std::string family;
    std::string settings;  // "length 8192", if the report has others of this variant; otherwise ""
    ComparedSide a, b;
    Comparison comparison = {};  // of B against A: "faster" means that B is
    std::string unknown = {};    // why it cannot be told, if not for noise
};

// What B is to A, for a variant or for all of them. Its value is the exit code of the program.
enum class Conclusion { same_or_faster = 0, slower = 3, wrong = 4, cannot_tell = 5 };
std::string_view name_of(Conclusion conclusion);  // "same_or_faster", "cannot_tell"

struct ComparisonReport {
    std::string name_a, name_b;  // "block_size=256", "before.sawtooth"
    std::string how;             // "in turns, 9 rounds of 9 repeats"
    std::string date, version;
    std::vector<ComparedVariant> variants = {};
    std::vector<std::string> not_compared = {};  // "only in A: scan blelloch", one line each
    std::vector<std::string> notes = {};
};

Conclusion conclusion_of(const ComparedVariant& variant);
// The worst of all variants: wrong, slower, cannot tell, same or faster; cannot tell if there are none.
Conclusion conclusion_of(const ComparisonReport& report);

// "scan lookback, length 8192", "scan lookback / three_phase"
std::string name_of(const ComparedVariant& variant);
// All samples of all rounds; absent if there are none.
std::optional<TimeStatistics> time_of(const ComparedSide& side);
// "B is 1.03x slower", "same", "cannot tell: …", "B is wrong: …"
std::string words_of(const ComparedVariant& variant);
// "B is slower than A in 1 of 5 variants: scan lookback (1.03x)."
std::string sentence_of(const ComparisonReport& report);

// One row per variant with both times, their ratio B / A with its interval, and the verdict.
Table comparison_table(const ComparisonReport& report);
// A page for a comment on a change: the sentence, the table, what was not compared and the notes.
std::string comparison_markdown(const ComparisonReport& report);
// The format that systems for continuous integration read: a test case per variant, a failure if it is slower
// or wrong, skipped if it cannot be told.
std::string comparison_junit(const ComparisonReport& report);
// The document of --json.
std::string to_json(const ComparisonReport& report);

}  // namespace sawtooth
