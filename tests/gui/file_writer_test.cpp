#include "app/gui/state/file_writer.h"

#include <sys/stat.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "app/engine/files/files.h"
#include "app/engine/tables/trace.h"
#include "app/gui/figures/saving.h"
#include "app/gui/shell/actions.h"
#include "app/gui/state/lab.h"
#include "tests/gui/fake_engine.h"
#include "tests/gui/gpu_answer.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// A disk that does not write anything until it is released.
class SlowDisk {
  public:
    explicit SlowDisk(FileWriter& files) {
        files.add(
            "slow",
            [released = released_.get_future().share()] {
                released.wait();
                return std::optional<Error>();
            },
            [](LabState&, const std::optional<Error>&) {});
    }
    ~SlowDisk() { release(); }
    SlowDisk(const SlowDisk&) = delete;
    SlowDisk& operator=(const SlowDisk&) = delete;
    void release() {
        if (!std::exchange(is_released_, true)) released_.set_value();
    }

  private:
    std::promise<void> released_;
    bool is_released_ = false;
};

FileWriter::Write writes(const std::string& path, const std::string& text) {
    return [=] { return write_file(path, text); };
}

TEST_CASE("files are written in the background, the newest text of each", "[gui]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    std::vector<std::string> done;
    const auto add = [&](const char* name, const char* text) {
        lab.files->add(folder.file(name), writes(folder.file(name), text),
                       [&done, text](LabState&, const std::optional<Error>& problem) {
                           CHECK_FALSE(problem);
                           done.emplace_back(text);
                       });
    };
    SlowDisk disk(*lab.files);
    add("a", "old");
    add("b", "other");
    add("a", "new");
    update(lab, lab.now + 1);  // a frame does not wait for the disk
    CHECK(done.empty());
    CHECK(folder.names().empty());
    disk.release();
    while (done.size() < 2) update(lab, lab.now + 1);
    CHECK(done == std::vector<std::string>{"other", "new"});
    CHECK(content_of(folder.file("a")) == "new");
    CHECK(content_of(folder.file("b")) == "other");
}

TEST_CASE("what waits is written at the end", "[gui]") {
    const TemporaryFolder folder;
    {
        FileWriter files;
        SlowDisk disk(files);
        for (const char* name : {"a", "b", "c"})
            files.add(folder.file(name), writes(folder.file(name), name),
                      [](LabState&, const std::optional<Error>&) { FAIL("nobody takes it"); });
    }
    for (const char* name : {"a", "b", "c"}) CHECK(content_of(folder.file(name)) == name);
}

TEST_CASE("an error or an exception of a write wakes the window, which takes it", "[gui]") {
    std::atomic<int> woken = 0;
    FileWriter files([&woken] { ++woken; });
    LabState lab;
    std::vector<std::string> problems;
    const auto take = [&](LabState&, const std::optional<Error>& problem) {
        REQUIRE(problem);
        problems.push_back(problem->text);
    };
    files.add("/no/such/folder/a", writes("/no/such/folder/a", ""), take);
    files.add(
        "b", []() -> std::optional<Error> { throw std::runtime_error("no memory"); }, take);
    while (woken < 2) std::this_thread::yield();
    files.take_written(lab);
    REQUIRE(problems.size() == 2);
    CHECK(contains(problems[0], "no folder /no/such/folder"));
    CHECK(problems[1] == "internal error: no memory");
}

void save_figure_to(LabState& lab, const std::string& path) {
    begin_saving(lab, FakeEngine::figure("a", Place::outputs, "A figure"), Saving::Format::csv);
    lab.saving->path = path;
    save(lab);
}

TEST_CASE("the dialog stays usable while the disk is slow, and reports the outcome", "[gui][window]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    const auto wait_while_writing = [&] {
        while (lab.saving && lab.saving->step == Saving::Step::writing) user.frames(1);
    };
    {
        const SlowDisk disk(*lab.files);
        save_figure_to(lab, folder.file("a.csv"));
        user.frames(5);
        REQUIRE(lab.saving);
        CHECK(lab.saving->step == Saving::Step::writing);
        user.play([](ImGuiTestContext* ctx) {
            CHECK((ctx->ItemInfo("//Save figure/###save").ItemFlags & ImGuiItemFlags_Disabled) != 0);
        });
    }
    wait_while_writing();
    user.frames(2);
    CHECK_FALSE(lab.saving);
    CHECK(contains(lab.log.back().text, "saved " + folder.file("a.csv")));

    save_figure_to(lab, folder.file("absent/a.csv"));
    wait_while_writing();
    REQUIRE(lab.saving);
    CHECK(contains(lab.saving->problem, "absent"));
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Save figure/Cancel"); });
}

TEST_CASE("a figure whose dialog was closed is still saved, and a failure is noted in the Log",
          "[gui][window]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    for (const std::string& path : {folder.file("a.csv"), folder.file("absent/a.csv")}) {
        const size_t lines = lab.log.size();
        {
            const SlowDisk disk(*lab.files);
            save_figure_to(lab, path);
            user.frames(2);
            user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Save figure/Cancel"); });
            CHECK_FALSE(lab.saving);
        }
        while (lab.log.size() == lines) user.frames(1);
        CHECK(contains(lab.log.back().text, path));
    }
    CHECK(lab.log.back().kind == LogLine::Kind::problem);
    CHECK(contains(content_of(folder.file("a.csv")), "99"));
}

TEST_CASE("the launches of a result are saved as a trace, which a result without launches has none of",
          "[gui][window]") {
    const TemporaryFolder folder;
    FakeEngine engine;
    LabState lab = lab_with(engine);
    User user(lab);
    CHECK(contains(reason_against(lab, action("Save trace…")), "profile timeline"));
    answer_from_gpu(engine);
    user.frames(10);
    perform(lab, action("Save trace…"));
    REQUIRE(lab.saving);
    CHECK(lab.saving->path == lab.family->name + "-trace.json");
    lab.saving->path = folder.file("trace.json");
    user.frames(3);
    user.play([](ImGuiTestContext* ctx) { ctx->ItemClick("//Save trace/###save"); });
    while (lab.saving) user.frames(1);
    CHECK(content_of(folder.file("trace.json")) == to_trace(*lab.result));
}

TEST_CASE("a figure is not saved into a pipe, which could wait for ever", "[gui]") {
    const TemporaryFolder folder;
    const std::string pipe = folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    FakeEngine engine;
    LabState lab = lab_with(engine);
    save_figure_to(lab, pipe);
    while (lab.saving->step == Saving::Step::writing) update(lab, lab.now + 1);
    CHECK(contains(lab.saving->problem, "not a regular file"));
}

}  // namespace
}  // namespace sawtooth
