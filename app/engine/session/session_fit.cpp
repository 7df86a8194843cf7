#include "app/engine/session/session_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/engine/run/configure.h"
#include "app/engine/wire/checked.h"
#include "kernels/core/table.h"
#include "kernels/core/typed_values.h"

namespace sawtooth {
namespace {

// Equal notes on many results are one line.
class Notes {
  public:
    void add(const std::string& words) {
        for (auto& [known, times] : counted_)
            if (known == words) {
                ++times;
                return;
            }
        if (counted_.size() < most)
            counted_.emplace_back(words, 1);
        else
            ++others_;
    }
    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        for (const auto& [words, times] : counted_)
            lines.push_back(times == 1 ? words : fmt::format("{} ({} times)", words, times));
        if (others_ > 0) lines.push_back(fmt::format("{} more notes of this kind", others_));
        return lines;
    }

  private:
    static constexpr size_t most = 20;
    std::vector<std::pair<std::string, int64_t>> counted_;
    int64_t others_ = 0;
};

const Family* family_named(const std::string& name) {
    const auto family = find_offered_family(name);
    return family ? *family : nullptr;
}

bool is_measure(const std::optional<double>& value) {
    return !value || (std::isfinite(*value) && *value >= 0);
}

class Fitter {
  public:
    explicit Fitter(SessionIndex& index) : index_(index) {}

    // Returns what no build writes; "" if there is nothing.
    std::string fit() {
        if (std::string words = fit_results(); !words.empty()) return words;
        for (const auto place : {&Fitter::fit_places, &Fitter::fit_sweeps, &Fitter::fit_notes})
            if (std::string words = (this->*place)(); !words.empty()) return words;
        fit_benches();
        if (!family_named(index_.family)) index_.family.clear();
        return "";
    }
    FittedIndex take() && { return {std::move(places_), notes_.lines(), is_partial_}; }

  private:
    void leave_out(const std::string& words) {
        notes_.add(words);
        is_partial_ = true;
    }

    void fit_values(Parameters& parameters, const Family& family) {
        std::erase_if(parameters.values, [&](const auto& held) {
            const Parameter* const row = family.parameter(held.first);
            if (!row) {
                notes_.add(fmt::format("parameter {} of {} is unknown to this build and left out", held.first,
                                       family.name));
                return true;
            }
            const auto refusal = row->check(held.second);
            if (refusal) notes_.add(refusal->sentence() + "; the value is left out");
            return refusal.has_value();
        });
    }

    void add_missing(Parameters& parameters, const Family& family, Backend backend) {
        Parameters whole = family.defaults();
        std::vector<std::string> missing;
        for (const Parameter& row : family.parameters)
            if (!parameters.has(row.name)) missing.push_back(row.name);
        if (missing.empty()) return;
        for (const auto& [name, value] : parameters.values) whole.set(name, value);
        if (family.settle) family.settle(whole, {}, backend);
        for (const std::string& name : missing) {
            notes_.add(fmt::format("parameter {} of {} is not in the file; its default {} is shown", name,
                                   family.name, to_text(whole.at(name))));
            parameters.set(name, whole.at(name));
        }
    }

    // Returns what is wrong; "" if nothing is.
    std::string fit_request(Request& request, const Family& family) {
        request = portable(std::move(request));
        std::erase_if(request.variants, [&](const std::string& name) { return !family.variant(name); });
        const auto has_preset = [&](const Preset& preset) { return preset.name == request.preset; };
        if (std::none_of(family.presets.begin(), family.presets.end(), has_preset)) request.preset.clear();
        fit_values(request.parameters, family);
        if (const auto error = check_numbers(request)) return error->text;
        if (request.time_limit_seconds && !(*request.time_limit_seconds > 0))
            return "a time limit that is no time";
        if (request.memory_limit_bytes && *request.memory_limit_bytes < 0) return "a negative memory limit";
        return "";
    }

