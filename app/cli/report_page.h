#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "app/engine/sources/source.h"
#include "kernels/core/family.h"
#include "kernels/core/sweep.h"

namespace sawtooth::cli {

// The families that the command line names, each once; all if it names none.
Outcome<std::vector<const Family*>> families_of(const Arguments& arguments);

// The content of one section of the page.
struct FamilyReport {
    const Family* family = nullptr;
    std::shared_ptr<const Result> result;
    std::vector<Figure> figures;  // from the result and its sweeps
    std::string measured =
        {};  // of a session, when and where: "2026-11-26 14:03:27 UTC on H200"; "" if just now
    Figures figures_of_run = {};           // those from the result, which a session keeps
    std::vector<SweepResult> sweeps = {};  // those that were measured for it
    // Of a session:
    std::vector<std::string> pins = {};  // the names of pinned results, which its figures show faded
    struct Baseline {
        std::shared_ptr<const Result> result;
        std::string name;
    };
    std::optional<Baseline> baseline = {};  // the times have columns that compare with it
    struct Note {
        std::string place, text;  // place: the title of a figure, or "launch 17 of fused"
    };
    std::vector<Note> notes = {};
};

// A self-contained HTML page that can be printed. Each family has its description and variants, a summary,
// the figures of the first screen in their order, the other figures, tables, and the command that reproduces
// the numbers.
std::string report_page(const std::vector<FamilyReport>& families, const std::string& date);

}  // namespace sawtooth::cli
