// What becomes of a job whose worker hangs, exits, breaks the protocol or never starts.

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>

#include "app/engine/sources/worker_link.h"
#include "tests/engine/run_worker.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using Clock = std::chrono::steady_clock;

TEST_CASE("a launch that hangs stops its worker, and the error names it", "[worker]") {
    const TemporaryFolder folder;
    Engine engine(shared_cache(), [] {});
    Request hanging = scan_on(
        saying(folder, "hangs", greeting() + message(Said{1, {0.5, "lookback, repeat 3 of 9"}})), 777);
    hanging.time_limit_seconds = 0.2;
    bool counted_down = false;
    const Event failed = end_of(engine, engine.run(hanging, {}), [&](const Event& event) {
        counted_down = counted_down || event.progress.deadline;
    });
    REQUIRE(failed.error);
    CHECK(failed.error->exit_code() == 1);
    INFO(failed.error->text);
    CHECK(contains(failed.error->text, "lookback, repeat 3 of 9 did not finish within 0.2 s"));
    CHECK(contains(failed.error->text, "scan: length 777"));
    CHECK(counted_down);
    REQUIRE(end_of(engine, engine.run(scan_on(worker_command()), {})).result);

    // In a sweep the error is the reason of a refused cell.
    WorkerLink link("");
    const auto cell = link.cell({"", hanging, {{"channels", {int64_t{1}, int64_t{2}}}}}, 1, {});
    REQUIRE(cell);
    CHECK(contains(cell->refused, "channels 2"));
    CHECK(cell->values == std::vector<Value>{int64_t{2}});
}

TEST_CASE("a worker that cannot continue is replaced", "[worker]") {
    const TemporaryFolder folder;
    WorkerLink link(shared_cache());
    const std::string fatal =
        message(Failed{1, Error::failure("lookback: cuStreamSynchronize: illegal address"), true});
    const auto failed = link.run(1, scan_on(saying(folder, "fatal", greeting() + fatal), 777), {}, {});
    REQUIRE_FALSE(failed);
    CHECK(contains(failed.error().text, "illegal address (scan: length 777)"));
    CHECK(contains(failed.error().text, "its worker was stopped"));
    CHECK(link.run(1, scan_on(worker_command()), {}, {}));
    // Any other failure is only passed on.
    const std::string refused = message(Failed{3, Error::failure("out of memory"), false});
    const auto told = link.run(1, scan_on(saying(folder, "told", greeting() + refused)), {}, {});
    REQUIRE_FALSE(told);
    CHECK(told.error().text == "out of memory");
    // Neither the words nor the kind of an error are trusted.
    const auto words = [&](int job, const Error& error) {
        const std::string name = "liar" + std::to_string(job);
        return link
            .run(1,
                 scan_on(
                     saying(folder, name, greeting() + message(Failed{static_cast<JobNumber>(job), error}))),
                 {}, {})
            .error();
    };
    CHECK(words(4, Error::failure("")).text == "the worker gave no reason");
    CHECK(words(5, Error::cancelled()).exit_code() == 1);
}

TEST_CASE("a worker that exits before the next job is replaced, whether it had sent its greeting or not",
          "[worker]") {
    const TemporaryFolder folder;
    const std::string exits_once = fmt::format("[ -e '{0}' ] || {{ touch '{0}'; exit 7; }}; {1}",
                                               folder.file("started"), worker_command());
    WorkerLink link("");
    // The first start fails, and its error says why.
    const auto failed = link.run(1, scan_on(exits_once), {}, {});
    REQUIRE_FALSE(failed);
    CHECK(contains(failed.error().text, "it exited, exit code 7"));
    std::filesystem::remove(folder.file("started"));

    // After a loss a worker is started ahead of the next job.
    const std::string fatal = message(Failed{2, Error::failure("illegal address"), true});
    const std::string lost_once =
        fmt::format("if [ -e '{0}' ]; then {1}; else touch '{0}'; {2}; fi", folder.file("lost"), exits_once,
                    saying(folder, "fatal", greeting() + fatal));
    REQUIRE_FALSE(link.run(2, scan_on(lost_once), {}, {}));
    link.warm_up(scan_on(lost_once));
    const auto until = Clock::now() + std::chrono::seconds(30);
    while (!std::filesystem::exists(folder.file("started")) && Clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const pid_t child : children()) {
        siginfo_t ended = {};
        ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
    }
    const auto right = link.run(3, scan_on(lost_once), {}, {});
    INFO((right ? "" : right.error().text));
    CHECK(right);
}

