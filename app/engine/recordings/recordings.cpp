#include "app/engine/recordings/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/engine/files/files.h"
#include "app/engine/run/configure.h"
#include "kernels/core/typed_values.h"

namespace sawtooth {
namespace {

namespace fs = std::filesystem;

// A name is part of a path, and comes from the command line or a settings file.
bool is_name(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

Error unknown(const std::string& name) {
    const auto names = recording_names();
    return Error::usage(fmt::format(
        "recording {}: not known; accepted: {}", name,
        names.empty() ? "none, as no recordings are installed" : fmt::format("{}", fmt::join(names, ", "))));
}

// Gives a recorded result the arrays that were computed here.
void take_arrays(const Result& live, Result& shown) {
    shown.inputs = live.inputs;
    shown.reference = live.reference;
    shown.hops = live.hops;
    shown.complete = live.complete;
    for (VariantResult& variant : shown.variants) {
        const VariantResult* const computed = find(live, variant.name);
        variant.outputs = computed && computed->ran() ? computed->outputs : Arrays();
    }
}

// Adds the variants that other settings of the recording may have, and these have not.
void add_unrecorded(const Family& family, const std::vector<const Variant*>& wanted, Result& shown) {
    for (const Variant* variant : wanted) {
        if (!variant->runs_on(Backend::cuda) || find(shown, variant->name)) continue;
        VariantResult missing;
        missing.name = variant->name;
        missing.index = static_cast<int>(variant - family.variants.data());
        missing.refused = "was not recorded at these settings";
        shown.notes.push_back(missing.name + " skipped: " + missing.refused);
        const auto later =
            std::find_if(shown.variants.begin(), shown.variants.end(),
                         [&](const VariantResult& other) { return other.index > missing.index; });
        shown.variants.insert(later, std::move(missing));
    }
}

bool has_cpu_form(const Family& family, const std::string& variant) {
    return std::any_of(family.variants.begin(), family.variants.end(), [&](const Variant& each) {
        return each.name == variant && each.runs_on(Backend::cpu);
    });
}

void leave_times_out(Result& result) {
    result.ceilings.reset();
    result.copy.reset();
    result.clocks.reset();
    result.timed = result.complete;
    for (VariantResult& variant : result.variants) {
        variant.time.reset();
        variant.launches.clear();
        variant.metrics.clear();
    }
}

}  // namespace

std::vector<std::string> recording_names() {
    std::vector<std::string> names;
    const auto folder = find_asset("recordings");
    if (!folder) return names;
    std::error_code ignored;
    for (fs::directory_iterator at(*folder, ignored), end; !ignored && at != end; at.increment(ignored))
        if (const std::string name = at->path().filename().string(); is_name(name)) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

std::string recording_words(const std::string& name) {
    const size_t dash = name.find('-');
    std::string gpu = name.substr(0, dash);
    for (char& c : gpu)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return dash == std::string::npos ? gpu + ", recorded" : gpu + ", recorded " + name.substr(dash + 1);
}

std::string words_of(const Parameters& changes) {
    std::vector<std::string> words;
    for (const auto& [name, value] : changes.values) words.push_back(name + " = " + to_text(value));
    return fmt::format("{}", fmt::join(words, ", "));
}

Outcome<std::shared_ptr<const Recording>> Recording::open(const std::string& name, const Family& family) {
    const auto path = is_name(name) ? find_asset(fmt::format("recordings/{}/{}.sawtooth", name, family.name))
                                    : std::nullopt;
    if (!path) {
        const auto names = recording_names();
        if (std::find(names.begin(), names.end(), name) == names.end()) return unknown(name);
        return Error::failure(fmt::format("recording {}: has no results of {}", name, family.name));
    }
    auto read = read_session(*path);
    if (!read) return read.error();
    return std::make_shared<const Recording>(family, std::move(read->session.results));
}

Recording::Recording(const Family& family, std::vector<SessionResult> results) : family_(family) {
    for (SessionResult& result : results) {
        const ResultSummary& summary = result.summary();
        if (summary.request.family != family.name) continue;
        Parameters acting = family.acting(summary.parameters, Backend::cuda);
        entries_.push_back({std::move(result), std::move(acting)});
    }
}

std::pair<int, double> Recording::distance(const Entry& entry, const Parameters& acting) const {
    int different = 0;
    double sum = 0;
    for (const Parameter& row : family_.parameters) {
        if (row.renews == Renews::figures) continue;
        const Value &recorded = entry.acting.at(row.name), &asked = acting.at(row.name);
        if (recorded == asked) continue;
        ++different;
        const auto from = as_number(recorded), to = as_number(asked);
        const bool has_ratio = from && to && *from > 0 && *to > 0;
        sum += has_ratio ? std::abs(std::log2(*from / *to)) : 1;
    }
    return {different, sum};
}

Outcome<std::shared_ptr<const Result>> Recording::find(const Parameters& settled) const {
    const Parameters acting = family_.acting(settled, Backend::cuda);
    // Cells of a sweep may have some of the variants only.
    const auto variants = [](const Entry& entry) { return entry.result.summary().variants.size(); };
    const Entry* found = nullptr;
    for (const Entry& entry : entries_)
        if (distance(entry, acting).first == 0 && (!found || variants(entry) > variants(*found)))
            found = &entry;
    if (!found) return std::shared_ptr<const Result>();
    auto opened = found->result.open();
    if (!opened) return opened.error();
    auto result = std::make_shared<Result>(*opened->result);
    result->device += ", recorded " + found->result.summary().date.substr(0, 10);
    return std::shared_ptr<const Result>(std::move(result));
}

Parameters Recording::changes_to_nearest(const Parameters& settled) const {
    const Parameters acting = family_.acting(settled, Backend::cuda);
    const auto variants = [](const Entry& entry) { return entry.result.summary().variants.size(); };
    size_t most = 0;
    for (const Entry& entry : entries_) most = std::max(most, variants(entry));
    // The cell of a sweep of one variant would leave nothing to compare, so these come last.
    const auto order = [&](const Entry& entry) {
        const auto distance = this->distance(entry, acting);
        return std::pair(distance.first > 0 && 2 * variants(entry) < most, distance);
    };
    const auto nearer = [&](const Entry& left, const Entry& right) { return order(left) < order(right); };
    const auto nearest = std::min_element(entries_.begin(), entries_.end(), nearer);
    Parameters changes;
    if (nearest == entries_.end()) return changes;
    for (const Parameter& row : family_.parameters)
        if (row.renews != Renews::figures && nearest->acting.at(row.name) != acting.at(row.name))
            changes.set(row.name, nearest->acting.at(row.name));
    return changes;
}

std::vector<Value> Recording::values(const std::string& parameter) const {
    std::vector<Value> values;
    for (const Entry& entry : entries_) {
        const Value& value = entry.acting.at(parameter);
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    return values;
}

Outcome<std::shared_ptr<const Recording>> OpenRecording::get(const std::string& name, const Family& family) {
    if (recording_ && name_ == name && family_ == &family) return recording_;
    auto opened = Recording::open(name, family);
    if (!opened) return opened.error();
    name_ = name;
    family_ = &family;
    recording_ = *opened;
    return recording_;
}

Outcome<RecordedRun> OpenRecording::prepare(const Request& asked) {
    const auto family = find_offered_family(asked.family);
    if (!family) return family.error();
    const auto recording = get(asked.recording, **family);
    if (!recording) return recording.error();
    return RecordedRun::prepare(asked, **recording);
}

Outcome<RecordedRun> RecordedRun::prepare(const Request& asked, const Recording& recording) {
    if (!asked.input.empty())
        return Error::usage("recording: an input file cannot be used; recordings have generated inputs");
    if (const Request usual; asked.seed != usual.seed || asked.values != usual.values ||
                             asked.optional != usual.optional || asked.cache != usual.cache)
        return Error::usage(
            "recording: recordings have seed 1, usual values, no optional inputs and cold caches; set these");
    const auto configuration = configure_shapes(asked, {}, Backend::cuda);
    if (!configuration) return configuration.error();
    const auto recorded = recording.find(configuration->parameters);
    if (!recorded) return recorded.error();

    RecordedRun run;
    run.asked_ = asked;
    run.parameters_ = configuration->parameters;
    run.variants_ = configuration->variants;
    run.recorded_ = *recorded;
    if (!run.recorded_)
        run.not_recorded_ = fmt::format(
            "{}: these settings were not recorded, so there are no times; nearest: {}",
            recording_words(asked.recording), words_of(recording.changes_to_nearest(run.parameters_)));
    Request live = asked;
    live.recording.clear();
    live.arch.clear();
    live.preset.clear();
    live.backend = BackendChoice::cpu;
    live.repeats = 0;
    live.profile = Profile::none;
    live.parameters = run.parameters_;
    std::erase_if(live.variants,
                  [&](const std::string& name) { return !has_cpu_form(*configuration->family, name); });
    if (live.variants.empty() && !asked.variants.empty()) {
        run.not_live_ = "none of these variants runs on a CPU";
        return run;
    }
    if (const auto here = configure_shapes(live, {}, Backend::cpu))
        run.live_ = std::move(live);
    else
        run.not_live_ = here.error().text;
    return run;
}

Outcome<std::shared_ptr<const Result>> RecordedRun::shown(const Result* live,
                                                          const std::string& why_none) const {
    if (!recorded_ && !live) return Error::failure(not_recorded_);
    auto shown = std::make_shared<Result>(recorded_ ? *recorded_ : *live);
    shown->request = asked_;
    shown->parameters = parameters_;
    const auto is_left_out = [this](const VariantResult& variant) {
        const auto& wanted = asked_.variants;
        return !wanted.empty() && std::find(wanted.begin(), wanted.end(), variant.name) == wanted.end();
    };
    std::erase_if(shown->variants, is_left_out);
    if (!recorded_) {
        leave_times_out(*shown);
        shown->notes.push_back(not_recorded_);
        return std::shared_ptr<const Result>(std::move(shown));
    }
    add_unrecorded(**find_offered_family(asked_.family), variants_, *shown);
    if (live) take_arrays(*live, *shown);
    shown->notes.push_back(fmt::format(
        "times, launches, occupancy, counters and errors were recorded on {}; outputs {}", shown->device,
        live ? "were computed by this CPU"
             : "were not computed: " + (why_none.empty() ? not_live_ : why_none)));
    return std::shared_ptr<const Result>(std::move(shown));
}

SweepCell recorded_cell(const Sweep& sweep, size_t index, OpenRecording& open) {
    SweepCell cell{sweep.cell(index), "", nullptr};
    const auto result = [&]() -> Outcome<std::shared_ptr<const Result>> {
        const auto run = open.prepare(sweep.request(index));
        if (!run) return run.error();
        return run->shown(nullptr, "a sweep shows none");
    }();
    if (result)
        cell.result = *result;
    else
        cell.refused = result.error().text;
    return cell;
}

}  // namespace sawtooth
