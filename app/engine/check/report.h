#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/request.h"
#include "kernels/core/result.h"

namespace sawtooth {

// What to check: the family, variants, backend, device, kernels and seed of `base`.
struct CheckRequest {
    Request base;
    std::optional<double> seconds;  // how long to continue; absent: the whole battery once
    bool only_first = false;        // ends at the first wrong variant
    double patience = 10;           // seconds for the runs of a Request; a slower one is given up
    int64_t most = 0;               // the largest number of Requests; 0: the whole battery
    // If several processes share the battery, this one takes every `parts`-th Request, from `part` on.
    int64_t part = 0, parts = 1;
    // To continue an earlier check: the number of Requests to leave out, and the variants already found
    // wrong.
    int64_t first = 0;
    std::vector<std::string> leave_out;
};

// A variant that is wrong, with the smallest Request found that shows it.
struct Finding {
    std::string variant;
    Request request;
    std::string problem;          // why it could not run; "": see `verdict`
    OutputVerdict verdict;        // the verdict on the first wrong output
    int64_t number = 0;           // the place in the battery of the Request that found it; -1: unknown
    double seconds = 0;           // since the check began
    std::vector<Figure> figures;  // what it computed, what is right, and the difference
};

// The progress of a check of one family.
struct CheckReport {
    std::string family, device;
    int64_t tried = 0;         // the number of Requests
    int64_t next = 0;          // a place in the battery: every Request before it was tried
    int64_t size = 0;          // Requests in the battery; 0: the check continues until the time is up
    int64_t judged = 0;        // the number of outputs
    int64_t cannot_judge = 0;  // the number of outputs among these without a verdict
    int64_t given_up = 0;      // Requests without an answer: too slow, too large, or not defined
    double seconds = 0;
    std::optional<Request> trying;
    int64_t trying_number = 0;  // its place in the battery
    std::vector<Finding> findings;
    bool complete = false;
};

// Returns whether any output was judged. If none was, a report without findings means nothing.
bool has_judged(const CheckReport& report);
// One line: "scan on …: 600 settings, 914 outputs judged, 8.1 s: no variant is wrong"; " so far" if the check
// is not complete.
std::string summary_of(const CheckReport& report);
// One line: "lookback: length 129, op sum".
std::string setting_words(const Request& request);
// One sentence: "y is wrong: 12 of 32,768 elements, the worst at [0, 65]: …".
std::string sentence_of(const Finding& finding);
// The command that reproduces the finding; "" if its Request is unknown.
std::string command_of(const Finding& finding);

}  // namespace sawtooth
