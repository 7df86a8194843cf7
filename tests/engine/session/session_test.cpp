// Session files: what is written comes back, without what belongs to a machine.

#include "app/engine/session/session.h"

#include <sys/stat.h>

#include "app/engine/identity.h"
#include "app/engine/wire/messages.h"
#include "tests/engine/session/sample_session.h"
#include "tests/engine/short_disk.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// The bytes of a result without its Request, for comparing all the rest.
std::string bytes_of(const Result& result) {
    auto bare = std::make_shared<Result>(result);
    bare->request = {};
    return encode(FromWorker(Shown{0, bare, nullptr, 0}));
}
std::string bytes_of(const Figures& figures) { return encode(FromWorker(FiguresMade{0, figures})); }

TEST_CASE("a result comes back from a session as it was, without the data of its arrays", "[session]") {
    const SessionResult packed(small_result(), small_figures(), "2026-11-26 14:03:27");
    const auto back = opened(packed);
    CHECK(bytes_of(*back.result) == bytes_of(small_result()));
    CHECK(bytes_of(back.figures) == bytes_of(small_figures()));
    CHECK(back.result->request == small_request());
    CHECK_FALSE(back.result->inputs.front().data);
    const ResultSummary& summary = packed.summary();
    CHECK(summary.parameters == small_result().parameters);
    CHECK(summary.date == "2026-11-26 14:03:27");
    REQUIRE(summary.variants.size() == small_result().variants.size());
    CHECK(summary.variants.front().median_us == small_result().variants.front().time->median);
    CHECK(summary.variants.front().verdict == small_result().variants.front().verdict());
    CHECK_FALSE(opened(SessionResult(small_result())).figures);
    CHECK_FALSE(SessionResult().open());
}

TEST_CASE("every field of a result and every mark comes back from a session", "[session]") {
    const SessionResult packed(whole_result(), std::make_shared<const std::vector<Figure>>(all_marks()));
    const auto back = opened(packed);
    Result expected = whole_result();
    for (const char* word : {"inputs came from a file", "kernels came from a folder"})
        expected.notes.push_back(std::string(word) + ", which is not part of the session");
    CHECK(bytes_of(*back.result) == bytes_of(expected));
    CHECK(bytes_of(back.figures) == bytes_of(std::make_shared<const std::vector<Figure>>(all_marks())));
    CHECK(packed.summary().machine == "a GPU, driver 580.1");
}

TEST_CASE("a session file keeps everything but commands and paths", "[session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    const Session session = small_session();
    REQUIRE_FALSE(write_session(path, session));
    const auto read = read_session(path);
    REQUIRE(read);
    CHECK(read->notes.empty());
    CHECK_FALSE(read->is_partial);
    const Session& back = read->session;
    CHECK(back.program == build_identity());
    CHECK(back.date.size() == 19);
    CHECK(back.machines ==
          std::vector<std::string>{small_session().results[0].summary().machine, "a GPU, driver 580.1"});
    REQUIRE(back.results.size() == 3);
    for (size_t i = 0; i < back.results.size(); ++i) {
        const auto before = opened(session.results[i]), after = opened(back.results[i]);
        CHECK(bytes_of(*after.result) == bytes_of(*before.result));
        CHECK(after.result->request == before.result->request);
        CHECK(bytes_of(after.figures) == bytes_of(before.figures));
        CHECK(back.results[i].summary().date == session.results[i].summary().date);
    }
    CHECK(back.results[1].summary().request.on.empty());
    CHECK(back.results[1].summary().request.kernels.empty());
    CHECK(back.results[1].summary().request.input.empty());
    CHECK(back.history == session.history);
    REQUIRE(back.pins.size() == 2);
    CHECK(back.pins[0].result == 1);
    CHECK(back.pins[0].is_baseline);
    REQUIRE(back.benches.size() == 1);
    CHECK(encode(FromWorker(BenchDone{0, back.benches[0]})) ==
          encode(FromWorker(BenchDone{0, small_bench()})));
    REQUIRE(back.notes.size() == 2);
    CHECK(back.notes[0].y == -2);
    CHECK(back.notes[1].launch == 7);
    CHECK(back.family == "scan");
    CHECK_FALSE(contains(content_of(path), "touch evil"));
}

TEST_CASE("a sweep comes back from a session with its cells", "[session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    REQUIRE_FALSE(write_session(path, small_session()));
    const Session back = read_back(path);
    REQUIRE(back.sweeps.size() == 1);
    CHECK(back.sweeps[0].sweep.base.on.empty());
    const auto opened = open_sweep(back, back.sweeps[0]);
    REQUIRE(opened);
    REQUIRE(opened->cells.size() == 2);
    CHECK_FALSE(opened->complete);
    CHECK(opened->cells[0].refused == "too small");
    CHECK_FALSE(opened->cells[0].result);
    CHECK(opened->cells[1].values == small_sweep().cells[1].values);
    CHECK(bytes_of(*opened->cells[1].result) == bytes_of(small_result()));
}

TEST_CASE("an empty session is a file", "[session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    REQUIRE_FALSE(write_session(path, {}));
    CHECK(read_back(path).results.empty());
}

TEST_CASE("a session that could not be read does not replace one that can", "[session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    REQUIRE_FALSE(write_session(path, small_session()));
    const std::string before = content_of(path);
    Session long_one;
    long_one.notes.resize(1);
    long_one.notes[0].text = std::string(65 << 20, 'x');
    const auto problem = write_session(path, long_one);
    REQUIRE(problem);
    CHECK(contains(problem->text, path + ": a session of 0 results has 681"));
    Session many;  // few bytes that are many values
    many.benches.resize(3 << 20);
    CHECK(contains(write_session(path, many)->text, "too many values in its summaries"));
    CHECK(content_of(path) == before);
}

TEST_CASE("a session is written whole or not at all", "[session]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    REQUIRE_FALSE(write_session(path, small_session()));
    const std::string before = content_of(path);
    {
        const ShortDisk disk(before.size() / 2);
        const auto problem = write_session(path, small_session());
        REQUIRE(problem);
        CHECK(contains(problem->text, path));
    }
    REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
    if (::access(folder.path().c_str(), W_OK) != 0) {  // root may write everywhere
        const auto problem = write_session(path, {});
        REQUIRE(problem);
        CHECK(contains(problem->text, path));
    }
    CHECK(content_of(path) == before);
    CHECK(write_session(folder.file("none/a.sawtooth"), {}));
    CHECK(folder.names() == std::vector<std::string>{"a.sawtooth"});
}

}  // namespace
}  // namespace sawtooth
