#include "app/engine/compare/session_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "app/engine/identity.h"
#include "app/engine/machine/devices.h"
#include "kernels/families.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

// The settings of a result that must be equal to compare it, as text by name.
using Settings = std::map<std::string, std::string>;

// What results must have in common to be compared.
struct Common {
    std::string family, device;
    Settings settings;

    bool operator<(const Common& other) const {
        return std::tie(family, device, settings) < std::tie(other.family, other.device, other.settings);
    }
};

// The results of a session that have this in common, in the order in which they were measured.
struct Group {
    Common common;
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

// The groups of a session, in the order of their first results.
class Groups {
  public:
    explicit Groups(const Session& session) {
        for (const SessionResult& result : session.results) {
            const ResultSummary& summary = result.summary();
            Common common{summary.request.family, summary.device, settings_of(summary)};
            const auto [place, is_new] = places_.try_emplace(common, all_.size());
            if (is_new) all_.push_back({std::move(common), {}});
            all_[place->second].results.push_back(&result);
        }
    }

    const std::vector<Group>& all() const { return all_; }
    const Group* find(const Common& common) const {
        const auto place = places_.find(common);
        return place == places_.end() ? nullptr : &all_[place->second];
    }

  private:
    std::vector<Group> all_;
    std::map<Common, size_t> places_;  // in all_
};

// Tells the groups of a family apart by what differs among them: "length 8192, seed 2, on a GPU".
class Differences {
  public:
    void add(const Groups& groups) {
        for (const Group& group : groups.all())
            for (const auto& [name, value] : facts_of(group.common))
                values_[{group.common.family, name}].insert(value);
    }
    std::string words_of(const Common& common) const {
        std::string words;
        for (const auto& [name, value] : facts_of(common))
            if (values_.at({common.family, name}).size() > 1)
                words += (words.empty() ? "" : ", ") + name + " " + value;
        return words;
    }

  private:
    static std::vector<std::pair<std::string, std::string>> facts_of(const Common& common) {
        std::vector<std::pair<std::string, std::string>> facts(common.settings.begin(),
                                                               common.settings.end());
        facts.emplace_back("on", common.device);
        return facts;
    }

    std::map<std::pair<std::string, std::string>, std::set<std::string>> values_;  // by family and name
};

// The variants of a group by name, and the clocks of its results.
struct Opened {
    std::vector<ComparedSide> variants;
    std::vector<Clocks> clocks;
};

ComparedSide* find_variant(std::vector<ComparedSide>& variants, const std::string& name) {
    const auto found = std::find_if(variants.begin(), variants.end(),
                                    [&](const ComparedSide& side) { return side.variant == name; });
    return found == variants.end() ? nullptr : &*found;
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
            ComparedSide* side = find_variant(all.variants, variant.name);
            if (!side)
                side = &all.variants.emplace_back(ComparedSide{variant.name, made.device, made.parameters});
            // The newest result decides whether it is right.
            side->wrong = variant.verdict() == Verdict::wrong ? wrong_sentence(variant) : "";
            if (has_speed(variant)) side->rounds.push_back(*variant.time);
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
std::string why_unknown(const ComparedVariant& variant, const std::string& problem, Backend backend) {
    if (variant.a.rounds.empty()) return "it was not timed in both";
    if (!problem.empty()) return problem;
    const bool is_left_out = variant.comparison.ratio == 0;
    return is_left_out ? disturbance_words(backend) + " in more than a third of the repeats" : "";
}

class SessionComparison {
  public:
    SessionComparison(const Session& a, const Session& b) : groups_a_(a), groups_b_(b) {
        differences_.add(groups_a_);
        differences_.add(groups_b_);
    }

    std::optional<Error> run(const std::stop_token& stop, ComparisonReport& report) const {
        for (const Group& group : groups_a_.all()) {
            const Group* const partner = groups_b_.find(group.common);
            if (!partner) {
                report.not_compared.push_back("only in A: " + title(group));
            } else if (auto error = compare(group, *partner, stop, report)) {
                return error;
            }
        }
        for (const Group& group : groups_b_.all())
            if (!groups_a_.find(group.common)) report.not_compared.push_back("only in B: " + title(group));
        add_note(report);
        return {};
    }

  private:
    std::string title(const Group& group) const {
        const std::string words = differences_.words_of(group.common);
        return group.common.family + (words.empty() ? "" : ", " + words);
    }

    std::optional<Error> compare(const Group& a, const Group& b, const std::stop_token& stop,
                                 ComparisonReport& report) const {
        constexpr size_t most = 50;  // more rounds decide nothing that these do not
        auto of_a = opened(a, most, stop);
        if (!of_a) return of_a.error();
        auto of_b = opened(b, most, stop);
        if (!of_b) return of_b.error();
        const std::string problem = clock_problem(of_a->clocks, of_b->clocks);
        const Backend backend = a.results.front()->summary().backend;
        for (const ComparedSide& one : of_a->variants) {
            const ComparedSide* const other = find_variant(of_b->variants, one.variant);
            if (!other) {
                report.not_compared.push_back(fmt::format("only in A: {}, {}", title(a), one.variant));
                continue;
            }
            ComparedVariant variant{a.common.family, differences_.words_of(a.common), one, *other};
            make_even(variant);
            variant.comparison = compare_rounds(variant.b.rounds, variant.a.rounds, Met::apart);
            variant.unknown = why_unknown(variant, problem, backend);
            report.variants.push_back(std::move(variant));
        }
        for (const ComparedSide& other : of_b->variants)
            if (!find_variant(of_a->variants, other.variant))
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

    Groups groups_a_, groups_b_;
    Differences differences_;
};

}  // namespace

Outcome<ComparisonReport> compare_sessions(const Session& a, const Session& b, const std::string& name_a,
                                           const std::string& name_b, std::stop_token stop) {
    ComparisonReport report{name_a, name_b, "apart, by stored results", today(), build_identity()};
    if (auto error = SessionComparison(a, b).run(stop, report)) return *error;
    return report;
}

}  // namespace sawtooth
