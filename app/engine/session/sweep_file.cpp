#include "app/engine/session/sweep_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "app/engine/session/session_fields.h"
#include "app/engine/tables/commands.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

constexpr auto write_interval = std::chrono::seconds(2);

// A sweep as a file has it.
Sweep portable_sweep(Sweep sweep) {
    sweep.base = portable(std::move(sweep.base));
    return sweep;
}

// The session of a file. Errors: those of read_session; usage: parts that this build cannot read.
Outcome<Session> whole(const std::string& path, std::stop_token stop = {}) {
    auto read = read_session(path, std::move(stop));
    if (!read) return read.error();
    if (read->is_partial) return Error::usage(fmt::format("{}: {}", path, read->notes.front()));
    return std::move(read->session);
}

// The session of the file, or an empty one if there is no file.
Outcome<Session> existing(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 && errno == ENOENT) return Session();
    return whole(path);
}

// Adds the cell at its place, with its result as the last of the session.
void put(Session& session, size_t sweep, SessionSweep::Cell cell,
         const std::optional<SessionResult>& result) {
    std::vector<SessionSweep::Cell>& cells = session.sweeps[sweep].cells;
    const auto place =
        std::lower_bound(cells.begin(), cells.end(), cell.index,
                         [](const SessionSweep::Cell& other, uint64_t index) { return other.index < index; });
    if (result) {
        cell.result = session.results.size();
        session.results.push_back(*result);
    }
    if (place != cells.end() && place->index == cell.index)
        *place = std::move(cell);  // which was refused before
    else
        cells.insert(place, std::move(cell));
}

bool has_result(const SessionSweep& sweep, uint64_t index) {
    const auto found = std::ranges::find(sweep.cells, index, &SessionSweep::Cell::index);
    return found != sweep.cells.end() && found->result;
}

// The index of the last sweep that is equal to this one.
std::optional<size_t> place_of(const Sweep& sweep, const Session& session) {
    for (size_t index = session.sweeps.size(); index-- > 0;)
        if (session.sweeps[index].sweep == sweep) return index;
    return {};
}

// Puts the cells into a sweep that has all of them, unmeasured.
std::optional<Error> fill_from(const Session& session, const SessionSweep& sweep, SweepResult& result) {
    auto opened = open_sweep(session, sweep);
    if (!opened) return opened.error();
    for (const SessionSweep::Cell& cell : sweep.cells)
        result.cells[cell.index] = std::move(opened->cells[cell.index]);
    result.complete = opened->complete;
    return {};
}

}  // namespace

Outcome<SweepFile> SweepFile::added(const std::string& path, const Sweep& sweep) {
    auto session = existing(path);
    if (!session) return session.error();
    session->sweeps.push_back({portable_sweep(sweep), {}});
    const size_t index = session->sweeps.size() - 1;
    return SweepFile(path, std::move(*session), index, false);
}

Outcome<SweepFile> SweepFile::resumed(const std::string& path, const Sweep& sweep) {
    auto session = existing(path);
    if (!session) return session.error();
    if (session->sweeps.empty()) return added(path, sweep);
    if (const auto place = place_of(portable_sweep(sweep), *session))
        return SweepFile(path, std::move(*session), *place, true);
    return Error::usage(fmt::format("{} has another sweep: {}; name another file, or leave out --resume",
                                    path, command_of(session->sweeps.back().sweep)));
}

std::optional<Error> SweepFile::fill(SweepResult& result) const {
    return fill_from(session_, session_.sweeps[sweep_], result);
}

void SweepFile::add(size_t index, const SweepCell& cell) {
    added_.push_back({{index, cell.values, cell.refused, {}},
                      cell.result ? std::optional(SessionResult(*cell.result)) : std::nullopt});
    const Added& added = added_.back();
    put(session_, sweep_, added.cell, added.result);
    if (!written_ || std::chrono::steady_clock::now() - *written_ >= write_interval)
        static_cast<void>(write());
}

std::optional<Error> SweepFile::write() {
    written_ = std::chrono::steady_clock::now();
    if (stamp_of(path_) != stamp_)
        if (auto problem = take_session_of_others()) return problem;
    if (auto problem = write_session(path_, session_)) return problem;
    stamp_ = stamp_of(path_);
    is_in_file_ = true;
    return {};
}

std::optional<Error> SweepFile::take_session_of_others() {
    auto session = existing(path_);
    if (!session) return session.error();
    const Sweep sweep = session_.sweeps[sweep_].sweep;
    auto place = is_in_file_ ? place_of(sweep, *session) : std::nullopt;
    if (!place) {
        session->sweeps.push_back({sweep, {}});
        place = session->sweeps.size() - 1;
    }
    for (const Added& added : added_)
        if (!has_result(session->sweeps[*place], added.cell.index))
            put(*session, *place, added.cell, added.result);
    session_ = std::move(*session);
    sweep_ = *place;
    return {};
}

Outcome<ShardFile> read_shard(const std::string& path, std::stop_token stop) {
    auto session = whole(path, std::move(stop));
    if (!session) return session.error();
    if (session->sweeps.empty())
        return Error::usage(path + " has no sweep; expected a file that sawtooth sweep --session wrote");
    return ShardFile{path, std::move(*session)};
}

Outcome<Session> joined(const std::vector<ShardFile>& shards) {
    const Sweep& wanted = shards.front().session.sweeps.back().sweep;
    std::map<uint64_t, std::pair<const Session*, const SessionSweep::Cell*>> chosen;
    for (const ShardFile& shard : shards) {
        bool is_of_it = false;
        const auto& sweeps = shard.session.sweeps;
        for (size_t after = sweeps.size(); after > 0; --after) {  // the newest first
            const SessionSweep& sweep = sweeps[after - 1];
            if (sweep.sweep != wanted) continue;
            is_of_it = true;
            for (const SessionSweep::Cell& cell : sweep.cells) {
                auto& place = chosen[cell.index];
                if (!place.second || (!place.second->result && cell.result)) place = {&shard.session, &cell};
            }
        }
        if (!is_of_it)
            return Error::usage(fmt::format("{} and {} have different sweeps: {} and {}", shards.front().path,
                                            shard.path, command_of(wanted),
                                            command_of(shard.session.sweeps.back().sweep)));
    }
    Session all;
    all.sweeps.push_back({wanted, {}});
    for (const auto& [index, place] : chosen) {
        const auto& [session, cell] = place;
        put(all, 0, *cell, cell->result ? std::optional(session->results[*cell->result]) : std::nullopt);
    }
    return all;
}

Outcome<SweepResult> whole_sweep(const Session& session) {
    SweepResult result = unmeasured(session.sweeps.front().sweep);
    if (auto error = fill_from(session, session.sweeps.front(), result)) return *error;
    return result;
}

}  // namespace sawtooth
