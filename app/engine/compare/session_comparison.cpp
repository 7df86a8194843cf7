#include "app/engine/compare/session_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/engine/identity.h"
#include "app/engine/machine/devices.h"
#include "kernels/families.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

// The settings of a result that must be equal to compare it, as text by name.
using Settings = std::map<std::string, std::string>;

// The results of a session with the same settings on the same device, in the order in which they were
// measured.
struct Group {
    std::string family, device;
    Settings settings;
    std::vector<const SessionResult*> results;
};

std::string exact_text(const Value& value) {
    const auto* const real = std::get_if<double>(&value);
    return real ? fmt::format("{}", *real) : to_text(value);
}

Settings settings_of(const ResultSummary& summary) {
    Settings settings;
    const Request& request = summary.request;
    const Family* const family = find_family(request.family);
    const Parameters parameters =
        family ? family->acting(summary.parameters, summary.backend) : summary.parameters;
    for (const auto& [name, value] : parameters.values) {
        const Parameter* const row = family ? family->parameter(name) : nullptr;
        if (!row || row->renews != Renews::figures) settings[name] = exact_text(value);
    }
    settings["seed"] = std::to_string(request.seed);
    settings["values"] = name_of(request.values);
    settings["optional inputs"] = request.optional ? "true" : "false";
    settings["caches"] = request.cache == Cache::cold ? "cold" : "hot";
    settings["backend"] = name_of(summary.backend);
    settings["multiprocessors"] = std::to_string(request.multiprocessors);
    settings["jitter"] = std::to_string(request.jitter);
    return settings;
}

std::vector<Group> groups_of(const Session& session) {
    std::vector<Group> groups;
    for (const SessionResult& result : session.results) {
        const ResultSummary& summary = result.summary();
        Group group{summary.request.family, summary.device, settings_of(summary), {}};
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& other) {
            return other.family == group.family && other.device == group.device &&
                   other.settings == group.settings;
        });
        (same == groups.end() ? groups.emplace_back(std::move(group)) : *same).results.push_back(&result);
    }
    return groups;
}

// The settings that differ among the groups of a family: "length 8192, seed 2".
std::string words_of(const Group& group, const std::vector<Group>& all) {
    std::string words;
    for (const auto& [name, value] : group.settings) {
        const bool differs =
            std::any_of(all.begin(), all.end(), [&, &name = name, &value = value](const Group& other) {
                const auto found = other.settings.find(name);
                return other.family == group.family && found != other.settings.end() &&
                       found->second != value;
            });
        if (differs) words += (words.empty() ? "" : ", ") + name + " " + value;
    }
    return words;
}

// The variants of a group by name, and the clocks of its results.
struct Opened {
    std::vector<ComparedSide> variants;
    std::vector<Clocks> clocks;
};

ComparedSide& variant_named(const std::string& name, const Result& result,
                            std::vector<ComparedSide>& variants) {
    for (ComparedSide& side : variants)
        if (side.variant == name) return side;
    return variants.emplace_back(ComparedSide{name, result.device, result.parameters});
}

// Opens the last results of a group, at most `most`.
Outcome<Opened> opened(const Group& group, size_t most, const std::stop_token& stop) {
    Opened all;
    const size_t count = std::min(most, group.results.size());
    for (auto result = group.results.end() - static_cast<std::ptrdiff_t>(count);
         result != group.results.end(); ++result) {
        if (stop.stop_requested()) return Error::cancelled();
        const auto whole = (*result)->open();
        if (!whole) return whole.error();
        const Result& made = *whole->result;
        if (made.clocks) all.clocks.push_back(*made.clocks);
        for (const VariantResult& variant : made.variants) {
            if (!variant.ran()) continue;
            ComparedSide& side = variant_named(variant.name, made, all.variants);
            // The newest result decides whether it is right.
            side.wrong = variant.verdict() == Verdict::wrong ? wrong_sentence(variant) : "";
            if (has_speed(variant)) side.rounds.push_back(*variant.time);
        }
    }
    return all;
}

double usual_clock(const std::vector<Clocks>& clocks) {
    std::vector<double> mhz;
    for (const Clocks& each : clocks) mhz.push_back(each.after_mhz);
    std::sort(mhz.begin(), mhz.end());
    return mhz[mhz.size() / 2];
}

// Why clocks forbid a comparison; "" if they do not, or are not known.
std::string clock_problem(const std::vector<Clocks>& a, const std::vector<Clocks>& b) {
    constexpr double most_apart = 0.02;
    for (const auto& [name, clocks] : {std::pair("A", &a), std::pair("B", &b)})
        for (const Clocks& each : *clocks)
            if (!each.throttled.empty())
                return fmt::format("the clock was throttled in {} ({})", name, each.throttled);
    if (a.empty() || b.empty()) return "";
    const double one = usual_clock(a), other = usual_clock(b);
    if (std::fabs(one - other) <= most_apart * std::max(one, other)) return "";
    return fmt::format("the clock was {:.0f} MHz in A and {:.0f} MHz in B", one, other);
}

