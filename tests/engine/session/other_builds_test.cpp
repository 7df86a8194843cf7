// Session files of other builds: what is new to this one is left out, and what is missing has its default.

#include "tests/engine/session/raw_session.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

ReadSession read_again(const RawSession& raw) {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.sawtooth");
    put(path, raw);
    auto read = read_session(path);
    if (!read) FAIL(read.error().text);
    return *read;
}

TEST_CASE("an unknown parameter is dropped and a missing one defaulted, each with one note", "[session]") {
    RawSession raw = sawtooth::raw(small_session());
    for (ResultSummary& summary : raw.index.results) {
        summary.parameters.set("moon", int64_t{3});
        summary.request.parameters.set("length", int64_t{-64});
        summary.parameters.values.erase("channels");
    }
    const ReadSession read = read_again(raw);
    REQUIRE(read.notes.size() == 3);
    CHECK_FALSE(read.is_partial);
    const std::string notes = read.notes[0] + "\n" + read.notes[1] + "\n" + read.notes[2];
    CHECK(contains(notes, "parameter moon of scan is unknown to this build and left out (3 times)"));
    CHECK(contains(notes, "length = -64"));
    CHECK(contains(notes, "parameter channels of scan is not in the file; its default"));
    for (const SessionResult& result : read.session.results) {
        CHECK(result.summary().parameters.values.size() == small_result().parameters.values.size());
        CHECK_FALSE(result.summary().request.parameters.has("length"));
        CHECK(result.open());
    }
}

TEST_CASE("results of an unknown family are left out, and indices follow", "[session]") {
    RawSession raw = sawtooth::raw(small_session());
    raw.index.results[0].request.family = "weaving";
    const ReadSession read = read_again(raw);
    CHECK(read.is_partial);
    REQUIRE(read.notes.size() == 1);
    CHECK(contains(read.notes[0], "\"weaving\""));
    CHECK(read.session.results.size() == 2);
    CHECK(read.session.history == std::vector<uint64_t>{0});
    REQUIRE(read.session.pins.size() == 1);
    CHECK(read.session.pins[0].result == 0);
    CHECK(read.session.notes.size() == 1);
    CHECK(read.session.sweeps[0].cells[1].result == 1u);
    raw.index.sweeps[0].sweep.base.family = "weaving";
    CHECK(read_again(raw).session.sweeps.empty());
    raw.index.benches[0].rows[0].variant = "unheard";
    const ReadSession other = read_again(raw);
    CHECK(other.session.benches.empty());
    CHECK(other.notes.size() == 3);
}

TEST_CASE("variants keep their names when the family gets others", "[session]") {
    Result result = small_result();
    for (VariantResult& variant : result.variants) variant.index += 2;
    std::swap(result.variants[0], result.variants[1]);
    result.variants.push_back(result.variants[0]);
    result.variants.back().name = "unheard";
    Session session;
    session.results.emplace_back(result);
    const ReadSession read = read_again(sawtooth::raw(session));
    REQUIRE(read.notes.size() == 1);
    CHECK(contains(read.notes[0], "variant unheard of scan"));
    const Result back = *opened(read.session.results[0]).result;
    REQUIRE(back.variants.size() == 2);
    for (size_t i = 0; i < 2; ++i) {
        CHECK(back.variants[i].name == small_result().variants[i].name);
        CHECK(back.variants[i].index == small_result().variants[i].index);
    }
}

// A field that this build does not know, in front of those of a map with fewer than 15.
std::string with_new_field(const std::string& bytes) {
    std::string changed = bytes;
    changed[0] = static_cast<char>(changed[0] + 1);
    return changed.insert(1,
                          "\xA3"
                          "new\x93\x01\xC0\xA1x");
}

TEST_CASE("fields that were added later are passed over", "[session]") {
    RawSession raw = sawtooth::raw(small_session());
    raw.index_bytes = with_new_field(bytes_of(raw.index));
    for (Deflated& result : raw.results) result = deflated(with_new_field(*inflated(result)));
    const ReadSession read = read_again(raw);
    CHECK(read.notes.empty());
    for (const SessionResult& result : read.session.results) CHECK(result.open());
}

// The file that the first build with sessions wrote. It must open for ever: no build may replace it.
TEST_CASE("the kept session file opens", "[session]") {
    const auto read =
        read_session(std::string(SAWTOOTH_SOURCE_DIR) + "/tests/engine/session/kept_format_1.sawtooth");
    if (!read) FAIL(read.error().text);
    CHECK_FALSE(read->is_partial);
    const Session& session = read->session;
    CHECK(contains(session.program, "0.2.0"));
    CHECK(session.date.starts_with("2026-"));
    REQUIRE(session.results.size() == 3);
    CHECK(session.results[0].summary().date == "2026-11-26 14:03:27");
    const auto first = opened(session.results[0]), second = opened(session.results[1]);
    CHECK(first.result->parameters.integer("length") == 64);
    CHECK(first.result->variants.size() == 2);
    CHECK(first.result->variants[0].time->samples.size() == 2);
    CHECK_FALSE(first.result->variants[0].launches.empty());
    CHECK(first.figures->size() > 5);
    CHECK(second.result->backend == Backend::cuda);
    CHECK(second.result->variants[0].launches.size() == 3);
    CHECK(second.result->ceilings->gpu->launch_programmatic_us == 4);
    REQUIRE(second.figures->size() == all_marks().size());
    CHECK(second.figures->front().marks.size() >= 10);
    CHECK(session.history == std::vector<uint64_t>{1, 0});
    CHECK(session.pins.size() == 2);
    CHECK(session.benches.at(0).rows.size() == 1);
    CHECK(session.notes.at(1).text == "why");
    const auto sweep = open_sweep(session, session.sweeps.at(0));
    REQUIRE(sweep);
    CHECK(sweep->cells.size() == 2);
}

TEST_CASE("writes the kept session file, once for a format", "[.kept]") {
    REQUIRE_FALSE(write_session("kept.sawtooth", small_session()));
}

}  // namespace
}  // namespace sawtooth
