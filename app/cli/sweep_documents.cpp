#include "app/cli/sweep_documents.h"

#include <algorithm>
#include <set>

#include "app/cli/table_files.h"
#include "app/cli/terminal.h"
#include "app/engine/run/configure.h"
#include "app/engine/tables/tables.h"
#include "app/engine/tables/triton_configs.h"
#include "app/engine/wire/json.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth::cli {
namespace {

// Why a variant neither ran nor was compiled in any cell; "" if it was, or if the reasons differ.
std::string skipped_everywhere(const SweepResult& result, const std::string& variant) {
    std::string reason;
    for (const SweepCell& cell : result.cells) {
        const VariantResult* const row = cell.result ? find(*cell.result, variant) : nullptr;
        if (!row) continue;
        if (row->ran() || !row->compiled.empty() || (!reason.empty() && reason != row->refused)) return "";
        reason = row->refused;
    }
    return reason;
}

// The notes that all measured cells share, and the note on repeats. Skipped variants have lines of their own.
std::string note_lines(const SweepResult& result) {
    std::vector<std::string> shared;
    bool is_first = true, is_timed = false;
    for (const SweepCell& cell : result.cells) {
        if (!cell.result) continue;
        const auto& notes = cell.result->notes;
        if (std::exchange(is_first, false)) shared = notes;
        std::erase_if(shared, [&](const std::string& note) {
            return !std::ranges::count(notes, note) || note.find(" skipped: ") != note.npos;
        });
        is_timed = is_timed || std::ranges::any_of(cell.result->variants, [](const VariantResult& variant) {
                       return variant.time.has_value();
                   });
    }
    const std::string few = few_repeats_words(result.sweep.base.repeats);
    if (is_timed && !few.empty() && !result.sweep.search && !std::ranges::count(shared, few))
        shared.push_back(few);
    std::string lines;
    for (const std::string& note : shared) lines += wrapped("note: " + note, 110, 2) + "\n";
    return lines.empty() ? "" : "\n" + lines;
}

// Returns whether the table needs the column: not if it is empty, or if every cell only says "right".
bool is_told(const Table& table, size_t column) {
    const std::string& name = table.columns[column].name;
    if (name == "max abs error") return false;  // the errors beside it say more
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<std::string>& row) {
        return !row[column].empty() && (name != "verdict" || row[column] != "right");
    });
}

// The table without empty columns and without the variants that ran nowhere, which have a line each below it.
std::string text_of(const SweepResult& result, Table table) {
    std::string lines;
    const auto column =
        static_cast<size_t>(std::find_if(table.columns.begin(), table.columns.end(),
                                         [](const Table::Column& each) { return each.name == "variant"; }) -
                            table.columns.begin());
    std::set<std::string> told;
    std::erase_if(table.rows, [&](const std::vector<std::string>& row) {
        const std::string reason = row[column].empty() ? "" : skipped_everywhere(result, row[column]);
        if (!reason.empty() && told.insert(row[column]).second)
            lines += wrapped(row[column] + " skipped: " + reason, 110, 2) + "\n";
        return !reason.empty();
    });
    for (size_t c = table.columns.size(); c-- > 0;) {
        if (is_told(table, c)) continue;
        const auto at = static_cast<std::ptrdiff_t>(c);
        table.columns.erase(table.columns.begin() + at);
        for (auto& row : table.rows) row.erase(row.begin() + at);
    }
    const bool is_compiled = std::any_of(table.columns.begin(), table.columns.end(),
                                         [](const Table::Column& each) { return each.name == "registers"; });
    const auto cell =
        std::ranges::find_if(result.cells, [](const SweepCell& one) { return one.result != nullptr; });
    if (const std::string& arch = result.sweep.base.arch; is_compiled)
        lines += wrapped(compiled_legend(arch.empty() ? cell->result->device : arch), 110, 0) + "\n";
    return table.plain() + (lines.empty() ? "" : "\n" + lines) + best_lines(result) + note_lines(result);
}

// The document of --export if that was requested, otherwise the document of the sweep.
Outcome<std::string> text_asked(const Arguments& arguments, const SweepResult& result, const Table& table) {
    if (arguments.value("--export") == "json" && best_cells(result).empty())
        return Error::failure("--export json: no cell has a right result with a time");
    if (arguments.value("--export") == "json") return tuned_json(result);
    if (arguments.value("--export") == "triton") return triton_configs(result);
    return text_of(result, table);
}

}  // namespace

std::string first_wrong(const SweepResult& result) {
    for (const SweepCell& cell : result.cells) {
        const std::string words = cell.result ? sawtooth::first_wrong(*cell.result) : "";
        if (words.empty()) continue;
        return cell_words(result.sweep, cell.values) + ": " + words;
    }
    return "";
}

std::string best_lines(const SweepResult& result) {
    if (!result.complete || result.cells.size() < 2) return "";
    const std::vector<BestCells> all = best_cells(result);
    const Family& family = **find_offered_family(result.sweep.base.family);
    std::string lines;
    if (has_best(result.sweep, family)) {
        for (const BestCells& best : all)
            lines += wrapped("fastest " + best_words(result, best), 110, 2) + "\n";
        if (!result.sweep.search &&
            std::ranges::any_of(all, [](const BestCells& best) { return best.cells.size() > 1; }))
            lines += fmt::format(
                "cells were measured one after another, so only factors above {} tell them apart; "
                "--best measures in turns\n",
                apart_within);
        for (const Variant& variant : family.variants)
            if (std::count_if(result.cells.begin(), result.cells.end(), [&](const SweepCell& cell) {
                    return right_in(cell, variant.name) != nullptr;
                }) == 1)
                lines += variant.name +
                         " has a right result with a time in one cell only, so no cell is the fastest\n";
    }
    return lines.empty() ? "" : "\n" + lines;
}

int write_sweep(const Arguments& arguments, const TableFiles& files, const SweepResult& result,
                const std::optional<Error>& error) {
    const Table table = sweep_table(result);
    const auto text = text_asked(arguments, result, table);
    const int written = write_documents(files, arguments.has("--json"),
                                        {.text = text ? *text : std::string(),
                                         .json = to_json(result),
                                         .csv = table.csv(),
                                         .markdown = table.markdown()});
    if (error) return fail(*error);
    const std::string wrong = first_wrong(result);
    if (!text && wrong.empty()) return fail(text.error());
    return exit_code(written, wrong, arguments.has("--allow-wrong"));
}

}  // namespace sawtooth::cli
