#include "app/cli/arguments.h"
#include "app/cli/subcommands.h"
#include "tests/engine/session/sample_session.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth::cli {
namespace {

TEST_CASE("the report of a session shows pinned results, compares with the baseline, and has the notes",
          "[report][session]") {
    Result other = small_result();
    other.request.parameters.set("length", int64_t{32});
    other.parameters.set("length", int64_t{32});
    Session session;
    session.results.emplace_back(other, small_figures());
    session.results.emplace_back(small_result(), small_figures());
    session.pins = {{0, true}, {1, false}};
    session.notes = {{1, "scan", "timeline", 1, 0, "", 0, "the gap <here>"},
                     {1, "scan", "", 0, 0, "lookback", 0, "one launch"},
                     {0, "scan", "timeline", 1, 0, "", 0, "of the baseline"},
                     {1, "memory", "timeline", 1, 0, "", 0, "of another family"}};
    const TemporaryFolder folder;
    REQUIRE_FALSE(write_session(folder.file("one.sawtooth"), session));
    Arguments arguments;
    arguments.target = folder.file("page");
    arguments.options["--from"] = {folder.file("one.sawtooth")};
    REQUIRE(report_session(arguments) == 0);
    const std::string page = content_of(folder.file("page/index.html"));
    CHECK(contains(page, "Pinned, faded in the figures: length 32. The baseline of the times is length 32."));
    CHECK(contains(page, ", length 32</"));  // a label of a faded line
    CHECK(contains(page, "vs length 32"));
    CHECK(contains(page, "launch 1 of lookback: one launch</li>"));
    CHECK(contains(page, ": the gap &lt;here&gt;</li>"));
    CHECK(contains(page, "<li>length 32, "));
    CHECK_FALSE(contains(page, "of another family"));
}

}  // namespace
}  // namespace sawtooth::cli
