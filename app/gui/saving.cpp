#include "app/gui/saving.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/engine/files.h"
#include "app/gui/appearance.h"
#include "app/gui/lab.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"
#include "viz/present.h"

namespace sawtooth {
namespace {

const char* ending_of(Saving::Format format) {
    return format == Saving::Format::png ? "png" : format == Saving::Format::svg ? "svg" : "csv";
}

}  // namespace

void begin_saving(LabState& lab, const Figure& figure, Saving::Format format) {
    lab.saving = Saving{format, with_present(figure, lab.parameters),
                        fmt::format("{}.{}", figure.id, ending_of(format))};
}

void save(LabState& lab) {
    Saving& saving = *lab.saving;
    if (saving.path.empty() || saving.path == "-")
        saving.problem = "Enter a file name.";
    else if (saving.format == Saving::Format::png)
        saving.step = Saving::Step::drawing;
    else if (saving.format == Saving::Format::svg)
        finish_saving(
            lab, write_file(saving.path, to_svg(saving.figure, theme_of(lab), saved_width, saved_height)));
    else
        finish_saving(lab, write_file(saving.path, to_csv(saving.figure)));
}

void finish_saving(LabState& lab, const std::optional<Error>& problem) {
    Saving& saving = *lab.saving;
    saving.problem = problem ? problem->text : "";
    saving.step = problem ? Saving::Step::asking : Saving::Step::saved;
    std::error_code ignored;
    if (!problem)
        note(lab, LogLine::Kind::done,
             fmt::format("saved {}", std::filesystem::absolute(saving.path, ignored).string()));
}

}  // namespace sawtooth
