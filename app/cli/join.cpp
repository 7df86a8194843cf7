#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "app/cli/interrupts.h"
#include "app/cli/session_file.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/sweep_documents.h"
#include "app/cli/terminal.h"
#include "app/engine/session/session_fields.h"
#include "app/engine/session/sweep_file.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth::cli {
namespace {

Outcome<std::vector<ShardFile>> read_shards(const std::vector<std::string>& paths,
                                            const std::stop_token& stop) {
    std::vector<ShardFile> shards;
    for (const std::string& path : paths) {
        auto shard = read_shard(path, stop);
        if (!shard) return shard.error();
        shards.push_back(std::move(*shard));
    }
    return shards;
}

// Says if the files are of several builds, which may time differently.
void note_builds(const std::vector<ShardFile>& shards) {
    std::set<std::string> builds;
    for (const ShardFile& shard : shards) builds.insert(shard.session.program);
    std::string names;
    for (const std::string& build : builds) names += (names.empty() ? "" : ", ") + build;
    if (builds.size() > 1) print_note("measured by different builds of sawtooth: " + names);
}

// Adds the sweep. If the session has it already, with no other result of a cell, that one gets the cells that
// it lacks: the same files may be joined again once more of their cells are measured.
void add_joined(Session& to, const Session& from) {
    using Cell = SessionSweep::Cell;
    const SessionSweep& joined = from.sweeps.front();
    std::map<uint64_t, Cell> cells;
    for (const Cell& cell : joined.cells) cells.emplace(cell.index, cell);
    const auto bytes_of = [](const Session& session, const Cell& cell) -> const std::string& {
        return session.results[*cell.result].packed()->content.packed;
    };
    const auto is_other = [&](const Cell& cell) {
        const auto same = cells.find(cell.index);
        return cell.result && same != cells.end() && same->second.result &&
               bytes_of(to, cell) != bytes_of(from, same->second);
    };
    const auto known = std::find_if(to.sweeps.rbegin(), to.sweeps.rend(), [&](const SessionSweep& sweep) {
        return sweep.sweep == joined.sweep && std::ranges::none_of(sweep.cells, is_other);
    });
    SessionSweep& sweep =
        known == to.sweeps.rend() ? to.sweeps.emplace_back(SessionSweep{joined.sweep, {}}) : *known;
    std::vector<Cell>& kept = sweep.cells;
    for (const Cell& cell : kept)
        if (cell.result) cells.erase(cell.index);
    std::erase_if(kept, [&](const Cell& cell) { return cells.contains(cell.index); });  // refused before
    for (auto& [index, cell] : cells) {
        if (cell.result) {
            to.results.push_back(from.results[*cell.result]);
            cell.result = to.results.size() - 1;
        }
        kept.push_back(std::move(cell));
    }
    std::ranges::sort(kept, {}, &Cell::index);
}

}  // namespace

int join(const Arguments& arguments) {
    if (arguments.files.empty())
        return fail(Error::usage("join needs SESSION, the files that sawtooth sweep --session wrote"));
    const auto files = settle_files(arguments);
    if (!files) return fail(files.error());
    if (const auto problem = check_session(arguments)) return fail(*problem);
    Interrupts interrupts;
    const auto shards = read_shards(arguments.files, interrupts.token());
    if (!shards) return fail(shards.error());
    note_builds(*shards);
    const auto session = joined(*shards);
    if (!session) return fail(session.error());
    const auto opened = whole_sweep(*session);
    if (!opened) return fail(opened.error());
    const SweepResult& result = *opened;
    if (const auto problem = add_to_session(arguments, [&](Session& to) { add_joined(to, *session); }))
        return fail(*problem);
    std::optional<Error> error;
    if (!result.complete)
        error = Error::failure(fmt::format(
            "{} of {} cells are missing: {}; run their shards again with --resume",
            result.cells.size() - count_of_measured(result), result.cells.size(), missing_words(result)));
    return write_sweep(arguments, *files, result, error);
}

}  // namespace sawtooth::cli