    std::string fit_summary(ResultSummary& summary, const Family& family) {
        if (std::string words = fit_request(summary.request, family); !words.empty()) return words;
        fit_values(summary.parameters, family);
        add_missing(summary.parameters, family, summary.backend);
        std::erase_if(summary.variants, [&](ResultSummary::Variant& variant) {
            const Variant* const row = family.variant(variant.name);
            if (row) variant.index = static_cast<int>(row - family.variants.data());
            if (!row)
                notes_.add(fmt::format("variant {} of {} is unknown to this build and left out", variant.name,
                                       family.name));
            return !row;
        });
        for (const ResultSummary::Variant& variant : summary.variants)
            if (!is_measure(variant.median_us) || !is_measure(variant.rel_l2))
                return "a time or an error that is no number";
        return "";
    }

    std::string fit_results() {
        std::vector<ResultSummary> kept;
        for (ResultSummary& summary : index_.results) {
            places_.emplace_back();
            const Family* const family = family_named(summary.request.family);
            if (!family) {
                leave_out(
                    fmt::format("a result of family \"{}\", which this build does not have, is left out",
                                summary.request.family));
                continue;
            }
            if (std::string words = fit_summary(summary, *family); !words.empty())
                return fmt::format("result {} has {}", places_.size(), words);
            const auto refusal = family->check ? family->check(summary.parameters) : std::nullopt;
            if (refusal) {
                leave_out(fmt::format("a result of {} is left out: {}", family->name, refusal->sentence()));
                continue;
            }
            places_.back() = kept.size();
            kept.push_back(std::move(summary));
        }
        index_.results = std::move(kept);
        return "";
    }

    // Moves an index to the place of its result. False: there is none, because it was left out.
    bool move(uint64_t& result) {
        if (!places_[result]) return false;
        result = *places_[result];
        return true;
    }
    std::string no_such_result(const char* what, uint64_t result) const {
        return fmt::format("{} names result {} of {}", what, result + 1, places_.size());
    }

    std::string fit_places() {
        for (const uint64_t result : index_.history)
            if (result >= places_.size()) return no_such_result("the history", result);
        std::erase_if(index_.history, [&](uint64_t& result) { return !move(result); });
        for (const SessionPin& pin : index_.pins)
            if (pin.result >= places_.size()) return no_such_result("a pin", pin.result);
        std::erase_if(index_.pins, [&](SessionPin& pin) { return !move(pin.result); });
        return "";
    }

    std::string fit_notes() {
        for (const SessionNote& note : index_.notes) {
            if (note.result && *note.result >= places_.size()) return no_such_result("a note", *note.result);
            if (!std::isfinite(note.x) || !std::isfinite(note.y)) return "a note has no place";
        }
        std::erase_if(index_.notes, [&](SessionNote& note) { return note.result && !move(*note.result); });
        return "";
    }

    // Whether this build has all that the axes name.
    static bool knows(const std::vector<SweepAxis>& axes, const Family& family) {
        const auto accepts = [&](const std::string& name, const std::vector<Value>& values) {
            const Parameter* const row = family.parameter(name);
            return row && std::none_of(values.begin(), values.end(),
                                       [&](const Value& value) { return row->check(value).has_value(); });
        };
        return std::all_of(axes.begin(), axes.end(), [&](const SweepAxis& axis) {
            return accepts(axis.parameter, axis.values) &&
                   std::all_of(axis.also.begin(), axis.also.end(),
                               [&](const std::string& name) { return accepts(name, axis.values); });
        });
    }

