#include <fmt/format.h>

#include <set>

#include "app/cli/interrupts.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/sweep_documents.h"
#include "app/cli/terminal.h"
#include "app/engine/files/files.h"
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

}  // namespace

int join(const Arguments& arguments) {
    if (arguments.files.empty())
        return fail(Error::usage("join needs SESSION, the files that sawtooth sweep --session wrote"));
    const auto files = settle_files(arguments);
    if (!files) return fail(files.error());
    const std::string path = arguments.value("--session");
    if (!path.empty())
        if (const auto problem = check_replaceable(path)) return fail(*problem);
    Interrupts interrupts;
    const auto shards = read_shards(arguments.files, interrupts.token());
    if (!shards) return fail(shards.error());
    note_builds(*shards);
    const auto session = joined(*shards);
    if (!session) return fail(session.error());
    const auto opened = whole_sweep(*session);
    if (!opened) return fail(opened.error());
    const SweepResult& result = *opened;
    if (!path.empty())
        if (const auto problem = write_session(path, *session)) return fail(*problem);
    std::optional<Error> error;
    if (!result.complete)
        error = Error::failure(fmt::format(
            "{} of {} cells are missing: {}; run their shards again with --resume",
            result.cells.size() - count_of_measured(result), result.cells.size(), missing_words(result)));
    return write_sweep(arguments, *files, result, error);
}

}  // namespace sawtooth::cli
