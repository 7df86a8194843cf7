// Several workers that share a task: who does a part, and what becomes of it when its worker is lost.

#include "app/engine/sources/worker_team.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "app/engine/sources/sweep_loop.h"
#include "kernels/figures/sweep_cells.h"
#include "tests/engine/run_worker.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using PartError = TeamTask::PartError;

// A task whose workers only say hello: the test itself does the parts. It notes who did which.
struct Trial {
    TemporaryFolder folder;
    TeamTask task;
    std::mutex mutex;
    std::map<size_t, std::vector<std::string>> tried;  // by part: the workers
    std::vector<size_t> finished;
    std::vector<std::string> lines;

    Trial(size_t workers, size_t parts) {
        for (size_t i = 0; i < workers; ++i)
            task.commands.push_back(saying(folder, "worker" + std::to_string(i), greeting()));
        task.parts = parts;
        task.part_name = "cell";
        task.finished = [this](size_t part) { finished.push_back(part); };
        task.told = [this](const std::string& line) { lines.push_back(line); };
    }
    // `fails` decides with the number of earlier tries.
    void work(const std::function<std::optional<PartError>(size_t part, const std::string& on, size_t tries)>&
                  fails) {
        task.work = [this, fails](WorkerSource&, const std::string& on, size_t part, std::stop_token) {
            const std::lock_guard lock(mutex);
            tried[part].push_back(on);
            return fails(part, on, tried[part].size() - 1);
        };
    }
    std::optional<Error> run(std::stop_token stop = {}) { return run_team(task, "", std::move(stop)); }
    bool all_are_finished() const {
        std::set<size_t> once(finished.begin(), finished.end());
        return once.size() == finished.size() && finished.size() == task.parts;
    }
};

PartError loss() { return {Error::failure("the worker exited, exit code 255"), true}; }

TEST_CASE("several workers do every part once", "[worker][team]") {
    Trial trial(3, 40);
    trial.work([](size_t, const std::string&, size_t) { return std::nullopt; });
    CHECK_FALSE(trial.run());
    CHECK(trial.all_are_finished());
    for (const auto& [part, workers] : trial.tried) CHECK(workers.size() == 1);
    CHECK(trial.lines.empty());
    CHECK(children().empty());
    Trial none(2, 0);
    CHECK_FALSE(none.run());
}

TEST_CASE("the part of a lost worker goes to another one, in one line", "[worker][team]") {
    Trial trial(2, 20);
    trial.work([](size_t part, const std::string&, size_t tries) {
        return part == 7 && tries == 0 ? std::optional(loss()) : std::nullopt;
    });
    CHECK_FALSE(trial.run());
    CHECK(trial.all_are_finished());
    CHECK(trial.tried[7].size() == 2);
    REQUIRE(trial.lines.size() == 1);
    CHECK(contains(trial.lines[0], trial.tried[7][0]));
    CHECK(contains(trial.lines[0], "was lost: the worker exited, exit code 255; its cell goes to another"));
}

TEST_CASE("a part that two workers lost is given up, or ends the task", "[worker][team]") {
    for (const bool gives_up : {true, false}) {
        Trial trial(2, 20);
        std::map<size_t, std::string> given_up;
        if (gives_up)
            trial.task.given_up = [&](size_t part, const Error& error) { given_up[part] = error.text; };
        trial.work([](size_t part, const std::string&, size_t) {
            return part == 3 ? std::optional(loss()) : std::nullopt;
        });
        const auto error = trial.run();
        CHECK(trial.tried[3].size() == 2);
        if (gives_up) {
            CHECK_FALSE(error);
            CHECK(trial.finished.size() == 19);
            CHECK(given_up == std::map<size_t, std::string>{{3, loss().error.text}});
        } else {
            REQUIRE(error);
            CHECK(error->text == loss().error.text);
        }
    }
}

TEST_CASE("a worker that loses two parts in a row gets no more", "[worker][team]") {
    Trial trial(2, 20);
    std::atomic<int> losses = 0, begun = 0;
    const std::string flaky = trial.task.commands[0];
    // The other one has its first part before the first loss, and does it after the second.
    trial.task.work = [&](WorkerSource&, const std::string& on, size_t, std::stop_token) {
        begun += on != flaky;
        while (begun == 0 || (on != flaky && losses < 2))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        losses += on == flaky;
        return on == flaky ? std::optional(loss()) : std::nullopt;
    };
    CHECK_FALSE(trial.run());
    CHECK(trial.all_are_finished());
    REQUIRE(trial.lines.size() == 3);
    CHECK(contains(trial.lines[2], "was lost 2 times in a row; 1 of 2 workers continue"));
}

TEST_CASE("the last worker gets the part that it lost again", "[worker][team]") {
    Trial trial(1, 3);
    trial.work([](size_t part, const std::string&, size_t tries) {
        return part == 1 && tries == 0 ? std::optional(loss()) : std::nullopt;
    });
    CHECK_FALSE(trial.run());
    CHECK(trial.all_are_finished());
    REQUIRE(trial.lines.size() == 1);
    CHECK(contains(trial.lines[0], "its cell goes to a new one"));
}

