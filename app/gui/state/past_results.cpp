#include "app/gui/state/past_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "app/engine/guarded.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/tables/result_names.h"
#include "app/gui/state/checking.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/history.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/kept_times.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/local_time.h"
#include "app/gui/state/notes.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/result_settings.h"
#include "app/gui/state/selection.h"
#include "app/gui/state/sweeps.h"
#include "app/gui/state/trail.h"
#include "kernels/core/table.h"

namespace sawtooth {
namespace {

constexpr const char* date_format = "%Y-%m-%d %H:%M:%S";

std::string date_now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, date_format, &utc);
    return text;
}

const OutputError* main_error(const Result& result, const VariantResult& variant) {
    for (const OutputError& error : variant.errors)
        if (error.output == result.main_output) return &error;
    return variant.errors.empty() ? nullptr : &variant.errors.front();
}

std::vector<ResultSummary::Variant> variants_of(const Result& result) {
    std::vector<ResultSummary::Variant> variants;
    for (const VariantResult& variant : result.variants) {
        if (!variant.ran()) continue;
        ResultSummary::Variant& made = variants.emplace_back();
        made.name = variant.name;
        made.verdict = variant.verdict();
        if (variant.time) made.median_us = variant.time->median;
        if (const OutputError* const error = main_error(result, variant)) made.rel_l2 = error->rel_l2;
    }
    return variants;
}

// A wrong variant may be fast because it is wrong.
void keep_numbers(PastResult& past, const std::vector<ResultSummary::Variant>& variants) {
    const ResultSummary::Variant* fastest = nullptr;
    for (const ResultSummary::Variant& variant : variants) {
        const bool is_wrong = variant.verdict == Verdict::wrong;
        if (is_wrong) past.wrong.push_back(variant.name);
        if (is_wrong || !variant.median_us) continue;
        if (!fastest || *variant.median_us < *fastest->median_us) fastest = &variant;
    }
    if (!fastest) return;
    past.variant = fastest->name;
    past.median_us = fastest->median_us;
    past.rel_l2 = fastest->rel_l2;
}

void take_packed(LabState& lab, uint64_t ticket) {
    for (PastResult& past : lab.past_results)
        if (past.ticket == ticket) {
            past.result.reset();
            past.figures.reset();
        }
}

// Thousands of launches and points take milliseconds to pack, so that is done in the background.
void pack(LabState& lab, PastResult& past) {
    past.packed = std::make_shared<SessionResult>();
    const auto act = [packed = past.packed, result = past.result, figures = past.figures,
                      date = past.date]() -> std::optional<Error> {
        *packed = SessionResult(*result, figures, date);
        return {};
    };
    lab.files->add(fmt::format("result {}", past.ticket), act,
                   [ticket = past.ticket](LabState& later, const std::optional<Error>& problem) {
                       if (!problem) return take_packed(later, ticket);
                       note(later, LogLine::Kind::problem,
                            fmt::format("a result cannot be saved: {}", problem->text));
                   });
}

// Exchanges what is shown with what stands back.
void exchange_shown(LabState& lab, LookingBack& back) {
    std::swap(lab.shown_ticket, back.shown_ticket);
    std::swap(lab.result, back.result);
    std::swap(lab.times_of, back.times_of);
    std::swap(lab.figures, back.figures);
    std::swap(lab.kept_figures, back.kept_figures);
}

// After another result is shown.
void tell_shown(LabState& lab) {
    lab.measured.reset();
    if (lab.result) keep_selection(lab);  // there is none yet of a family that was just chosen
    keep_results(lab);
    tell_result(lab);
}

// Goes to another family without a run. Returns the input file that it was left with, which is not opened.
std::string go_to_family(LabState& lab, const Family& family) {
    drop_run(lab);
    FamilySettings settings = leave_family(lab, family);
    std::string input = settings.input;
    show_family(lab, family, std::move(settings));
    settle(lab);
    return input;
}

// Goes to another family only to look at a result of it.
void look_at_family(LabState& lab, const Family& family) {
    LookingBack& back = *lab.looking_back;
    if (lab.family == back.settings.family) back.sweeps = unfinished_sweeps(lab);
    back.input = go_to_family(lab, family);
}

// Returns to the family of the newest result, as it was left.
void return_to_family(LabState& lab) {
    LookingBack& back = *lab.looking_back;
    const std::string input = go_to_family(lab, *back.settings.family);
    set_settings(lab, back.settings);
    settle(lab);
    start_again(lab, std::exchange(back.sweeps, {}));
    if (back.result && back.result->complete) lab.sweeps_due = lab.now + rest_before_sweeps;
    if (input != lab.request.input) open_file(lab, input);  // it was still being read
}

