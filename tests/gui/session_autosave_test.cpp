#include "app/gui/state/session_autosave.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "app/engine/files/host_name.h"
#include "app/engine/session/session.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/session_file.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/user.h"
#include "tests/gui/wait_for.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// The number of a process that has ended.
int dead_process() {
    const pid_t process = ::fork();
    if (process == 0) ::_exit(0);
    ::waitpid(process, nullptr, 0);
    return process;
}

std::string file_of(const TemporaryFolder& folder, int process) {
    return autosave_path(folder.path(), process);
}

// A file as a killed window leaves it, with two results.
std::string leave_session(const TemporaryFolder& folder) {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    for (const int64_t length : {64, 128}) {
        set_parameter(lab, row(lab, "length"), length);
        finish_run(lab, engine);
    }
    std::string path = file_of(folder, dead_process());
    lab.session.path = path;
    save_session(lab);
    finish_writes(lab);
    return path;
}

TEST_CASE("a changed session is autosaved at most every two seconds, and removed when the window closes",
          "[gui][session]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    SessionAutosave autosave(lab, folder.path());
    const std::string path = file_of(folder, ::getpid());
    autosave.follow(lab, 10);
    CHECK_FALSE(autosave.due(lab));  // nothing to save yet
    finish_run(lab, engine);
    CHECK(autosave.due(lab));
    autosave.follow(lab, 10);
    CHECK_FALSE(autosave.due(lab));
    set_parameter(lab, row(lab, "length"), int64_t{64});
    finish_run(lab, engine);
    autosave.follow(lab, 11);
    CHECK(autosave.due(lab) == 12.0);
    finish_writes(lab);
    CHECK(read_session(path)->session.history.size() == 1);
    autosave.follow(lab, 12);
    finish_writes(lab);
    CHECK(read_session(path)->session.history.size() == 2);
    autosave.end(lab);
    finish_writes(lab);
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("the session of a process that was killed is offered, and restored into the file of this one",
          "[gui][session]") {
    const TemporaryFolder folder;
    const std::string left = leave_session(folder);
    FakeEngine engine;
    LabState lab = lab_with(engine);
    offer_session(lab, folder.path());
    SessionAutosave autosave(lab, folder.path());
    REQUIRE(lab.session.offer);
    CHECK(lab.session.offer->path == left);
    const size_t sent = engine.requests.size();
    restore_session(lab);
    CHECK_FALSE(lab.session.offer);
    wait_for(lab, [&] { return !lab.session.opening; });
    CHECK(engine.requests.size() == sent);
    REQUIRE(lab.past_results.size() == 2);
    CHECK(lab.result->parameters.integer("length") == 128);
    CHECK(lab.session.path.empty());  // Ctrl+S asks for a name
    CHECK(lab.settings.recent.empty());
    CHECK_FALSE(std::filesystem::exists(left));
    CHECK(std::filesystem::exists(file_of(folder, ::getpid())));
    CHECK(autosave.due(lab));
}

TEST_CASE("of several left sessions the newest is offered, and the others stay for later starts",
          "[gui][session]") {
    const TemporaryFolder folder;
    std::vector<std::string> left;
    const auto hour = std::chrono::hours(1);
    for (size_t i = 0; i <= most_left_behind; ++i) {
        left.push_back(file_of(folder, dead_process()));
        put(left.back(), "of a window that was killed");
        std::filesystem::last_write_time(left.back(),
                                         std::filesystem::file_time_type::clock::now() - i * hour);
    }
    LabState lab;
    offer_session(lab, folder.path());
    REQUIRE(lab.session.offer);
    CHECK(lab.session.offer->path == left.front());
    CHECK(folder.names().size() == most_left_behind);
    CHECK_FALSE(std::filesystem::exists(left.back()));  // the oldest
}

TEST_CASE("sessions of running windows and other files are not offered", "[gui][session]") {
    const TemporaryFolder folder;
    put(file_of(folder, ::getpid()), "of this process");
    put(folder.file("session-" + host_name() + "-.sawtooth"), "");
    put(folder.file("session-" + host_name() + "-12x.sawtooth"), "");
    const std::string of_another_machine = folder.file("session-another-1234567.sawtooth");
    put(of_another_machine, "");
    put(folder.file("log.txt"), "");
    LabState lab;
    offer_session(lab, folder.path());
    offer_session(lab, folder.file("no such folder"));
    CHECK_FALSE(lab.session.offer);
    CHECK(std::filesystem::exists(of_another_machine));
    CHECK(folder.names().size() == 5);
}

TEST_CASE("a session is left behind once its process has ended, whatever program or process comes after it",
          "[gui][session]") {
    const TemporaryFolder folder;
    std::string program = "sleep", seconds = "1000";
    char* const words[] = {program.data(), seconds.data(), nullptr};
    pid_t other = 0;  // runs another program than this one, as after an update
    REQUIRE(::posix_spawnp(&other, program.c_str(), nullptr, nullptr, words, environ) == 0);
    const std::string path = file_of(folder, other);
    put(path, "of a window that runs");
    LabState lab;
    offer_session(lab, folder.path());
    CHECK_FALSE(lab.session.offer);
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    offer_session(lab, folder.path());
    REQUIRE(lab.session.offer);
    CHECK(lab.session.offer->path == path);

    std::filesystem::remove(path);
    lab.session.offer.reset();
    // Of an earlier process with the number of this one.
    put(folder.file("session-" + host_name() + "-" + std::to_string(::getpid()) + "-1.sawtooth"), "");
    offer_session(lab, folder.path());
    CHECK(lab.session.offer);
}

TEST_CASE("of many replaced sessions of ended windows the newest stay", "[gui][session]") {
    const TemporaryFolder folder;
    LabState ended, running, lab;
    ended.session.autosave_path = file_of(folder, dead_process());
    running.session.autosave_path = file_of(folder, ::getpid());
    for (LabState* const window : {&ended, &running})
        for (size_t i = 0; i <= most_left_behind; ++i) {
            put(path_of_replaced(*window), "a session");
            ++window->session.opened;
        }
    offer_session(lab, folder.path());
    CHECK_FALSE(lab.session.offer);
    CHECK(folder.names().size() == 2 * most_left_behind + 1);
}

TEST_CASE("a session stays offered if another file is being read when it is to be restored",
          "[gui][session]") {
    const TemporaryFolder folder;
    const std::string left = leave_session(folder), other = folder.file("other.sawtooth");
    std::filesystem::copy_file(left, other);
    FakeEngine engine;
    LabState lab = lab_with(engine);
    offer_session(lab, folder.path());
    open_session(lab, other);
    restore_session(lab);
    REQUIRE(lab.session.offer);
    wait_for(lab, [&] { return !lab.session.opening; });
    CHECK(std::filesystem::exists(left));
    restore_session(lab);
    CHECK_FALSE(lab.session.offer);
    wait_for(lab, [&] { return !lab.session.opening; });
    CHECK(lab.past_results.size() == 2);
}

TEST_CASE("a damaged autosaved session is renamed", "[gui][session]") {
    const TemporaryFolder folder;
    const std::string left = file_of(folder, dead_process());
    put(left, "broken");
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    offer_session(lab, folder.path());
    restore_session(lab);
    wait_for(lab, [&] { return !lab.session.opening; });
    CHECK(lab.past_results.size() == 1);
    CHECK(std::filesystem::exists(left + ".bad"));
    offer_session(lab, folder.path());
    CHECK_FALSE(lab.session.offer);
}

TEST_CASE("a row offers the session of a killed window until it is restored or discarded",
          "[gui][window][session]") {
    const TemporaryFolder folder;
    const std::string left = leave_session(folder);
    const bool restores = GENERATE(true, false);
    FakeEngine engine;
    LabState lab = lab_with(engine);
    offer_session(lab, folder.path());
    User user(lab);
    finish_run(engine, user);
    user.play(
        [&](ImGuiTestContext* ctx) { ctx->ItemClick(restores ? "//restore/Restore" : "//restore/Discard"); });
    CHECK_FALSE(lab.session.offer);
    wait_for(lab, [&] { return !lab.session.opening; });
    finish_writes(lab);
    CHECK(lab.past_results.size() == (restores ? 2 : 1));
    CHECK(std::filesystem::exists(left) == restores);
}

}  // namespace
}  // namespace sawtooth
