#include "app/gui/figures/saving.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/engine/files/files.h"
#include "app/engine/tables/trace.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/session_file.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"

namespace sawtooth {
namespace {

const char* ending_of(Saving::Format format) {
    switch (format) {
        case Saving::Format::png:
            return "png";
        case Saving::Format::svg:
            return "svg";
        case Saving::Format::csv:
            return "csv";
        case Saving::Format::session:
            return "sawtooth";
        case Saving::Format::trace:
            break;
    }
    return "json";
}

// A dropped file is known as a session by its name.
void save_session_as(LabState& lab) {
    if (!is_session_file(lab.saving->path)) lab.saving->path += ".sawtooth";
    const std::string path = lab.saving->path;
    write_saving(lab, session_write(lab, path), [path, written = written_session(lab)](LabState& later) {
        take_saved_session(later, path, written);
    });
}

// The dialog may have been closed in the meantime, or show another figure.
void finish_saving(LabState& lab, const std::string& path, const std::optional<Error>& problem) {
    const bool shown = lab.saving && lab.saving->step == Saving::Step::writing && lab.saving->path == path;
    if (shown) lab.saving->step = problem ? Saving::Step::asking : Saving::Step::saved;
    if (shown && problem)
        lab.saving->problem = problem->text;
    else if (problem)
        note(lab, LogLine::Kind::problem, problem->text);
    std::error_code ignored;
    if (!problem)
        note(lab, LogLine::Kind::done,
             fmt::format("saved {}", std::filesystem::absolute(path, ignored).string()));
}

}  // namespace

void begin_saving(LabState& lab, const Figure& figure, Saving::Format format) {
    lab.saving = Saving{format, figure, fmt::format("{}.{}", figure.id, ending_of(format))};
}

void begin_saving_trace(LabState& lab) {
    const std::string& family = lab.result->request.family;
    Figure titled;
    titled.title = fmt::format("Launches of {} on {}, for Perfetto", family, lab.result->device);
    lab.saving = Saving{.format = Saving::Format::trace,
                        .figure = std::move(titled),
                        .path = fmt::format("{}-trace.{}", family, ending_of(Saving::Format::trace)),
                        .result = lab.result};
}

void begin_saving_session(LabState& lab) {
    Figure titled;
    titled.title = "Session: " + words_of_session(lab);
    const std::string path = lab.session.path.empty() ? "session.sawtooth" : lab.session.path;
    lab.saving = Saving{.format = Saving::Format::session, .figure = std::move(titled), .path = path};
}

void save(LabState& lab) {
    Saving& saving = *lab.saving;
    if (saving.path.empty() || saving.path == "-")
        saving.problem = "Enter a file name.";
    else if (saving.format == Saving::Format::png)
        saving.step = Saving::Step::drawing;
    else if (saving.format == Saving::Format::trace)
        write_saving(lab, [path = saving.path, result = saving.result] {
            return write_file(path, to_trace(*result));
        });
    else if (saving.format == Saving::Format::session)
        save_session_as(lab);
    else if (saving.format == Saving::Format::svg)
        write_saving(lab, [path = saving.path, figure = saving.figure, &theme = theme_of(lab)] {
            return write_file(path, to_svg(figure, theme, saved_width, saved_height));
        });
    else
        write_saving(
            lab, [path = saving.path, figure = saving.figure] { return write_file(path, to_csv(figure)); });
}

void write_saving(LabState& lab, FileWriter::Write write, std::function<void(LabState&)> then) {
    Saving& saving = *lab.saving;
    saving.problem.clear();
    saving.step = Saving::Step::writing;
    const auto write_to_file = [path = saving.path, write = std::move(write)] {
        const auto problem = check_replaceable(path);  // opening a pipe could wait forever
        return problem ? problem : write();
    };
    lab.files->add(
        saving.path, write_to_file,
        [path = saving.path, then = std::move(then)](LabState& later, const std::optional<Error>& problem) {
            if (!problem && then) then(later);
            finish_saving(later, path, problem);
        });
}

}  // namespace sawtooth