std::optional<SessionResult::Opened> opened(LabState& lab, const PastResult& past) {
    if (past.result) return SessionResult::Opened{past.result, past.figures};
    auto found = past.packed->open();
    if (found && !found->figures) {  // such as a cell of a sweep on the command line
        auto drawn = guarded([&] { return Outcome(figures_of(*found->result, {})); });
        if (drawn) found->figures = std::make_shared<const std::vector<Figure>>(std::move(*drawn));
    }
    if (found) return std::move(*found);
    note(lab, LogLine::Kind::problem, found.error().text);
    return {};
}

size_t index_of(const LabState& lab, const PastResult* past) {
    for (size_t i = 0; i < lab.past_results.size(); ++i)
        if (&lab.past_results[i] == past) return i;
    return lab.past_results.size();
}

// The index of the result that many steps later.
std::optional<size_t> index_after(const LabState& lab, int steps) {
    const auto index = static_cast<int64_t>(index_of(lab, shown_past(lab))) + steps;
    if (index < 0 || index >= static_cast<int64_t>(lab.past_results.size())) return {};
    return static_cast<size_t>(index);
}

}  // namespace

void drop_run(LabState& lab) {
    if (lab.pending.ticket) lab.engine.cancel_run();
    lab.dropped_ticket = std::max(lab.dropped_ticket, lab.pending.ticket);
    lab.pending = {};
}

void remember_result(LabState& lab) {
    std::erase_if(lab.past_results, [&](const PastResult& past) { return past.ticket == lab.shown_ticket; });
    PastResult past;
    past.ticket = lab.shown_ticket;
    past.settings = settings_of_result(lab, *lab.result);
    if (lab.pending.ticket == past.ticket) past.settings.disabled_variants = lab.pending.disabled_variants;
    past.parameters = lab.result->parameters;
    past.device = lab.result->device;
    past.date = date_now();
    past.result = lab.result;
    past.figures = lab.figures;
    keep_numbers(past, variants_of(*lab.result));
    past.roofline = roofline_marks(lab.figures);
    pack(lab, past);
    lab.past_results.push_back(std::move(past));
    ++lab.session.revision;
}

// One that the file of the session has stays in it.
void forget_oldest_result(LabState& lab) {
    auto& results = lab.past_results;
    if (results.size() <= most_past_results) return;
    const auto find = [&](bool with_note) {
        return std::find_if(results.begin(), results.end(), [&](const PastResult& past) {
            return past.ticket != lab.shown_ticket && (with_note || !has_note(lab, past.ticket));
        });
    };
    auto oldest = find(false);
    if (oldest == results.end()) oldest = find(true);
    if (lab.session.saved.contains(oldest->ticket))
        lab.session.unshown.push_back({oldest->ticket, oldest->packed});
    results.erase(oldest);
}

PastResult past_of_file(const LabState& lab, const Family& family, uint64_t ticket,
                        const SessionResult& packed) {
    const ResultSummary& summary = packed.summary();
    PastResult past;
    past.ticket = ticket;
    past.settings = settings_of_request(family, summary.request);
    keep_without_control(past.settings.request, lab.request);
    past.parameters = summary.parameters;
    past.device = summary.device;
    past.date = summary.date;
    past.packed = std::make_shared<SessionResult>(packed);
    keep_numbers(past, summary.variants);
    return past;
}

const PastResult* find_past(const LabState& lab, uint64_t ticket) {
    for (const PastResult& past : lab.past_results)
        if (past.ticket == ticket) return &past;
    return nullptr;
}

const PastResult* shown_past(const LabState& lab) {
    return lab.result ? find_past(lab, lab.shown_ticket) : nullptr;
}

