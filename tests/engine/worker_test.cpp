// Results of a worker, and what happens to its job if it hangs, exits or breaks the protocol.

#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>

#include "app/engine/check/parallel.h"
#include "app/engine/check/resume.h"
#include "app/engine/files/npz.h"
#include "app/engine/machine/look_for_devices.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/sources/sweep_loop.h"
#include "app/engine/sources/worker_source.h"
#include "tests/engine/run_worker.h"
#include "tests/kernels/families/family_properties.h"
#include "tests/kit/contains.h"
#include "tests/kit/presets.h"

namespace sawtooth {
namespace {

using Clock = std::chrono::steady_clock;

TEST_CASE("a worker gives the same bits as this process", "[worker]") {
    Request request = scan_on("", 1000);
    Runner here(shared_cache());
    const auto local = here.run(request, {});
    REQUIRE(local);
    request.on = worker_command();
    WorkerLink link("");
    std::vector<std::string> words;
    int partial_results = 0;
    const auto seen =
        link.run(1, request, View{}, {}, [&](const Progress& progress, const Source::Seen* partial) {
            words.push_back(progress.words);
            partial_results += partial != nullptr;
        });
    REQUIRE(seen);
    check_right(*seen->result);
    CHECK(partial_results == 2);  // one without times, then one without verdicts
    CHECK(words.front() == "starting the worker");
    CHECK(seen->result->request == request);
    CHECK(seen->result->parameters == (*local)->parameters);
    CHECK(seen->figures->size() == figures_of(**local, View{}).size());
    CHECK_FALSE(seen->result->inputs[0].data);

    const auto whole = link.fetch_arrays(1, {});
    REQUIRE(whole);
    const auto wanted = arrays_of(**local), got = arrays_of(**whole);
    REQUIRE(got.size() == wanted.size());
    CHECK(got.size() == 4);
    for (size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i]->name == wanted[i]->name);
        CHECK(std::ranges::equal(got[i]->as<std::byte>(), wanted[i]->as<std::byte>()));
    }
    for (size_t v = 0; v < 2; ++v)
        CHECK((*local)->variants[v].errors[0].max_abs == seen->result->variants[v].errors[0].max_abs);
}

TEST_CASE("what launched a worker may write after it left", "[worker]") {
    const TemporaryFolder folder;
    const std::string log = folder.path() + "/log";
    WorkerLink link("");
    REQUIRE(link.run(1, scan_on(worker_command() + "; sleep 2; echo whole > " + log, 1000), {}, {}));
    link.finish(30);
    CHECK(std::filesystem::exists(log));
}

