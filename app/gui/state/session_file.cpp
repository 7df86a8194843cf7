#include "app/gui/state/session_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "app/engine/guarded.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/result_figures.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/history.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/recent_files.h"
#include "app/gui/state/session_autosave.h"
#include "app/gui/state/sweeps.h"

namespace sawtooth {
namespace {

// What a session file is made from. Results that are still being packed are ready when it is written, because
// one thread does both.
struct Parts {
    struct Kept {
        uint64_t ticket = 0;
        std::shared_ptr<SessionResult> packed;
        bool is_past = false;
    };
    std::vector<Kept> results;  // in the order in which they were measured
    struct Pinned {
        uint64_t ticket = 0;
        bool is_baseline = false;
    };
    std::vector<Pinned> pins;
    std::vector<std::shared_ptr<const SweepResult>> sweeps;
    std::vector<BenchReport> benches;
    std::vector<SessionState::Note> notes;
    std::string family;
};

Parts parts_of(const LabState& lab) {
    Parts parts;
    const auto find = [&](uint64_t ticket) {
        return std::find_if(parts.results.begin(), parts.results.end(),
                            [&](const Parts::Kept& kept) { return kept.ticket == ticket; });
    };
    for (const SessionState::Unshown& result : lab.session.unshown)
        parts.results.push_back({result.ticket, result.packed});
    for (const PastResult& past : lab.past_results) parts.results.push_back({past.ticket, past.packed, true});
    auto older = parts.results.begin();  // a pin that left the history is older than all of it
    for (const Pin& pin : lab.pins) {
        if (find(pin.ticket) == parts.results.end())
            older = std::next(parts.results.insert(older, {pin.ticket, pin.packed}));
        parts.pins.push_back({pin.ticket, pin.is_baseline});
    }
    for (const BackgroundSweep& sweep : lab.sweeps)
        if (sweep.result) parts.sweeps.push_back(sweep.result);
    for (const SweptBefore& swept : lab.session.sweeps) parts.sweeps.push_back(swept.result);
    parts.benches = lab.session.benches;
    parts.notes = lab.session.notes;
    parts.family = lab.family->name;
    return parts;
}

Session session_of(const Parts& parts) {
    Session session;
    std::map<uint64_t, uint64_t> indices;  // by ticket
    for (const Parts::Kept& kept : parts.results) {
        if (!kept.packed || !kept.packed->packed()) continue;  // it could not be packed
        const uint64_t index = session.results.size();
        indices[kept.ticket] = index;
        session.results.push_back(*kept.packed);
        if (kept.is_past) session.history.push_back(index);
    }
    for (const Parts::Pinned& pin : parts.pins)
        if (const auto index = indices.find(pin.ticket); index != indices.end())
            session.pins.push_back({index->second, pin.is_baseline});
    for (const auto& sweep : parts.sweeps) add_sweep(session, *sweep);
    session.benches = parts.benches;
    for (const auto& [note, ticket] : parts.notes) {
        const auto index = indices.find(ticket);
        if (ticket > 0 && index == indices.end()) continue;
        session.notes.push_back(note);
        session.notes.back().result = ticket > 0 ? std::optional(index->second) : std::nullopt;
    }
    session.family = parts.family;
    return session;
}

FileWriter::Write write_of(Parts parts, std::string path) {
    return
        [parts = std::move(parts), path = std::move(path)] { return write_session(path, session_of(parts)); };
}

// Unpacks what is shown at once. What cannot be unpacked is left out, with a note.
Outcome<OpenedSession> read(const std::string& path, const std::stop_token& stop) {
    auto file = read_session(path, stop);
    if (!file) return file.error();
    OpenedSession opened{std::move(file->session), std::move(file->notes), file->is_partial, {}, {}};
    const auto leave_out = [&](const char* what, const Error& error) {
        opened.notes.push_back(fmt::format("a {} was left out: {}", what, error.text));
        opened.is_partial = true;
    };
    std::erase_if(opened.session.pins, [&](const SessionPin& pin) {
        auto result = opened.session.results[pin.result].open();
        if (result)
            opened.pins.push_back(std::move(*result));
        else
            leave_out("pinned result", result.error());
        return !result;
    });
    for (const SessionSweep& sweep : opened.session.sweeps) {
        auto result = open_sweep(opened.session, sweep);
        if (!result) {
            leave_out("sweep", result.error());
            continue;
        }
        auto figures = std::make_shared<const std::vector<Figure>>(figures_of(*result));
        opened.sweeps.push_back(
            {std::make_shared<const SweepResult>(std::move(*result)), std::move(figures), true});
    }
    return opened;
}

const Family* family_named(const std::string& name) {
    const auto found = find_offered_family(name);
    return found ? *found : nullptr;
}

// The results in the order of the file, and their tickets; those of families that are not offered have none.
std::vector<PastResult> results_of(LabState& lab, const Session& session) {
    std::vector<PastResult> results;
    for (const SessionResult& packed : session.results) {
        const Family* const family = family_named(packed.summary().request.family);
        results.push_back(family ? past_of_file(lab, *family, lab.session.next_ticket++, packed)
                                 : PastResult());
    }
    return results;
}

// A session of the command line has no history: all of its results are shown as one.
std::vector<uint64_t> history_of(const Session& session) {
    std::vector<uint64_t> history = session.history;
    if (history.empty())
        for (uint64_t i = 0; i < session.results.size(); ++i) history.push_back(i);
    if (history.size() > most_past_results)
        history.erase(history.begin(), history.end() - static_cast<int64_t>(most_past_results));
    return history;
}

// Those of the results that are neither in the history nor pinned. Cells are written with their sweeps.
void take_unshown(LabState& lab, const Session& session, const std::vector<PastResult>& results) {
    std::set<uint64_t> cells;  // indices
    for (const SessionSweep& sweep : session.sweeps)
        for (const SessionSweep::Cell& cell : sweep.cells)
            if (cell.result) cells.insert(*cell.result);
    lab.session.unshown.clear();
    lab.session.saved.clear();
    for (size_t i = 0; i < results.size(); ++i) {
        const uint64_t ticket = results[i].ticket;
        if (!ticket) continue;
        lab.session.saved.insert(ticket);
        const bool is_pinned = std::any_of(lab.pins.begin(), lab.pins.end(),
                                           [&](const Pin& pin) { return pin.ticket == ticket; });
        if (!is_pinned && !cells.contains(i) && !find_past(lab, ticket))
            lab.session.unshown.push_back({ticket, results[i].packed});
    }
}

// What the file holds that the window does not show; "" if it shows all of it.
std::string words_of_unshown(const LabState& lab) {
    const auto hidden =
        std::count_if(lab.session.sweeps.begin(), lab.session.sweeps.end(),
                      [&](const SweptBefore& swept) { return is_replaced(lab, *swept.result); });
    std::string words;
    if (const auto results = std::ssize(lab.session.unshown)) words = count_words(results, "result");
    if (hidden > 0) words += (words.empty() ? "" : " and ") + count_words(hidden, "earlier sweep");
    return words.empty() ? "" : words + " of the session are not shown, and stay in it";
}

void take_results(LabState& lab, const OpenedSession& opened) {
    const Session& session = opened.session;
    const std::vector<PastResult> results = results_of(lab, session);
    lab.past_results.clear();
    for (const uint64_t index : history_of(session))
        if (results[index].ticket && !find_past(lab, results[index].ticket))
            lab.past_results.push_back(results[index]);
    lab.pins.clear();
    for (size_t i = 0; i < session.pins.size() && lab.pins.size() < most_pins; ++i) {
        const PastResult& past = results[session.pins[i].result];
        const bool is_known = std::any_of(lab.pins.begin(), lab.pins.end(),
                                          [&](const Pin& pin) { return pin.ticket == past.ticket; });
        if (is_known || !past.ticket || !opened.pins[i].figures) continue;
        lab.pins.push_back({past.ticket, static_cast<int>(lab.pins.size()) + 1, session.pins[i].is_baseline,
                            past.settings, opened.pins[i].result, opened.pins[i].figures, past.packed});
    }
    take_unshown(lab, session, results);
    lab.pin_in_place.clear();
    lab.note_form.reset();  // its note is of the session before
    lab.session.notes.clear();
    for (const SessionNote& note : session.notes)
        lab.session.notes.push_back({note, note.result ? results[*note.result].ticket : 0});
    lab.session.benches = session.benches;
}

bool has_gpu(const LabState& lab, int device) {
    const std::vector<BackendOption> options = backend_options(lab);
    return std::any_of(options.begin(), options.end(), [&](const BackendOption& option) {
        return option.backend == BackendChoice::cuda && option.device == device && option.recording.empty() &&
               option.reason.empty();
    });
}

// Sets the settings of a result of the file, but no GPU that is known not to be here.
void set_settings_of_file(LabState& lab, const Snapshot& settings) {
    const auto [backend, device] = std::pair(lab.request.backend, lab.request.device);
    const std::string recording = lab.request.recording;
    set_settings(lab, settings);
    const bool is_gpu = lab.request.backend == BackendChoice::cuda && lab.request.recording.empty();
    if (!is_gpu || !lab.devices || has_gpu(lab, lab.request.device)) return;
    lab.request.backend = backend;
    lab.request.device = device;
    lab.request.recording = recording;
}

// Shows the family of the session with the settings of its newest result.
void show_family_of(LabState& lab, const Session& session) {
    const Family* family = family_named(session.family);
    if (!family) family = lab.past_results.empty() ? lab.family : lab.past_results.back().settings.family;
    show_family(lab, *family, family == lab.family ? settings_of(lab) : leave_family(lab, *family));
    const auto newest = std::find_if(lab.past_results.rbegin(), lab.past_results.rend(),
                                     [&](const PastResult& past) { return past.settings.family == family; });
    if (newest != lab.past_results.rend()) set_settings_of_file(lab, newest->settings);
    settle(lab);
    if (newest != lab.past_results.rend()) look_back(lab, newest->ticket);
}

bool has_marks(const LabState& lab) { return !lab.pins.empty() || !lab.session.notes.empty(); }

// Pins and notes are work by hand, which another session must not discard.
void keep_replaced_session(LabState& lab) {
    if (!has_unsaved_marks(lab) || lab.session.autosave_path.empty()) return;
    const std::string path = path_of_replaced(lab);
    lab.files->add(
        path, session_write(lab, path),
        [path, words = words_of_session(lab)](LabState& later, const std::optional<Error>& problem) {
            if (problem) return note(later, LogLine::Kind::problem, problem->text);
            add_recent_file(later.settings, path);
            note(later, LogLine::Kind::note,
                 fmt::format("the session before it ({}) was not saved: it is kept as {}", words, path));
        });
}

void show_session(LabState& lab, OpenedSession opened) {
    drop_run(lab);
    stop(lab);
    lab.sweeps_due.reset();
    lab.looking_back.reset();
    take_results(lab, opened);
    lab.sweeps.clear();
    lab.session.sweeps = std::move(opened.sweeps);
    show_family_of(lab, opened.session);
    keep_results(lab);
    tell_result(lab);
    ++lab.session.revision;
}

}  // namespace

bool has_unsaved_marks(const LabState& lab) {
    return lab.session.marks != lab.session.saved_marks && has_marks(lab);
}

bool is_session_file(std::string_view path) { return path.ends_with(".sawtooth"); }

FileWriter::Write session_write(const LabState& lab, std::string path) {
    return write_of(parts_of(lab), std::move(path));
}

WrittenSession written_session(const LabState& lab) {
    Parts parts = parts_of(lab);
    WrittenSession written{{}, std::move(parts.sweeps), lab.session.marks, lab.session.opened};
    for (const Parts::Kept& kept : parts.results) written.results.insert(kept.ticket);
    return written;
}

void save_session(LabState& lab) {
    const std::string path = lab.session.path;
    lab.files->add(
        path, session_write(lab, path),
        [path, written = written_session(lab)](LabState& later, const std::optional<Error>& problem) {
            if (problem) return note(later, LogLine::Kind::problem, problem->text);
            note(later, LogLine::Kind::done, fmt::format("saved {}", path));
            take_saved_session(later, path, written);
        });
}

void take_saved_session(LabState& lab, const std::string& path, const WrittenSession& written) {
    add_recent_file(lab.settings, path);
    SessionState& session = lab.session;
    if (written.opened != session.opened) return;
    session.path = path;
    session.saved = written.results;
    session.saved_marks = written.marks;
    const auto mark_saved = [&](auto& sweep) {
        const auto& sweeps = written.sweeps;
        if (std::find(sweeps.begin(), sweeps.end(), sweep.result) != sweeps.end()) sweep.is_saved = true;
    };
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.result) mark_saved(sweep);
    for (SweptBefore& swept : session.sweeps) mark_saved(swept);
}