void look_back(LabState& lab, uint64_t ticket) {
    const PastResult* const past = find_past(lab, ticket);
    if (!past || (lab.result && lab.shown_ticket == ticket)) return;
    if (lab.looking_back && lab.looking_back->result && lab.looking_back->shown_ticket == ticket)
        return return_to_newest(lab);
    const auto found = opened(lab, *past);
    if (!found) return;
    if (!lab.looking_back) {
        lab.looking_back = LookingBack{.settings = settings_now(lab)};
        exchange_shown(lab, *lab.looking_back);
    }
    const Family* const family = past->settings.family;
    if (family != lab.family && family == lab.looking_back->settings.family)
        return_to_family(lab);
    else if (family != lab.family)
        look_at_family(lab, *family);
    lab.looking_back->ticket = lab.shown_ticket = ticket;
    lab.result = found->result;
    lab.figures = found->figures ? found->figures : std::make_shared<const std::vector<Figure>>();
    lab.times_of.reset();
    lab.kept_figures.clear();
    tell_shown(lab);
    // For the present zoom and the present parameters of figures. The engine does not know results of files.
    if (ticket < first_ticket_of_files) lab.look_due = lab.now;
}

void return_to_newest(LabState& lab) {
    if (!lab.looking_back) return;
    if (!lab.looking_back->result) {
        if (!lab.past_results.empty()) look_back(lab, lab.past_results.back().ticket);
        return;
    }
    if (lab.looking_back->settings.family != lab.family) {
        return_to_family(lab);
        lab.look_due = lab.now;
    }
    LookingBack back = std::move(*lab.looking_back);
    lab.looking_back.reset();
    end_check_of_other_family(lab);
    exchange_shown(lab, back);
    tell_shown(lab);
}

bool stop_looking_back(LabState& lab) {
    if (!lab.looking_back) return false;
    LookingBack back = std::move(*lab.looking_back);
    lab.looking_back.reset();
    const bool has_newest = back.result && back.settings.family == lab.family;
    if (has_newest) exchange_shown(lab, back);
    if (!back.input.empty() && back.input != lab.request.input)
        note(lab, LogLine::Kind::note, fmt::format("closed {}", back.input));
    if (back.settings.family == lab.family) start_again(lab, back.sweeps);
    end_check_of_other_family(lab);
    tell_shown(lab);
    return !has_newest;
}

void run_again(LabState& lab, uint64_t ticket) {
    const PastResult* const past = find_past(lab, ticket);
    if (!past) return;
    const uint64_t before = lab.pending.ticket;
    go_to(lab, Snapshot(past->settings));
    if (lab.pending.ticket == before) submit(lab);
}

void step_back(LabState& lab, int steps) {
    if (const auto index = index_after(lab, steps)) look_back(lab, lab.past_results[*index].ticket);
}

bool has_step_back(const LabState& lab, int steps) { return index_after(lab, steps).has_value(); }

void take_behind_earlier(LabState& lab, const Event& event, void (*take)(LabState&, const Event&)) {
    LookingBack back = std::move(*lab.looking_back);
    lab.looking_back.reset();
    exchange_shown(lab, back);
    take(lab, event);
    exchange_shown(lab, back);
    lab.looking_back = std::move(back);
    tell_shown(lab);
}

std::string values_of_earlier(const LabState& lab) {
    const PastResult* const past = lab.looking_back ? shown_past(lab) : nullptr;
    std::string words;
    for (const Parameter& row : lab.family->parameters) {
        if (!past || row.renews == Renews::figures) continue;
        const Value& value = past->parameters.at(row.name);
        if (value != lab.parameters.at(row.name))
            words += (words.empty() ? "" : ", ") + row.name + " " + to_text(value);
    }
    return words;
}

std::string what_changed(const LabState& lab, const PastResult& past) {
    const Family& family = *past.settings.family;
    const PastResult* before = nullptr;
    for (const PastResult& other : lab.past_results) {
        if (&other == &past) break;
        if (other.settings.family == &family) before = &other;
    }
    if (!before) return "first result";
    const auto facts = [&](const PastResult& each) {
        return facts_of(family, each.settings.request, each.parameters, each.device);
    };
    const Facts then = facts(*before), now = facts(past);
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::min(then.size(), now.size()); ++i)
        if (then[i].second != now[i].second)
            parts.push_back(fmt::format("{}{} -> {}", now[i].first, then[i].second, now[i].second));
    return parts.empty() ? "the same settings" : few_of(std::move(parts));
}

std::string words_of_numbers(const PastResult& past) {
    if (past.variant.empty()) return "";
    std::string words = past.variant + ":";
    if (past.median_us) words += " " + short_time(*past.median_us);
    if (past.rel_l2) words += fmt::format("{} rel L2 {:.2g}", past.median_us ? "," : "", *past.rel_l2);
    return words;
}

std::string clock_of(const PastResult& past) {
    std::tm utc{};
    if (!::strptime(past.date.c_str(), date_format, &utc)) return "";
    return local_time(::timegm(&utc));
}

}  // namespace sawtooth
