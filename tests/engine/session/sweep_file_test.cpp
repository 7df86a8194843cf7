// The session files of shards: cells come back, a sweep is continued, shards are joined.

#include "app/engine/session/sweep_file.h"

#include "kernels/figures/sweep_cells.h"
#include "tests/engine/session/sample_session.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

Sweep sweep_of_six() {
    Sweep sweep{"", small_request(), {{"length", {}}}};
    for (int64_t length = 32; length <= 192; length += 32) sweep.axes[0].values.emplace_back(length);
    return sweep;
}

SweepCell measured(const Sweep& sweep, size_t index, const std::string& host = "node1") {
    Result result = small_result();
    result.host = host;
    return {sweep.cell(index), "", std::make_shared<const Result>(result)};
}

// A file with those cells; the last one was refused.
std::string file_with(const TemporaryFolder& folder, const std::string& name, const Sweep& sweep,
                      const std::vector<size_t>& cells) {
    auto file = SweepFile::added(folder.file(name), sweep);
    REQUIRE(file);
    for (const size_t cell : cells)
        file->add(cell, cell == cells.back() ? SweepCell{sweep.cell(cell), "no memory", nullptr}
                                             : measured(sweep, cell, name));
    REQUIRE_FALSE(file->write());
    return folder.file(name);
}

std::vector<size_t> missing_in(const SweepResult& sweep) {
    std::vector<size_t> missing;
    for (size_t i = 0; i < sweep.cells.size(); ++i)
        if (is_missing(sweep.cells[i])) missing.push_back(i);
    return missing;
}

TEST_CASE("a sweep continues with the cells of its file, in any order", "[session][shards]") {
    const TemporaryFolder folder;
    const Sweep sweep = sweep_of_six();
    file_with(folder, "a.sawtooth", sweep, {4, 1, 2});
    Sweep elsewhere = sweep;
    elsewhere.base.on = "ssh other sawtooth worker";
    auto file = SweepFile::resumed(folder.file("a.sawtooth"), elsewhere);
    REQUIRE(file);
    SweepResult result = unmeasured(elsewhere);
    REQUIRE_FALSE(file->fill(result));
    CHECK(missing_in(result) == std::vector<size_t>{0, 3, 5});
    CHECK(result.cells[2].refused == "no memory");
    CHECK(result.cells[4].result->host == "a.sawtooth");
    CHECK(result.cells[4].values == sweep.cell(4));
    CHECK_FALSE(result.complete);
    for (const size_t cell : {5, 0, 3}) file->add(cell, measured(sweep, cell));
    REQUIRE_FALSE(file->write());
    const auto again = SweepFile::resumed(folder.file("a.sawtooth"), sweep);
    REQUIRE(again);
    SweepResult all = unmeasured(sweep);
    REQUIRE_FALSE(again->fill(all));
    CHECK(all.complete);
    CHECK(missing_in(all).empty());
}

TEST_CASE("a cell that was refused is replaced by its result, also beside another process",
          "[session][shards]") {
    const TemporaryFolder folder;
    const Sweep sweep = sweep_of_six();
    file_with(folder, "a.sawtooth", sweep, {0, 1});
    auto file = SweepFile::resumed(folder.file("a.sawtooth"), sweep);
    REQUIRE(file);
    if (GENERATE(false, true)) {  // the other one adds a cell
        auto other = SweepFile::resumed(folder.file("a.sawtooth"), sweep);
        REQUIRE(other);
        other->add(3, measured(sweep, 3));
        REQUIRE_FALSE(other->write());
    }
    file->add(1, measured(sweep, 1));
    REQUIRE_FALSE(file->write());
    SweepResult all = unmeasured(sweep);
    REQUIRE_FALSE(SweepFile::resumed(folder.file("a.sawtooth"), sweep)->fill(all));
    CHECK(all.cells[0].result);
    CHECK(all.cells[1].result);
    CHECK(all.cells[1].refused.empty());
}

TEST_CASE("a sweep without a file begins, and one with that of another sweep is refused",
          "[session][shards]") {
    const TemporaryFolder folder;
    const Sweep sweep = sweep_of_six();
    const auto none = SweepFile::resumed(folder.file("none.sawtooth"), sweep);
    REQUIRE(none);
    SweepResult empty = unmeasured(sweep);
    REQUIRE_FALSE(none->fill(empty));
    CHECK(count_of_measured(empty) == 0);
    CHECK(folder.names().empty());

    file_with(folder, "a.sawtooth", sweep, {0, 1});
    Sweep other = sweep;
    other.base.repeats = 99;
    const auto refused = SweepFile::resumed(folder.file("a.sawtooth"), other);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().exit_code() == 2);
    CHECK(contains(refused.error().text, "has another sweep: sawtooth sweep scan"));
    put(folder.file("b.sawtooth"), "no session");
    CHECK(SweepFile::resumed(folder.file("b.sawtooth"), sweep).error().exit_code() == 2);
    REQUIRE_FALSE(write_session(folder.file("c.sawtooth"), Session{}));
    CHECK(SweepFile::resumed(folder.file("c.sawtooth"), sweep));
    CHECK(contains(read_shard(folder.file("absent")).error().text,
                   "cannot be opened as a session: No such file"));
    CHECK(contains(read_shard(folder.file("b.sawtooth/a.sawtooth")).error().text, "Not a directory"));
    CHECK(contains(read_shard(folder.file("c.sawtooth")).error().text, "has no sweep"));
}

