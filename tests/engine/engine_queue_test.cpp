// The engine's thread: which Requests and sweeps run, which ones yield, and the events that report on them.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "app/engine/engine.h"
#include "tests/engine/engine_events.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

TEST_CASE("the newest Request wins and its figures come with the result", "[engine]") {
    std::atomic<int> wakes{0};
    Engine engine(shared_cache(), [&] { ++wakes; });
    engine.run(scan_request({{"length", int64_t{1} << 20}}), {});
    uint64_t last = 0;
    for (int64_t length = 100; length < 110; ++length)
        last = engine.run(scan_request({{"length", length}}), {});
    std::vector<Event> events;
    const Event done = wait_for(engine, last, Event::Kind::result, &events);
    CHECK(done.result->parameters.integer("length") == 109);
    CHECK_FALSE(done.figures->empty());
    int complete = 0;
    for (const Event& event : events) complete += event.kind == Event::Kind::result && event.result->complete;
    CHECK(complete <= 3);  // waiting Requests were replaced and did not run
    CHECK(wakes > 0);
}

TEST_CASE("a newer Request cancels one that has shown its outputs", "[engine]") {
    Engine engine(shared_cache(), [] {});
    Request longer = scan_request();
    longer.repeats = 1000000;  // the run never finishes
    const uint64_t running = engine.run(longer, {});
    std::vector<Event> events;
    for (int round = 0; round < 3000 && events.empty(); ++round) {
        for (Event& event : engine.take_events())
            if (event.kind == Event::Kind::result) events.push_back(std::move(event));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(events.size() == 1);
    CHECK_FALSE(events[0].result->complete);
    CHECK(events[0].hops.front().name == "previous run stops");
    CHECK(events[0].hops.back().name == "figures");
    const uint64_t newer = engine.run(scan_request({{"length", int64_t{99}}}), {});
    events.clear();
    const Event done = wait_for(engine, newer, Event::Kind::result, &events);
    CHECK(done.result->parameters.integer("length") == 99);
    const bool cancelled = std::any_of(events.begin(), events.end(), [&](const Event& event) {
        return event.ticket == running && event.error && event.error->kind == Error::Kind::cancelled;
    });
    CHECK(cancelled);
}

TEST_CASE("a failure is an event and the engine goes on", "[engine]") {
    Engine engine(shared_cache(), [] {});
    const uint64_t refused = engine.run(scan_request({{"op", "max"}, {"compensated", true}}), {});
    CHECK(wait_for(engine, refused, Event::Kind::failed).error->exit_code() == 2);
    const uint64_t good = engine.run(scan_request({{"length", int64_t{64}}}), {});
    CHECK(wait_for(engine, good, Event::Kind::result).result->complete);
}

TEST_CASE("a waiting Request is cancelled with the running one", "[engine]") {
    Engine engine(shared_cache(), [] {});
    Request longer = scan_request({{"length", int64_t{1} << 16}});
    longer.repeats = 100000;
    const uint64_t running = engine.run(longer, {});
    wait_for(engine, running, Event::Kind::progress);
    const uint64_t waiting = engine.run(longer, {});
    engine.cancel_run();
    std::map<uint64_t, Error> errors;
    for (int round = 0; round < 3000 && errors.size() < 2; ++round) {
        for (const Event& event : engine.take_events())
            if (event.kind == Event::Kind::failed) errors[event.ticket] = *event.error;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    REQUIRE(errors.size() == 2);
    CHECK(errors[running].kind == Error::Kind::cancelled);
    CHECK(errors[waiting].kind == Error::Kind::cancelled);
}

TEST_CASE("a sweep runs in the background, yields to Requests and can be cancelled", "[engine]") {
    Engine engine(shared_cache(), [] {});
    std::vector<Value> lengths;
    for (int64_t length = 1; length <= 200; ++length) lengths.emplace_back(length * 10);
    const uint64_t sweep = engine.sweep({"", scan_request(), {{"length", lengths}}});
    const Event cell = wait_for(engine, sweep, Event::Kind::cell);
    CHECK(cell.figures->size() == 2);
    const uint64_t run = engine.run(scan_request({{"length", int64_t{77}}}), {});
    std::vector<Event> events;
    wait_for(engine, run, Event::Kind::result, &events);
    for (const Event& event : events)
        CHECK((event.kind != Event::Kind::cell || !event.sweep_result->complete));
    engine.cancel_sweep(sweep);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    engine.take_events();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    CHECK(engine.take_events().empty());
}

// The samples of the cell that has that length.
std::vector<double> samples_at(const SweepResult& sweep, int64_t length) {
    for (const SweepCell& cell : sweep.cells)
        if (cell.values.front() == Value(length)) return cell.result->variants.front().time->samples;
    return {};
}

TEST_CASE("where a sweep passes through the shown settings its cell is the shown result", "[engine]") {
    Engine engine(shared_cache(), [] {});
    const auto samples_of = [](const Event& event) { return event.result->variants.front().time->samples; };
    const uint64_t first = engine.run(scan_request({{"length", int64_t{64}}}), {});
    const auto before = samples_of(wait_for(engine, first, Event::Kind::result));
    const uint64_t sweep =
        engine.sweep({"", scan_request(), {{"length", {int64_t{32}, int64_t{64}, int64_t{128}}}}});
    Event cell = wait_for(engine, sweep, Event::Kind::cell);
    while (!cell.sweep_result->complete) cell = wait_for(engine, sweep, Event::Kind::cell);
    CHECK(samples_at(*cell.sweep_result, 64) == before);
    const auto neighbour = samples_at(*cell.sweep_result, 32);
    CHECK(neighbour != before);

    // The same settings are measured again after the sweep has ended.
    const uint64_t second = engine.run(scan_request({{"length", int64_t{64}}}), {});
    std::vector<Event> events;
    const auto after = samples_of(wait_for(engine, second, Event::Kind::result, &events));
    const auto is_cell = [&](const Event& event) { return event.kind == Event::Kind::cell; };
    const auto renewed = std::find_if(events.begin(), events.end(), is_cell);
    cell = renewed != events.end() ? *renewed : wait_for(engine, sweep, Event::Kind::cell);
    CHECK(cell.ticket == sweep);
    CHECK(samples_at(*cell.sweep_result, 64) == after);
    CHECK(samples_at(*cell.sweep_result, 32) == neighbour);
}

TEST_CASE("another visible range and other figure parameters only make new figures", "[engine]") {
    Engine engine(shared_cache(), [] {});
    const uint64_t run = engine.run(scan_request(), {});
    const Event done = wait_for(engine, run, Event::Kind::result);
    View view;
    view.visible["position"] = {100, 200};
    Parameters drawn;
    drawn.set("drawn_channel", int64_t{3});
    engine.look("scan", view, drawn);
    const Event looked = wait_for(engine, run, Event::Kind::figures);
    const Figure& output = looked.figures->front();
    CHECK(output.title.find("channel 3") != std::string::npos);
    CHECK(std::get<Line>(output.marks.front()).x.front() == 99);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their heaps keep freed memory
TEST_CASE("a small result after large ones does not keep their memory", "[engine]") {
    Engine engine(shared_cache(), [] {});
    const auto run = [&](int64_t length) {
        Request request = scan_request({{"length", length}});
        request.variants = {"lookback"};
        wait_for(engine, engine.run(request, {}), Event::Kind::result);
    };
    const auto own_megabytes = [] {
        std::ifstream file("/proc/self/status");
        for (std::string word; file >> word;)
            if (int64_t kibibytes = 0; word == "RssAnon:" && file >> kibibytes) return kibibytes / 1024;
        return int64_t{0};
    };
    run(4096);
    const int64_t fresh = own_megabytes();
    for (const int64_t length : {240'000, 150'000}) run(length);
    run(4096);
    constexpr int64_t most_more = 50;
    for (int round = 0; round < 100 && own_megabytes() > fresh + most_more; ++round)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(own_megabytes() <= fresh + most_more);
}
#endif

}  // namespace
}  // namespace sawtooth
