// The Log, its file, and the report after a crash.

#include "app/gui/state/log_file.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "app/gui/state/crash_report.h"
#include "app/gui/state/lab.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

TEST_CASE("every line of the Log is in the file, with its date, over sessions", "[gui]") {
    const TemporaryFolder folder;
    for (int session = 0; session < 2; ++session) {
        LabState lab;
        note(lab, LogLine::Kind::note, "before the file");
        keep_log(lab, folder.path());
        note(lab, LogLine::Kind::problem, "first line\nsecond line");
        for (int i = 0; i < 700; ++i) note(lab, LogLine::Kind::note, "line " + std::to_string(i));
        CHECK(lab.log.size() == 500);
        CHECK(lab.log.back().text == "line 699");
        finish_writes(lab);
    }
    const std::string text = content_of(folder.file("log.txt"));
    CHECK(contains(text, "  before the file\n"));
    CHECK(contains(text, "  problem: first line\n    second line\n"));
    CHECK(contains(text, "  line 0\n"));
    CHECK(contains(text, "  line 699\n"));
    CHECK(text.find("started Sawtooth") != text.rfind("started Sawtooth"));
    CHECK(text.starts_with("20"));
}

TEST_CASE("the Log repeats no note of the run before", "[gui]") {
    FakeEngine engine;
    LabState lab = lab_with(engine);
    finish_run(lab, engine);
    // Returns how many lines of the Log then have these words.
    const auto run_with_note = [&](const std::string& words) {
        submit(lab);
        auto result = std::make_shared<Result>(*lab.result);
        result->notes = {words};
        engine.answer(engine.run_ticket, result, {});
        update(lab, lab.now + 0.01);
        return std::ranges::count(lab.log, words, &LogLine::text);
    };
    CHECK(run_with_note("a note") == 1);
    CHECK(run_with_note("a note") == 1);
    CHECK(run_with_note("another note") == 1);
    CHECK(run_with_note("a note") == 2);
}

TEST_CASE("a full log file is renamed once, and what cannot be written to is said once", "[gui]") {
    const TemporaryFolder folder;
    const std::string log = folder.file("log.txt"), old = folder.file("old.txt");
    for (int i = 0; i < 5; ++i) CHECK_FALSE(append_to_log(log, old, std::string(40, 'a' + i) + "\n", 100));
    CHECK(content_of(old) ==
          std::string(40, 'a') + "\n" + std::string(40, 'b') + "\n" + std::string(40, 'c') + "\n");
    CHECK(std::filesystem::file_size(log) == 82);
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    CHECK(append_to_log(folder.file("pipe"), old, "x", 100));  // returns without waiting

    LabState lab;
    keep_log(lab, folder.file("absent"));
    finish_writes(lab);
    note(lab, LogLine::Kind::note, "a line");
    while (lab.log_file) lab.files->take_written(lab);
    note(lab, LogLine::Kind::note, "another line");
    CHECK(std::count_if(lab.log.begin(), lab.log.end(), [](const LogLine& line) {
              return contains(line.text, "cannot write the log file");
          }) == 1);
}

void crash_by(int signal) {
    ::signal(signal, SIG_DFL);  // without the handler of the test program
    const CrashWatch watch(std::getenv("SAWTOOTH_TEST_STATE"), "the-log.txt");
    ::raise(signal);
}
TEST_CASE("ends by SIGSEGV", "[.child]") { crash_by(SIGSEGV); }
TEST_CASE("ends by SIGABRT", "[.child]") { crash_by(SIGABRT); }
TEST_CASE("ends by SIGFPE", "[.child]") { crash_by(SIGFPE); }
TEST_CASE("ends by a wrong address", "[.child]") {
    ::signal(SIGSEGV, SIG_DFL);
    const CrashWatch watch(std::getenv("SAWTOOTH_TEST_STATE"), "the-log.txt");
    volatile uintptr_t nowhere = 16;
    *reinterpret_cast<volatile int*>(nowhere) = 1;
}
TEST_CASE("does not end", "[.child]") {
    const CrashWatch watch(std::getenv("SAWTOOTH_TEST_STATE"), "the-log.txt");
}

TEST_CASE("a crash leaves a report that is offered once, and does what it did without", "[gui]") {
    for (const auto& [test, words] : {std::pair("ends by SIGSEGV", "signal 11, "),
                                      {"ends by SIGABRT", "signal 6, "},
                                      {"ends by SIGFPE", "signal 8, "},
                                      {"ends by a wrong address", "signal 11, "}}) {
        INFO(test);
        const TemporaryFolder folder;
        const std::string output =
            ChildProcess("SAWTOOTH_TEST_STATE='" + folder.path() + "' exec", test).output();
        CHECK(contains(output, "exit -1"));  // it ended by the signal
        LabState lab;
        offer_crash_report(lab, folder.path());
        REQUIRE(lab.crash);
        CHECK(contains(lab.crash->words, words));
        CHECK(contains(lab.crash->text, "log: the-log.txt"));
        CHECK(contains(lab.crash->text, "(+0x"));
        CHECK(content_of(lab.crash->path) == lab.crash->text);
        CHECK(contains(lab.log.back().text, lab.crash->path));
        LabState next;
        offer_crash_report(next, folder.path());
        CHECK_FALSE(next.crash);
    }
    const TemporaryFolder folder;
    ChildProcess("SAWTOOTH_TEST_STATE='" + folder.path() + "'", "does not end").output();
    CHECK(folder.names().empty());
}

TEST_CASE("of many reports the last ten are kept, and a damaged one is none", "[gui]") {
    const TemporaryFolder folder;
    put(folder.file("crash-new-1.txt"), "");
    put(folder.file("crash-new-2.txt"), "signal x\n");
    put(folder.file("log.txt"), "log\n");
    for (int i = 0; i < 20; ++i) put(folder.file("crash-old-" + std::to_string(i) + ".txt"), "signal 6\n");
    LabState lab;
    offer_crash_report(lab, folder.path());
    CHECK_FALSE(lab.crash);
    CHECK(folder.names().size() == 11);
    CHECK(std::filesystem::exists(folder.file("log.txt")));
}

}  // namespace
}  // namespace sawtooth
