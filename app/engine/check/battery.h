#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "app/engine/check/draw.h"
#include "app/engine/run/planned_kernels.h"
#include "kernels/core/request.h"

namespace sawtooth {

// Makes Requests that let wrong kernels of a family fail, in an order that finds most of them early. The
// sequence is endless, and the same for the same `base`, which chooses family, variants, backend and seed.
class Battery {
  public:
    Battery(const Family& family, Request base, const Chip& chip);

    // The next Request, for one variant; variants take turns. Absent if none can be drawn for any variant.
    std::optional<Request> next();
    // The number of Requests in a complete check.
    int64_t size() const;
    const std::vector<const Variant*>& variants() const { return variants_; }

  private:
    // What a Request tries: values of parameters and pairs of them, places of a length in tiles, kinds of
    // numbers.
    using Facts = std::unordered_set<std::string>;
    struct Candidate {
        Request request;
        Parameters values;                 // of the Request, with automatic ones settled
        Facts facts, places, kernels;      // places: in tiles; kernels: values that they are compiled for
        Facts choices, tiles;              // GPU kernels with choices, and these with numbers of tiles
        Facts paths;                       // GPU kernels with the conditions that they meet
        Facts strange;                     // where the infinity or NaN is
        std::vector<std::string> sources;  // the kernels, with jitter and all defines
    };
    std::optional<Request> best_for(const Variant& variant);
    std::optional<Candidate> draw(const Variant& variant, const Parameters& kept, bool new_kernels);
    double newness(const Facts& facts) const;
    double newness_of_many(const Facts& facts) const;
    double share_not_compiled(const Candidate& candidate) const;
    int new_kernels_of(const Candidate& candidate) const;
    double share_of_wide_dimensions(const Candidate& candidate) const;
    bool wants_new_kernels(const Variant& variant) const;
    Parameters least_tried_kernels(const Variant& variant);
    Parameters compiled_widths(const Variant& variant, const Candidate& candidate) const;
    struct Choice {
        std::string fact;
        Parameters value;
    };
    std::optional<Choice> least_tried_choice(const Variant& variant);
    int64_t round() const;
    bool wants_strange_number() const;
    int64_t turn_of_variant() const;
    int jitter() const;
    bool wants_few_multiprocessors() const;
    Facts facts_of(const Variant& variant, const Candidate& candidate) const;
    Facts facts_of_kernels(const Variant& variant, const Candidate& candidate) const;
    Facts choices_of_kernels(const Variant& variant, const Candidate& candidate) const;
    Facts with_tiles(const Facts& facts, const Variant& variant, const Candidate& candidate) const;
    Facts places_in_tiles(const Variant& variant, const Candidate& candidate) const;
    Facts paths_of(const Candidate& candidate) const;
    Facts strange_numbers_of(const Variant& variant, const Candidate& candidate) const;

    const Family& family_;
    Request base_;
    Chip chip_;
    Random random_;
    std::vector<const Variant*> variants_;
    size_t turn_ = 0;
    std::unordered_map<std::string, int> tried_;  // how often each fact was tried
    PlannedKernels planned_;
    std::unordered_set<std::string> sources_;  // the kernels of earlier Requests
    // The choices and tiles of an earlier Request of a variant with a jitter, for which kernels are compiled,
    // with its widths and the number of times that they were used again.
    struct Compiled {
        Parameters values, widths;
        int used = 0;
    };
    std::map<std::pair<const Variant*, int>, std::vector<Compiled>> compiled_;
    std::map<std::string, int> chosen_;  // how often each choice was requested
    std::set<std::string> impossible_;   // choices that the variant does not accept
};

}  // namespace sawtooth