    // Figures of a family rely on its axes, variants and parameters, of which an older file may lack some:
    // any other sweep is drawn as one of the user.
    static void fit_id(Sweep& sweep, const Family& family) {
        if (sweep.id.empty()) return;
        Parameters parameters = family.defaults();
        for (const auto& [name, value] : sweep.base.parameters.values) parameters.set(name, value);
        const bool is_possible = family.sweeps && !(family.check && family.check(parameters));
        const auto own = is_possible ? family.sweeps(parameters) : std::vector<FigureSweep>();
        const auto is_like = [](const SweepAxis& axis, const SweepAxis& other) {
            const auto has_kind_of = [&](const Value& value) {
                return std::any_of(other.values.begin(), other.values.end(),
                                   [&](const Value& own) { return own.index() == value.index(); });
            };
            return axis.parameter == other.parameter && axis.also == other.also &&
                   std::all_of(axis.values.begin(), axis.values.end(), has_kind_of);
        };
        const bool is_own = std::any_of(own.begin(), own.end(), [&](const FigureSweep& other) {
            if (!other.variants.empty() && other.variants != sweep.base.variants) return false;
            return other.id == sweep.id && std::equal(sweep.axes.begin(), sweep.axes.end(),
                                                      other.axes.begin(), other.axes.end(), is_like);
        });
        if (is_own)
            sweep.base.parameters = std::move(parameters);
        else
            sweep.id.clear();
    }

    std::string fit_cells(SessionSweep& sweep) {
        const std::vector<SweepAxis>& axes = sweep.sweep.axes;
        const auto is_empty = [](const SweepAxis& axis) { return axis.values.empty(); };
        if (axes.empty() || axes.size() > 2 || std::any_of(axes.begin(), axes.end(), is_empty))
            return "a sweep has no cells";
        if (std::any_of(axes.begin(), axes.end(),
                        [](const SweepAxis& axis) { return axis.values.size() > most_swept_values; }))
            return fmt::format("a sweep has an axis of more than {} values", most_swept_values);
        uint64_t next = 0;
        for (SessionSweep::Cell& cell : sweep.cells) {
            if (cell.index < next) return "the cells of a sweep are not in order";
            if (cell.index >= sweep.sweep.cells()) return "a sweep has too many cells";
            next = cell.index + 1;
            cell.values = sweep.sweep.cell(cell.index);
            if (!cell.result) continue;
            if (*cell.result >= places_.size()) return no_such_result("a sweep", *cell.result);
            if (!move(*cell.result)) {
                cell.result.reset();
                cell.refused = "left out of the session";
            } else if (index_.results[*cell.result].request.family != sweep.sweep.base.family) {
                return "a sweep has results of another family";
            }
        }
        return "";
    }

    std::string fit_sweeps() {
        std::vector<SessionSweep> kept;
        for (SessionSweep& sweep : index_.sweeps) {
            const std::string& name = sweep.sweep.base.family;
            const Family* const family = family_named(name);
            if (!family || !knows(sweep.sweep.axes, *family)) {
                leave_out(
                    fmt::format("a sweep of {} over values that this build does not have is left out", name));
                continue;
            }
            if (std::string words = fit_request(sweep.sweep.base, *family); !words.empty())
                return "a sweep has " + words;
            fit_id(sweep.sweep, *family);
            if (std::string words = fit_cells(sweep); !words.empty()) return words;
            kept.push_back(std::move(sweep));
        }
        index_.sweeps = std::move(kept);
        return "";
    }

    void fit_benches() {
        std::erase_if(index_.benches, [&](const BenchReport& report) {
            const auto checked = checked_bench(report);
            if (!checked) leave_out("a report of bench is left out: " + checked.error().text);
            return !checked;
        });
    }

    SessionIndex& index_;
    std::vector<std::optional<uint64_t>> places_;
    Notes notes_;
    bool is_partial_ = false;
};

}  // namespace

Outcome<FittedIndex> fit(SessionIndex& index) {
    Fitter fitter(index);
    if (const std::string words = fitter.fit(); !words.empty()) return Error::usage(words);
    return std::move(fitter).take();
}

void fit_variants(Result& result, const Family& family) {
    std::erase_if(result.variants, [&](VariantResult& variant) {
        const Variant* const row = family.variant(variant.name);
        if (row) variant.index = static_cast<int>(row - family.variants.data());
        return !row;
    });
    std::stable_sort(result.variants.begin(), result.variants.end(),
                     [](const VariantResult& a, const VariantResult& b) { return a.index < b.index; });
}

}  // namespace sawtooth
