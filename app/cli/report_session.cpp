#include <fmt/format.h>

#include <algorithm>

#include "app/cli/report_page.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/files/files.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/session/notes_on_figures.h"
#include "app/engine/session/session.h"
#include "app/engine/tables/result_names.h"
#include "app/engine/wire/json.h"
#include "viz/ghosts.h"

namespace sawtooth::cli {
namespace {

// Refuses options that only a run has.
std::optional<Error> check_options(const Arguments& arguments) {
    for (const auto& [name, values] : arguments.options)
        if (name != "--from" && name != "--json")
            return Error::usage(name + " has no effect with --from, which runs nothing");
    return {};
}

// What the session has of a family: the newest result that was shown (or if there is none the newest at all),
// its pinned results, sweeps and notes.
class FamilyOfSession {
  public:
    FamilyOfSession(const Family& family, const Session& session) : family_(family), session_(session) {}

    // Absent if it has no result.
    Outcome<std::optional<FamilyReport>> report() {
        if (auto problem = find_shown()) return *problem;
        if (!shown_) return std::optional<FamilyReport>();
        if (auto problem = open_pins()) return *problem;
        const ResultSummary& summary = session_.results[shown_->index].summary();
        FamilyReport report{&family_, shown_->result, {}, summary.date + " UTC on " + summary.machine};
        name_pins(report);
        add_figures(report);
        if (auto problem = add_sweeps(report)) return *problem;
        add_notes(report);
        return std::optional(std::move(report));
    }

  private:
    struct Opened {
        uint64_t index = 0;  // in Session::results
        std::shared_ptr<const Result> result;
        std::vector<Figure> figures;
        bool is_baseline = false;
        std::string name = {};
    };

    bool is_of_family(uint64_t index) const {
        return session_.results[index].summary().request.family == family_.name;
    }

    Outcome<SessionResult::Opened> open(uint64_t index) const {
        auto opened = session_.results[index].open();
        if (!opened) return Error::usage(fmt::format("result {}: {}", index + 1, opened.error().text));
        return opened;
    }

    std::optional<Error> find_shown() {
        for (size_t i = session_.results.size(); i-- > 0;) {
            if (!is_of_family(i)) continue;
            const auto opened = open(i);
            if (!opened) return opened.error();
            if (!shown_ || opened->figures) shown_ = Opened{i, opened->result, {}};
            if (!opened->figures) continue;
            shown_->figures = *opened->figures;
            return {};
        }
        if (shown_) shown_->figures = figures_of(*shown_->result, {});
        return {};
    }

    std::optional<Error> open_pins() {
        for (const SessionPin& pin : session_.pins) {
            if (!is_of_family(pin.result) || pin.result == shown_->index) continue;
            const auto opened = open(pin.result);
            if (!opened) return opened.error();
            pins_.push_back({pin.result, opened->result,
                             opened->figures ? *opened->figures : figures_of(*opened->result, {}),
                             pin.is_baseline});
        }
        return {};
    }

    // Names the pinned results by what tells them from one another and from the shown one.
    void name_pins(FamilyReport& report) {
        std::vector<Facts> all{facts_of(family_, *shown_->result)};
        for (const Opened& pin : pins_) all.push_back(facts_of(family_, *pin.result));
        for (size_t i = 0; i < pins_.size(); ++i) {
            pins_[i].name = name_among(all[i + 1], all);
            report.pins.push_back(pins_[i].name);
            if (pins_[i].is_baseline) report.baseline = {pins_[i].result, pins_[i].name};
        }
    }

    std::vector<const SessionNote*> notes_on(std::optional<uint64_t> result) const {
        std::vector<const SessionNote*> notes;
        for (const SessionNote& note : session_.notes)
            if (note.result == result && note.family == family_.name) notes.push_back(&note);
        return notes;
    }

    void add_figures(FamilyReport& report) const {
        std::vector<Pinned> ghosts;
        for (size_t i = 0; i < pins_.size(); ++i)
            ghosts.push_back({&pins_[i].figures, pins_[i].name, static_cast<int>(i) + 1});
        const auto notes = notes_on(shown_->index);
        for (const Figure& figure : shown_->figures)
            report.figures.push_back(with_ghosts(with_notes(figure, notes, shown_->result.get()), ghosts));
    }

    std::optional<Error> add_sweeps(FamilyReport& report) const {
        const auto notes = notes_on({});
        for (const SessionSweep& sweep : session_.sweeps) {
            if (sweep.sweep.base.family != family_.name || sweep.cells.empty()) continue;
            const auto opened = open_sweep(session_, sweep);
            if (!opened) return opened.error();
            for (Figure& figure : figures_of(*opened))
                report.figures.push_back(with_notes(std::move(figure), notes, nullptr));
        }
        return {};
    }

    // The notes in words, those on pinned results with their name.
    void add_notes(FamilyReport& report) const {
        add_notes(report, notes_on(shown_->index), "");
        for (const Opened& pin : pins_) add_notes(report, notes_on(pin.index), pin.name + ", ");
        add_notes(report, notes_on({}), "");
    }
    static void add_notes(FamilyReport& report, const std::vector<const SessionNote*>& notes,
                          const std::string& of) {
        for (const SessionNote* note : notes)
            report.notes.push_back({of + place_of(*note, report), note->text});
    }
    static std::string place_of(const SessionNote& note, const FamilyReport& report) {
        if (note.figure.empty()) return fmt::format("launch {} of {}", note.launch + 1, note.variant);
        for (const Figure& figure : report.figures)
            if (figure.id == note.figure) return figure.title;
        return note.figure;
    }

    const Family& family_;
    const Session& session_;
    std::optional<Opened> shown_;
    std::vector<Opened> pins_;
};

Outcome<std::vector<FamilyReport>> reports_of(const std::vector<const Family*>& families,
                                              const Session& session, bool must_have_all) {
    std::vector<FamilyReport> reports;
    for (const Family* family : families) {
        auto report = FamilyOfSession(*family, session).report();
        if (!report) return report.error();
        if (!*report && must_have_all) return Error::usage("has no results of " + family->name);
        if (*report) reports.push_back(std::move(**report));
    }
    if (reports.empty()) return Error::usage("has no results to report");
    return reports;
}

}  // namespace

int report_session(const Arguments& arguments) {
    if (const auto problem = check_options(arguments)) return fail(*problem);
    const auto families = families_of(arguments);
    if (!families) return fail(families.error());
    const std::string path = arguments.value("--from");
    const auto read = read_session(path);
    if (!read) return fail(read.error());
    for (const std::string& note : read->notes) print_note(path + ": " + note);
    const auto reports = reports_of(*families, read->session, !arguments.families.empty());
    if (!reports) return fail(Error::usage(path + ": " + reports.error().text));
    const auto made = make_folder(arguments.target);
    if (!made) return fail(made.error());
    const std::string page = arguments.target + "/index.html";
    if (const auto problem = write_file(page, report_page(*reports, today()))) return fail(*problem);
    return print(arguments.has("--json") ? written_json({page}) : page + "\n");
}

}  // namespace sawtooth::cli
