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
    std::optional<double> seconds;  // how long to go on; absent: the whole battery once
    bool only_first = false;        // ends at the first wrong variant
    double patience = 10;           // seconds that a Request may take; a slower one is given up
    int64_t most = 0;               // Requests; 0: the whole battery
    // Of several processes that share the battery, this one takes every `parts`th Request.
    int64_t part = 0, parts = 1;
    // To go on where an earlier check ended: Requests to leave out, and variants that are wrong already.
    int64_t first = 0;
    std::vector<std::string> leave_out;
};

// A variant that is wrong, with the smallest Request found that shows it.
struct Finding {
    std::string variant;
    Request request;
    std::string problem;          // why it could not run; "": `verdict` tells
    OutputVerdict verdict;        // of the first wrong output
    int64_t number = 0;           // of the Request in the battery that found it
    double seconds = 0;           // after the begin of the check
    std::vector<Figure> figures;  // got, want and their difference
};

// How far a check of one family has come.
struct CheckReport {
    std::string family, device;
    int64_t tried = 0;         // Requests
    int64_t next = 0;          // in the battery: every Request before this place was tried
    int64_t size = 0;          // of the battery; 0: it goes on until the time is up
    int64_t judged = 0;        // outputs
    int64_t cannot_judge = 0;  // of them
    int64_t given_up = 0;      // Requests without an answer: too slow, too large, or without a definition
    double seconds = 0;
    std::optional<Request> trying;
    int64_t trying_number = 0;  // its place in the battery
    std::vector<Finding> findings;
    bool complete = false;
};

// Whether any output was judged: otherwise no finding means nothing.
bool has_judged(const CheckReport& report);
// "scan on …: 600 settings, 914 outputs judged, 8.1 s: no variant is wrong"
std::string summary_of(const CheckReport& report);
// "lookback: length 129, op sum"
std::string setting_words(const Request& request);
// "y is wrong: 12 of 32,768 elements, the worst at [0, 65]: …"
std::string sentence_of(const Finding& finding);
// The command that shows it again.
std::string command_of(const Finding& finding);

}  // namespace sawtooth