TEST_CASE("shards are joined into one session, and results are preferred to refusals", "[session][shards]") {
    const TemporaryFolder folder;
    const Sweep sweep = sweep_of_six();
    std::vector<ShardFile> shards;
    const auto take = [&](const std::string& name, const std::vector<size_t>& cells) {
        auto shard = read_shard(file_with(folder, name, sweep, cells));
        REQUIRE(shard);
        shards.push_back(std::move(*shard));
    };
    take("a", {5, 0, 1});
    take("b", {3, 1, 2});
    const auto part = joined(shards);
    REQUIRE(part);
    const auto opened = whole_sweep(*part);
    REQUIRE(opened);
    const SweepResult& result = *opened;
    CHECK(missing_in(result) == std::vector<size_t>{4});
    CHECK(missing_words(result) == "length 160");
    CHECK(result.cells[1].result->host == "b");  // refused in a
    CHECK(result.cells[5].result->host == "a");
    CHECK(result.cells[2].refused == "no memory");

    take("c", {4, 2});
    const auto whole = joined(shards);
    REQUIRE(whole);
    REQUIRE_FALSE(write_session(folder.file("all.sawtooth"), *whole));
    const Session back = read_back(folder.file("all.sawtooth"));
    const auto all = whole_sweep(back);
    REQUIRE(all);
    CHECK(all->complete);
    CHECK(back.results.size() == 5);

    Sweep other = sweep;
    other.base.seed = 2;
    auto stranger = read_shard(file_with(folder, "d", other, {4, 5}));
    REQUIRE(stranger);
    shards.push_back(std::move(*stranger));
    const auto refused = joined(shards);
    REQUIRE_FALSE(refused);
    CHECK(contains(refused.error().text, "have different sweeps"));
}

TEST_CASE("a sweep is added to a session that has others, and joined from it", "[session][shards]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    REQUIRE_FALSE(write_session(path, small_session()));
    const Sweep sweep = sweep_of_six();
    file_with(folder, "a.sawtooth", sweep, {0, 1});
    file_with(folder, "a.sawtooth", sweep, {2, 0});
    const Session session = read_back(path);
    CHECK(session.results.size() == small_session().results.size() + 2);
    CHECK(session.sweeps.size() == 3);
    CHECK(session.pins.size() == 2);
    // The last equal sweep is continued, and the cells of both are joined.
    const auto resumed = SweepFile::resumed(path, sweep);
    REQUIRE(resumed);
    SweepResult last = unmeasured(sweep);
    REQUIRE_FALSE(resumed->fill(last));
    CHECK(missing_in(last) == std::vector<size_t>{1, 3, 4, 5});
    const auto shard = read_shard(path);
    REQUIRE(shard);
    const auto both = joined({*shard});
    REQUIRE(both);
    CHECK(missing_in(*whole_sweep(*both)) == std::vector<size_t>{3, 4, 5});
    CHECK(whole_sweep(*both)->cells[0].result);  // refused in the second
}

TEST_CASE("of equal sweeps in a file the newest is joined", "[session][shards]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    const Sweep sweep = sweep_of_six();
    for (const char* const host : {"older", "newer"}) {
        auto file = SweepFile::added(path, sweep);
        REQUIRE(file);
        file->add(0, measured(sweep, 0, host));
        REQUIRE_FALSE(file->write());
    }
    const auto shard = read_shard(path);
    REQUIRE(shard);
    const auto all = joined({*shard});
    REQUIRE(all);
    CHECK(whole_sweep(*all)->cells[0].result->host == "newer");
}

TEST_CASE("a sweep keeps what others add to its file", "[session][shards]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    const Sweep sweep = sweep_of_six();
    const auto add_result = [&] {
        Session session = read_back(path);
        session.results.emplace_back(small_result());
        session.history.push_back(session.results.size() - 1);
        REQUIRE_FALSE(write_session(path, session));
    };
    file_with(folder, "a.sawtooth", sweep, {0, 1});  // an equal sweep
    auto file = SweepFile::added(path, sweep);
    REQUIRE(file);
    add_result();
    file->add(2, measured(sweep, 2));
    REQUIRE_FALSE(file->write());
    add_result();
    file->add(4, measured(sweep, 4));
    REQUIRE_FALSE(file->write());
    const Session session = read_back(path);
    CHECK(session.history.size() == 2);
    CHECK(session.results.size() == 1 + 2 + 2);
    REQUIRE(session.sweeps.size() == 2);
    REQUIRE(session.sweeps[1].cells.size() == 2);
    CHECK(session.sweeps[1].cells[1].index == 4);
    const auto whole = open_sweep(session, session.sweeps[1]);
    REQUIRE(whole);
    CHECK(whole->cells[4].result);
}

TEST_CASE("an interrupted sweep of a session ends with its last cell; one with gaps has all",
          "[session][shards]") {
    Session session;
    SweepResult sweep = unmeasured(sweep_of_six());
    sweep.cells[0] = measured(sweep.sweep, 0);
    add_sweep(session, sweep);
    sweep.cells[2] = measured(sweep.sweep, 2);
    add_sweep(session, sweep);
    CHECK(open_sweep(session, session.sweeps[0])->cells.size() == 1);
    const auto gaps = open_sweep(session, session.sweeps[1]);
    REQUIRE(gaps);
    CHECK(missing_in(*gaps) == std::vector<size_t>{1, 3, 4, 5});
}

}  // namespace
}  // namespace sawtooth