TEST_CASE("an engine runs a Request with a worker there and gets its figures from there", "[worker]") {
    Engine engine(shared_cache(), [] {});
    const uint64_t ticket = engine.run(scan_on(worker_command()), {});
    const Event done = end_of(engine, ticket);
    REQUIRE(done.result);
    check_right(*done.result);
    View view;
    view.visible["position"] = {100, 200};
    Parameters drawn;
    drawn.set("drawn_channel", int64_t{3});
    engine.look("scan", view, drawn);
    Event looked;
    for (int i = 0; i < 5000 && looked.kind != Event::Kind::figures; ++i) {
        for (Event& event : engine.take_events()) looked = event;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(looked.kind == Event::Kind::figures);
    CHECK(looked.ticket == ticket);
    CHECK(contains(looked.figures->front().title, "channel 3"));
    CHECK(std::get<Line>(looked.figures->front().marks.front()).x.front() == 99);
}

TEST_CASE("a worker that ends between outputs and times fails the run after they were shown", "[worker]") {
    const TemporaryFolder folder;
    Engine engine(shared_cache(), [] {});
    const uint64_t ticket = engine.run(shown_at_once(folder, "", false, "exit 3"), {});
    std::vector<bool> complete;
    const Event failed = end_of(engine, ticket, [&](const Event& event) {
        if (event.kind == Event::Kind::result) complete.push_back(event.result->complete);
    });
    CHECK(complete == std::vector<bool>{false});
    REQUIRE(failed.error);
    INFO(failed.error->text);
    CHECK(failed.error->kind == Error::Kind::failure);
    CHECK(contains(failed.error->text, "scan: length 777"));
    check_right(*end_of(engine, engine.run(scan_on(worker_command()), {})).result);
}

TEST_CASE("a look that fails in the worker has the error of the worker", "[worker]") {
    const TemporaryFolder folder;
    const std::string gone = message(Failed{2, Error::failure("the result is gone; run it again"), false});
    Engine engine(shared_cache(), [] {});
    const uint64_t ticket = engine.run(shown_at_once(folder, gone), {});
    REQUIRE(end_of(engine, ticket).result);
    engine.look("scan", {}, {});
    const Event failed = end_of(engine, ticket);
    REQUIRE(failed.error);
    CHECK(failed.error->text == "the result is gone; run it again");
}

TEST_CASE("a Request that may go to a GPU runs in a worker of this program", "[worker]") {
    Engine engine(shared_cache(), [] {});
    Request request = scan_on("");
    REQUIRE(end_of(engine, engine.run(request, {})).result);
    CHECK(children().empty());
    request.backend = BackendChoice::automatic;
    const Event done = end_of(engine, engine.run(request, {}));
    INFO((done.error ? done.error->text : ""));
    REQUIRE(done.result);
    CHECK(children().size() == 1);
    CHECK(done.result->request == request);
}

TEST_CASE("the newest Request wins, wherever both run", "[worker]") {
    const TemporaryFolder folder;
    Engine engine(shared_cache(), [] {});
    uint64_t last = 0;
    for (int i = 0; i < 9; ++i) last = engine.run(scan_on(i % 2 ? worker_command() : "", 1000 + i), {});
    const Event here = end_of(engine, last);
    REQUIRE(here.result);
    CHECK(here.result->parameters.integer("length") == 1008);
    // A worker that ignores its input does not block a Request of this process.
    engine.run(scan_on(saying(folder, "mute", ""), 100), {});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    REQUIRE(end_of(engine, engine.run(scan_on(""), {})).result);
    for (int i = 0; i < 5; ++i) last = engine.run(scan_on(worker_command(), 2000 + i), {});
    const Event there = end_of(engine, last);
    REQUIRE(there.result);
    CHECK(there.result->parameters.integer("length") == 2004);
}

TEST_CASE("the figures of every family come from a worker, at its defaults and at every preset", "[worker]") {
    WorkerLink link("");
    for (const Family* family : offered_families()) {
        for (const std::string& preset : preset_names(*family)) {
            INFO(family->name << " " << preset);
            Request request;
            request.family = family->name;
            request.preset = preset;
            request.on = worker_command();
            request.repeats = 1;
            // The paper's size of btp takes gigabytes.
            request.parameters.set(batch_axis(*family), int64_t{1});
            // This is judged within a second.
            if (family->parameter("H")) request.parameters.set("H", int64_t{2});
            if (family->parameter("H_kv")) request.parameters.set("H_kv", int64_t{2});
            if (family->parameter("d")) request.parameters.set("d", int64_t{16});
            const auto seen = link.run(1, request, View{}, {});
            INFO((seen ? "" : seen.error().text));
            REQUIRE(seen);
            CHECK_FALSE(seen->figures->empty());
        }
    }
}

TEST_CASE("a worker keeps the results that its client names, and tells of others that they are gone",
          "[worker]") {
    WorkerSource source("");
    const auto request_of = [](int64_t length) { return scan_on(worker_command(), length); };
    for (const ResultId id : {1, 2, 3})
        REQUIRE(source.run(id, request_of(100 + static_cast<int64_t>(id)), View{}, {}, {}));
    for (const ResultId id : {3, 1}) {
        const auto whole = source.whole(id, {});
        REQUIRE(whole);
        CHECK((*whole)->reference.at(0).shape.at(1) == 100 + static_cast<int64_t>(id));
        CHECK(source.look(id, View{}, {}, {}));
    }
    CHECK(contains(source.whole(4, {}).error().text, "run it again"));

    LocalSource here(shared_cache());
    source.keep({1});
    for (Source* each : {static_cast<Source*>(&source), static_cast<Source*>(&here)}) {
        each->keep({5});
        for (ResultId id = 5; id < 80; ++id) {
            Request request = request_of(8);
            if (each == &here) request.on = "";
            request.repeats = 1;
            REQUIRE(each->run(id, request, {}, {}, {}));
        }
        CHECK(each->whole(5, {}));
        CHECK(each->whole(79, {}));
        CHECK(contains(each->whole(6, {}).error().text, "run it again"));
    }
}

TEST_CASE("a bench runs in a worker with the rows that it has here", "[worker]") {
    Request base;
    base.repeats = 1;
    base.threads = 1;
    base.memory_limit_bytes = int64_t{1} << 20;  // refuses all cases, so that nothing is timed
    LocalSource here(shared_cache());
    WorkerSource there("");
    const auto local = here.bench({"scan"}, base, {}, {});
    base.on = worker_command();
    std::vector<std::string> words;
    const auto remote = there.bench({"scan"}, base, {},
                                    [&](const Progress& progress, auto) { words.push_back(progress.words); });
    REQUIRE(local);
    REQUIRE(remote);
    REQUIRE(remote->rows.size() == local->rows.size());
    REQUIRE_FALSE(local->rows.empty());
    for (size_t i = 0; i < local->rows.size(); ++i) {
        CHECK(remote->rows[i].name == local->rows[i].name);
        CHECK(remote->rows[i].variant == local->rows[i].variant);
        CHECK(remote->rows[i].parameters == local->rows[i].parameters);
        CHECK(contains(remote->rows[i].note, "memory"));
    }
    CHECK(remote->device == local->device);
    CHECK_FALSE(words.empty());
}

TEST_CASE("a sweep runs in a worker cell by cell", "[worker]") {
    WorkerSource source("");
    Sweep sweep{
        "", scan_on(worker_command()), {{"length", {int64_t{8}, int64_t{16}}}, {"op", {"sum", "max"}}}};
    sweep.base.parameters = {};
    sweep.base.parameters.set("compensated", true);
    int cells = 0;
    const auto swept = run_sweep(source, sweep, {}, [&](const SweepResult&) { ++cells; });
    REQUIRE(swept);
    CHECK(cells == 4);
    REQUIRE(swept->cells.size() == 4);
    CHECK(swept->cells[2].result->parameters.integer("length") == 16);
    CHECK(contains(swept->cells[3].refused, "compensated"));
    sweep.axes = {{"nothing", {int64_t{1}}}};
    CHECK(run_sweep(source, sweep, {}).error().exit_code() == 2);

    Engine engine(shared_cache(), [] {});
    sweep.axes = {{"length", {int64_t{8}, int64_t{16}}}};
    const uint64_t ticket = engine.sweep(sweep);
    Event last;
    for (int i = 0; i < 5000 && !(last.sweep_result && last.sweep_result->complete); ++i) {
        for (Event& event : engine.take_events()) last = event;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(last.ticket == ticket);
    CHECK(last.sweep_result->cells.size() == 2);
    CHECK_FALSE(last.figures->empty());
}

TEST_CASE("a sweep cell that hangs leaves the worker of the live result", "[worker]") {
    const TemporaryFolder folder;
    Engine engine(shared_cache(), [] {});
    REQUIRE(end_of(engine, engine.run(scan_on(worker_command()), View{})).result);
    Sweep sweep{"", scan_on(saying(folder, "hangs", greeting())), {{"length", {int64_t{8}}}}};
    sweep.base.time_limit_seconds = 0.2;
    const Event refused = end_of(engine, engine.sweep(sweep));
    REQUIRE(refused.sweep_result);
    CHECK(contains(refused.sweep_result->cells.at(0).refused, "did not finish within 0.2 s"));
    engine.look("scan", View{}, {});
    std::optional<Event> seen;
    for (int i = 0; i < 5000 && !seen; ++i) {
        for (Event& event : engine.take_events())
            if (event.kind == Event::Kind::figures || event.kind == Event::Kind::failed) seen = event;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(seen);
    CHECK(seen->kind == Event::Kind::figures);
}

TEST_CASE("devices are found by a worker, and a search that is stopped ends", "[worker]") {
    const Devices found = look_for_devices(shared_cache(), false, {});
    const Devices here = find_devices();
    CHECK(found.cpu.name == here.cpu.name);
    CHECK(found.cpu.vectors == here.cpu.vectors);
    CHECK(found.gpus.size() == here.gpus.size());
    CHECK(found.gpu_reason == here.gpu_reason);
    CHECK(found.toolkit == here.toolkit);

    std::stop_source stopped;
    stopped.request_stop();
    CHECK_FALSE(look_for_devices(shared_cache(), false, stopped.get_token()).gpu_reason.empty());
}

TEST_CASE("an input file is sent to the worker, again after a change, and errors name it", "[worker]") {
    const TemporaryFolder folder;
    Request request = scan_on(worker_command());
    request.parameters = {};
    request.input = folder.file("in.npz");
    WorkerLink link("");
    for (const int64_t length : {5, 5, 700000}) {
        Array x = Array::zeros("x", Dtype::f32, {1, length, 2});
        for (size_t i = 0; i < x.as<float>().size(); ++i) x.as<float>()[i] = static_cast<float>(i % 7);
        REQUIRE_FALSE(write_npz(request.input, {x}));
        const auto seen = link.run(1, request, {}, {});
        REQUIRE(seen);
        CHECK(seen->result->request.input == request.input);
        const auto whole = link.fetch_arrays(1, {});
        REQUIRE(whole);
        CHECK(std::ranges::equal((*whole)->inputs[0].as<float>(), x.as<float>()));
    }
    put(request.input, "no archive");
    auto refused = link.run(1, request, {}, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().exit_code() == 2);
    CHECK(contains(refused.error().text, request.input));
    request.input = folder.file("absent.npz");
    refused = link.run(1, request, {}, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().exit_code() == 2);
    CHECK(contains(refused.error().text, request.input));
}

TEST_CASE("a check whose worker is killed goes on in a new one and says so, and no variant is wrong",
          "[worker][check]") {
    CheckRequest request;
    request.base.family = "lut";
    request.base.threads = 2;
    bool killed = false;
    const auto kill_once = [&](const CheckReport& so_far) {
        if (killed || so_far.tried < 20) return;
        killed = true;
        for (const pid_t child : children()) ::kill(child, SIGKILL);
    };
    std::vector<std::string> told;
    const auto reports = check_in_workers("", {request}, {}, kill_once, {"exec " + worker_command()},
                                          [&](const std::string& line) { told.push_back(line); });
    REQUIRE(reports);
    const CheckReport& report = reports->front();
    CHECK(report.complete);
    CHECK(report.findings.empty());
    CHECK(report.tried >= report.size);
    REQUIRE(told.size() == 1);
    CHECK(contains(told.front(), "lut, setting "));
    CHECK(contains(told.front(), "signal 9"));
}

// What a worker says that tries a setting of lookback and cannot go on, as after a launch that never ends.
std::string hang_in(uint64_t job) {
    CheckReport report;
    report.family = "scan";
    report.trying = scan_on("");
    report.trying->variants = {"lookback"};
    report.trying_number = 4;
    return message(Checked{job, report}) + message(Failed{job, Error::failure("a launch did not end"), true});
}

TEST_CASE("a launch that hangs in two workers is a finding, and the check goes on without its variant",
          "[worker][check]") {
    const TemporaryFolder folder;
    CheckReport rest;
    rest.family = "scan";
    rest.tried = 10;
    rest.complete = true;
    const auto checked = [&](const std::string& words) {
        CheckRequest request;
        request.base.family = "scan";
        // Each worker says the same; a link hears only what is about its current job.
        request.base.on = saying(folder, "hangs", greeting() + words);
        return WorkerLink("").check(request, {});
    };
    const auto once = checked(hang_in(1) + message(Checked{2, rest}));
    REQUIRE(once);
    CHECK(once->complete);
    CHECK(without_lost_once(*once).findings.empty());
    const auto twice = checked(hang_in(1) + hang_in(2) + message(Checked{3, rest}));
    REQUIRE(twice);
    CHECK(twice->complete);
    const CheckReport shown = without_lost_once(*twice);
    REQUIRE(shown.findings.size() == 1);
    CHECK(shown.findings.front().variant == "lookback");
    CHECK(shown.findings.front().problem == "a launch did not end, twice at this setting");
    CHECK(shown.tried == 11);
}

TEST_CASE("a worker of another build works, and its results name both builds", "[worker]") {
    const TemporaryFolder folder;
    Hello other = hello_from("");
    other.packs = true;
    const size_t own_bytes = framed(encode(ToWorker(other))).size();
    other.program = "9.8.7+other";
    other.schema = 1;
    put(folder.file("hello"), framed(encode(ToWorker(other))));
    WorkerLink link("");
    const auto seen = link.run(1,
                               scan_on(fmt::format("(head -c {} >/dev/null; cat '{}' -) | {}", own_bytes,
                                                   folder.file("hello"), worker_command())),
                               {}, {});
    REQUIRE(seen);
    check_right(*seen->result);
    REQUIRE(seen->result->notes.size() == 1);
    CHECK(seen->result->notes[0] == fmt::format("computed by a worker of another build, sawtooth {}; this is "
                                                "9.8.7+other",
                                                build_identity()));
}

int exit_code_of_worker(const TemporaryFolder& folder, const std::string& input) {
    put(folder.file("input"), input);
    const std::string command = worker_command() + " < '" + folder.file("input") + "' > '" +
                                folder.file("output") + "' 2> '" + folder.file("errors") + "'";
    return WEXITSTATUS(std::system(command.c_str()));
}

TEST_CASE("a worker refuses another version and invalid messages, and exits with its input", "[worker]") {
    const TemporaryFolder folder;
    const auto sent = [](const ToWorker& held) { return framed(encode(held)); };
    const std::string hello = sent(hello_from(""));
    CHECK(exit_code_of_worker(folder, "") == 0);
    CHECK(exit_code_of_worker(folder, hello) == 0);
    FrameReader output;
    output.append(content_of(folder.file("output")));
    const auto first = output.next();
    REQUIRE(first);
    CHECK(std::holds_alternative<Hello>(*decode_from_worker(**first)));
    CHECK(exit_code_of_worker(folder, sent(Hello{"9.8.7", 99, 0, ""}) + sent(CancelJob{1})) == 2);
    CHECK(contains(content_of(folder.file("errors")), "9.8.7"));
    CHECK(exit_code_of_worker(folder, sent(Hello{std::string(9999, '\x1b'), 99, 0, ""})) == 2);
    CHECK_FALSE(contains(content_of(folder.file("errors")), "\x1b"));
    CHECK(content_of(folder.file("errors")).size() < 400);
    CHECK(exit_code_of_worker(folder, sent(CancelJob{1})) == 2);
    CHECK(exit_code_of_worker(folder, hello + framed(std::string(size_t{8} << 20, '\x81'))) == 2);
    CHECK(contains(content_of(folder.file("errors")), "not in this format"));
    CHECK(exit_code_of_worker(folder, hello + "\xFF\xFF\xFF\xFF") == 2);
    CHECK(exit_code_of_worker(folder, hello + hello.substr(0, hello.size() / 2)) == 0);
    // A running job is cancelled when the input ends.
    Request longer = scan_on("", 1 << 16);
    longer.repeats = 1000000;
    CHECK(exit_code_of_worker(folder, hello + sent(RunJob{1, 1, longer, false, {}})) == 0);
}

}  // namespace
}  // namespace sawtooth