TEST_CASE("a worker that cannot start leaves the task to the others", "[worker][team]") {
    Trial trial(2, 10);
    trial.task.commands[0] = "echo no route to host >&2; exit 255";
    trial.work([](size_t, const std::string&, size_t) { return std::nullopt; });
    // The good one waits, so that there is work left when the other one fails.
    std::atomic<bool> is_told = false;
    trial.task.told = [&](const std::string& line) {
        trial.lines.push_back(line);
        is_told = true;
    };
    const TeamTask::Work work = trial.task.work;
    trial.task.work = [&](WorkerSource& source, const std::string& on, size_t part, std::stop_token stop) {
        while (!is_told) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return work(source, on, part, std::move(stop));
    };
    CHECK_FALSE(trial.run());
    CHECK(trial.all_are_finished());
    REQUIRE(trial.lines.size() == 1);
    CHECK(contains(trial.lines[0], "no route to host"));
    CHECK(contains(trial.lines[0], "1 of 2 workers continue"));
}

TEST_CASE("a task ends when all workers are lost, with an error, or with a stop", "[worker][team]") {
    Trial lost(2, 10);
    lost.task.commands = {"exit 7", "exit 8"};
    lost.work([](size_t, const std::string&, size_t) { return std::nullopt; });
    const auto error = lost.run();
    REQUIRE(error);
    CHECK(error->exit_code() == 1);
    CHECK(contains(error->text, "all 2 workers are lost, the last one: could not start a worker"));

    Trial wrong(2, 10);
    wrong.work([](size_t part, const std::string&, size_t) {
        return part == 4 ? std::optional(PartError{Error::usage("no such op")}) : std::nullopt;
    });
    const auto usage = wrong.run();
    REQUIRE(usage);
    CHECK(usage->exit_code() == 2);

    Trial stopped(2, 10);
    std::stop_source source;
    stopped.work([&](size_t part, const std::string&, size_t) {
        if (part == 2) source.request_stop();
        return part == 2 ? std::optional(PartError{Error::cancelled()}) : std::nullopt;
    });
    const auto cancelled = stopped.run(source.get_token());
    REQUIRE(cancelled);
    CHECK(cancelled->exit_code() == 130);
    CHECK(stopped.finished.size() < 10);
    CHECK(children().empty());
}

TEST_CASE("a command that waits for a machine does not hold up the others", "[worker][team]") {
    Trial trial(2, 10);
    trial.task.commands[0] = "sleep 60";  // in a queue: it says nothing
    trial.work([](size_t part, const std::string&, size_t tries) {
        return part == 5 && tries == 0 ? std::optional(loss()) : std::nullopt;
    });
    CHECK_FALSE(trial.run());
    CHECK(trial.all_are_finished());
    CHECK(children().empty());
}

TEST_CASE("several workers measure the cells of a sweep", "[worker][team]") {
    const std::vector<std::string> commands = {worker_command(), worker_command() + " "};
    const Sweep sweep{
        "", scan_on(commands[0]), {{"length", {int64_t{64}, int64_t{128}, int64_t{192}, int64_t{256}}}}};
    SweepResult result = unmeasured(sweep);
    std::vector<size_t> seen;
    CHECK_FALSE(run_cells_in_team(commands, shared_cache(), result, {0, 2, 3}, {},
                                  [&](size_t cell) { seen.push_back(cell); }, {}));
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<size_t>{0, 2, 3});
    CHECK_FALSE(result.complete);
    CHECK(is_missing(result.cells[1]));
    CHECK(missing_words(result) == "length 128");
    for (const size_t cell : seen) {
        REQUIRE(result.cells[cell].result);
        const Result& own = *result.cells[cell].result;
        check_right(own);
        CHECK(own.parameters.integer("length") == std::get<int64_t>(sweep.axes[0].values[cell]));
        CHECK(std::find(commands.begin(), commands.end(), own.request.on) != commands.end());
        CHECK_FALSE(own.host.empty());
    }
    // The same in one place.
    WorkerSource source(shared_cache());
    CHECK_FALSE(run_cells(source, result, {1}, {}));
    CHECK(result.complete);
}

TEST_CASE("a sweep whose workers are lost keeps what it has", "[worker][team]") {
    const TemporaryFolder folder;
    // Job 1 of a worker is its start, job 2 the first cell; this one ends after it, and whenever it is
    // started.
    const std::string cell = message(CellDone{2, {{}, "refused by the worker", nullptr}});
    const std::string on = saying(folder, "mortal", greeting() + cell, "sleep 0.3; exit 9");
    const Sweep sweep{"", scan_on(on), {{"length", {int64_t{64}, int64_t{128}, int64_t{192}, int64_t{256}}}}};
    SweepResult result = unmeasured(sweep);
    std::vector<std::string> lines;
    const auto error = run_cells_in_team({on, "exit 7"}, "", result, {0, 1, 2, 3}, {}, {},
                                         [&](const std::string& line) { lines.push_back(line); });
    REQUIRE(error);
    CHECK(error->exit_code() == 1);
    CHECK(contains(error->text, "all 2 workers are lost"));
    CHECK(result.cells[0].refused == "refused by the worker");
    CHECK(count_of_measured(result) == 1);
    CHECK(lines.size() >= 2);
}

}  // namespace
}  // namespace sawtooth
