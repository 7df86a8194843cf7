#include "app/engine/session/sweep_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "app/engine/session/session_fields.h"
#include "app/engine/tables/tables.h"

namespace sawtooth {
namespace {

constexpr auto write_interval = std::chrono::seconds(2);

Sweep portable_sweep(Sweep sweep) {
    sweep.base = portable(std::move(sweep.base));
    return sweep;
}

bool exists(const std::string& path) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0;
}

// Adds the cell at its place, with its result as the last of the session.
void put(Session& session, SessionSweep::Cell cell, const std::optional<SessionResult>& result) {
    std::vector<SessionSweep::Cell>& cells = session.sweeps.front().cells;
    if (result) {
        cell.result = session.results.size();
        session.results.push_back(*result);
    }
    const auto place =
        std::lower_bound(cells.begin(), cells.end(), cell.index,
                         [](const SessionSweep::Cell& other, uint64_t index) { return other.index < index; });
    cells.insert(place, std::move(cell));
}

}  // namespace

SweepFile::SweepFile(std::string path, const Sweep& sweep) : path_(std::move(path)) {
    session_.sweeps.push_back({portable_sweep(sweep), {}});
}

Outcome<SweepFile> SweepFile::resumed(const std::string& path, const Sweep& sweep) {
    SweepFile file(path, sweep);
    if (!exists(path)) return file;
    auto read = read_shard(path);
    if (!read) return read.error();
    const Sweep& own = file.session_.sweeps.front().sweep;
    if (read->session.sweeps.front().sweep != own)
        return Error::usage(
            fmt::format("{} has another sweep: {}; write to another file, or leave out --resume", path,
                        command_of(read->session.sweeps.front().sweep)));
    file.session_ = std::move(read->session);
    return file;
}

std::optional<Error> fill(SweepResult& result, const Session& session) {
    const SessionSweep& sweep = session.sweeps.front();
    const auto opened = open_sweep(session, sweep);
    if (!opened) return opened.error();
    for (const SessionSweep::Cell& cell : sweep.cells) result.cells[cell.index] = opened->cells[cell.index];
    result.complete = opened->complete;
    return {};
}

void SweepFile::add(size_t index, const SweepCell& cell) {
    put(session_, {index, cell.values, cell.refused, {}},
        cell.result ? std::optional(SessionResult(*cell.result)) : std::nullopt);
    if (std::chrono::steady_clock::now() - written_ >= write_interval) static_cast<void>(write());
}

std::optional<Error> SweepFile::write() {
    written_ = std::chrono::steady_clock::now();
    return write_session(path_, session_);
}

Outcome<ShardFile> read_shard(const std::string& path, std::stop_token stop) {
    auto read = read_session(path, std::move(stop));
    if (!read) return read.error();
    if (read->is_partial) return Error::usage(fmt::format("{}: {}", path, read->notes.front()));
    if (read->session.sweeps.size() != 1)
        return Error::usage(
            fmt::format("{} has {} sweeps; expected one, as sawtooth sweep --session writes it", path,
                        read->session.sweeps.size()));
    return ShardFile{path, std::move(read->session)};
}

Outcome<Session> joined(const std::vector<ShardFile>& shards) {
    const ShardFile& first = shards.front();
    std::map<uint64_t, std::pair<const ShardFile*, const SessionSweep::Cell*>> chosen;
    for (const ShardFile& shard : shards) {
        const SessionSweep& sweep = shard.session.sweeps.front();
        if (sweep.sweep != first.session.sweeps.front().sweep)
            return Error::usage(fmt::format("{} and {} have different sweeps: {} and {}", first.path,
                                            shard.path, command_of(first.session.sweeps.front().sweep),
                                            command_of(sweep.sweep)));
        for (const SessionSweep::Cell& cell : sweep.cells) {
            auto& place = chosen[cell.index];
            if (!place.second || (!place.second->result && cell.result)) place = {&shard, &cell};
        }
    }
    Session all;
    all.sweeps.push_back({first.session.sweeps.front().sweep, {}});
    for (const auto& [index, place] : chosen) {
        const auto& [shard, cell] = place;
        put(all, *cell, cell->result ? std::optional(shard->session.results[*cell->result]) : std::nullopt);
    }
    return all;
}

}  // namespace sawtooth