// Leaves the last rounds, as many as both have.
void make_even(ComparedVariant& variant) {
    const size_t count = std::min(variant.a.rounds.size(), variant.b.rounds.size());
    for (auto* const rounds : {&variant.a.rounds, &variant.b.rounds})
        rounds->erase(rounds->begin(), rounds->end() - static_cast<std::ptrdiff_t>(count));
}

// Why a variant cannot be told whatever its times are; "" if it can be tried.
std::string why_unknown(const ComparedVariant& variant, const std::string& problem) {
    if (variant.a.rounds.empty()) return "it was not timed in both";
    if (!problem.empty()) return problem;
    const bool is_left_out = variant.comparison.ratio == 0;
    return is_left_out ? "other programs disturbed the repeats" : "";
}

class SessionComparison {
  public:
    SessionComparison(const Session& a, const Session& b) : groups_a_(groups_of(a)), groups_b_(groups_of(b)) {
        all_ = groups_a_;
        all_.insert(all_.end(), groups_b_.begin(), groups_b_.end());
    }

    std::optional<Error> run(const std::stop_token& stop, ComparisonReport& report) const {
        for (const Group& group : groups_a_) {
            const Group* const partner = find(groups_b_, group, true);
            if (!partner) {
                list_alone(group, "A", groups_b_, report);
            } else if (auto error = compare(group, *partner, stop, report)) {
                return error;
            }
        }
        for (const Group& group : groups_b_)
            if (!find(groups_a_, group, true)) list_alone(group, "B", groups_a_, report);
        add_note(report);
        return {};
    }

  private:
    static const Group* find(const std::vector<Group>& groups, const Group& wanted, bool same_device) {
        for (const Group& group : groups)
            if (group.family == wanted.family && group.settings == wanted.settings &&
                (!same_device || group.device == wanted.device))
                return &group;
        return nullptr;
    }

    std::string title(const Group& group) const {
        const std::string words = words_of(group, all_);
        return group.family + (words.empty() ? "" : ", " + words);
    }

    void list_alone(const Group& group, const char* own, const std::vector<Group>& others,
                    ComparisonReport& report) const {
        const bool is_elsewhere = find(others, group, false) != nullptr;
        report.not_compared.push_back(
            fmt::format("only in {}: {}{}", own, title(group), is_elsewhere ? ", on " + group.device : ""));
    }

    std::optional<Error> compare(const Group& a, const Group& b, const std::stop_token& stop,
                                 ComparisonReport& report) const {
        constexpr size_t most = 50;  // more rounds decide nothing that these do not
        auto of_a = opened(a, most, stop);
        if (!of_a) return of_a.error();
        auto of_b = opened(b, most, stop);
        if (!of_b) return of_b.error();
        const std::string problem = clock_problem(of_a->clocks, of_b->clocks);
        const std::string words = words_of(a, all_);
        for (const ComparedSide& one : of_a->variants) {
            const auto other =
                std::find_if(of_b->variants.begin(), of_b->variants.end(),
                             [&](const ComparedSide& each) { return each.variant == one.variant; });
            if (other == of_b->variants.end()) {
                report.not_compared.push_back(fmt::format("only in A: {}, {}", title(a), one.variant));
                continue;
            }
            ComparedVariant variant{a.family, words, one, *other};
            make_even(variant);
            variant.comparison = compare_rounds(variant.b.rounds, variant.a.rounds, Met::apart);
            variant.unknown = why_unknown(variant, problem);
            report.variants.push_back(std::move(variant));
        }
        for (const ComparedSide& other : of_b->variants)
            if (std::none_of(report.variants.begin(), report.variants.end(),
                             [&](const ComparedVariant& each) {
                                 return each.family == b.family && each.settings == words &&
                                        each.b.variant == other.variant;
                             }))
                report.not_compared.push_back(fmt::format("only in B: {}, {}", title(b), other.variant));
        return {};
    }

    static void add_note(ComparisonReport& report) {
        const bool has_few = std::any_of(
            report.variants.begin(), report.variants.end(),
            [](const ComparedVariant& variant) { return variant.a.rounds.size() < least_rounds_to_tell; });
        if (has_few)
            report.notes.push_back(fmt::format(
                "fewer than {} results of the same settings in a file do not show how far equal results lie "
                "apart: then only times that differ by more than a factor of {:g} are told apart",
                least_rounds_to_tell, apart_within));
    }

    std::vector<Group> groups_a_, groups_b_, all_;
};

}  // namespace

Outcome<ComparisonReport> compare_sessions(const Session& a, const Session& b, const std::string& name_a,
                                           const std::string& name_b, std::stop_token stop) {
    ComparisonReport report{name_a, name_b, "apart, by stored results", today(), build_identity()};
    if (auto error = SessionComparison(a, b).run(stop, report)) return *error;
    return report;
}

}  // namespace sawtooth