TEST_CASE("the error of a worker lost during a look or fetch names what it ran", "[worker]") {
    const TemporaryFolder folder;
    const std::string fatal = message(Failed{2, Error::failure("illegal address"), true});
    const Request request = shown_at_once(folder, fatal);
    for (const bool fetches : {false, true}) {
        WorkerLink link("");
        const auto seen = link.run(1, request, {}, {});
        REQUIRE(seen);
        const std::string words =
            fetches ? link.fetch_arrays(1, {}).error().text : link.look(1, {}, {}, {}).error().text;
        INFO(words);
        CHECK(contains(words, "illegal address (scan: length 777)"));
        // Without its worker the result is gone, and no new worker is started to find out.
        CHECK(contains(link.look(1, {}, {}, {}).error().text, "run it again"));
        CHECK(children().empty());
    }
}

TEST_CASE("a stopped job is cancelled, and a worker that ignores it is stopped", "[worker]") {
    const TemporaryFolder folder;
    const std::string hangs = saying(folder, "hangs", greeting() + message(Said{1, {0.5, "rows"}}));
    for (const bool leaves : {false, true}) {
        WorkerLink link("");
        if (leaves) link.leave_when_stopped();
        std::stop_source source;
        const auto began = Clock::now();
        const auto outcome =
            link.run(1, scan_on(hangs), {}, source.get_token(), [&](const Progress& progress, auto) {
                if (progress.words == "rows") source.request_stop();
            });
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().exit_code() == 130);
        CHECK(Clock::now() - began < std::chrono::seconds(leaves ? 2 : 30));
        CHECK(children().empty());
    }
    // A worker that reacts keeps running for the next job.
    WorkerLink link("");
    std::stop_source source;
    Request longer = scan_on(worker_command(), 1 << 16);
    longer.repeats = 10000;
    const auto outcome = link.run(1, longer, {}, source.get_token(), [&](const Progress& progress, auto) {
        if (progress.fraction > 0.2) source.request_stop();
    });
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().text == "cancelled");
    const std::set<pid_t> before = children();
    CHECK(link.run(1, scan_on(worker_command()), {}, {}));
    CHECK(children() == before);
}

TEST_CASE("the error of a command that starts no worker has its last output", "[worker]") {
    const TemporaryFolder folder;
    WorkerLink link("");
    const auto words = [&](const std::string& command) {
        const auto outcome = link.run(1, scan_on(command), {}, {});
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().exit_code() == 1);
        INFO(outcome.error().text);
        CHECK(contains(outcome.error().text, command));
        return outcome.error().text;
    };
    CHECK(contains(words("echo no route to host >&2; exit 255"),
                   "exit code 255, with the message \"no route to host"));
    CHECK(contains(words("kill -SEGV $$"), "signal 11"));
    CHECK(contains(words("echo Welcome to this server; sleep 60"), "\"Welcome to this server"));
    CHECK(contains(words("exec >&-; sleep 60"), "closed its output"));
    const std::string other = message(Hello{"9.8.7", 99, 0, ""});
    CHECK(contains(words(saying(folder, "other", other)), "sawtooth 9.8.7 (format 99)"));
    CHECK(contains(words(saying(folder, "rude", message(Alive{}))), "starts with"));
    CHECK(children().empty());
}

TEST_CASE("a worker that exits between jobs is replaced silently", "[worker]") {
    WorkerLink link("");
    const Request request = scan_on("exec " + worker_command());  // the child is the worker, not a shell
    for (int round = 0; round < 3; ++round) {
        REQUIRE(link.run(1, request, {}, {}));
        const std::set<pid_t> running = children();
        REQUIRE(running.size() == 1);
        ::kill(*running.begin(), SIGKILL);
        siginfo_t ended;
        ::waitid(P_PID, static_cast<id_t>(*running.begin()), &ended, WEXITED | WNOWAIT);
    }
    CHECK(link.run(1, request, {}, {}));
}

}  // namespace
}  // namespace sawtooth