void open_session(LabState& lab, const std::string& path, bool is_restored) {
    if (lab.session.opening)
        return note(lab, LogLine::Kind::problem,
                    fmt::format("did not open {}: still reading {}", path, lab.session.opening->path));
    lab.open_problem.clear();
    auto session = in_background<Outcome<OpenedSession>>(
        [path](std::stop_token stop) { return guarded([&] { return read(path, stop); }); }, lab.engine.wake);
    if (!session) return note(lab, LogLine::Kind::problem, session.error().text);
    lab.session.opening = SessionState::Opening{path, is_restored, std::move(*session)};
}

void take_opened_session(LabState& lab) {
    if (!lab.session.opening || !lab.session.opening->session.is_ready()) return;
    const auto [path, is_restored] = std::pair(lab.session.opening->path, lab.session.opening->is_restored);
    Outcome<OpenedSession> opened = lab.session.opening->session.result.get();
    lab.session.opening.reset();
    if (is_restored) take_autosaved_file(lab, path, static_cast<bool>(opened));
    if (!opened) {
        lab.open_problem = opened.error().text;
        return note(lab, LogLine::Kind::problem, opened.error().text);
    }
    keep_replaced_session(lab);
    ++lab.session.opened;
    const std::vector<std::string> notes = opened->notes;
    // Saving under the same name would lose what this build cannot read.
    lab.session.path = is_restored || opened->is_partial ? "" : path;
    show_session(lab, std::move(*opened));
    lab.session.saved_marks = lab.session.marks;
    if (is_restored) ++lab.session.marks;
    lab.show_open = false;
    for (const std::string& text : notes) note(lab, LogLine::Kind::note, text);
    if (std::string words = words_of_unshown(lab); !words.empty())
        note(lab, LogLine::Kind::note, std::move(words));
    note(lab, LogLine::Kind::done,
         fmt::format("{}: {}", is_restored ? "restored the last session" : "opened " + path,
                     words_of_session(lab)));
    if (!is_restored) add_recent_file(lab.settings, path);
}

void open_any_file(LabState& lab, const std::string& path) {
    is_session_file(path) ? open_session(lab, path) : open_file(lab, path);
}

std::string words_of_session(const LabState& lab) {
    std::string words = count_words(std::ssize(lab.past_results), "result");
    if (!lab.pins.empty()) words += ", " + count_words(std::ssize(lab.pins), "pin");
    if (!lab.session.notes.empty()) words += ", " + count_words(std::ssize(lab.session.notes), "note");
    return words;
}

bool has_session(const LabState& lab) {
    return !lab.past_results.empty() || !lab.pins.empty() || !lab.session.benches.empty();
}

}  // namespace sawtooth
