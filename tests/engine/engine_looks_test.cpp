// Requests for new figures beside sweeps and refused Requests, and events that nobody takes.

#include <atomic>

#include "tests/engine/engine_events.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// An engine that has a result and is running a cell of a sweep for a long time.
struct BusyEngine {
    Engine engine{shared_cache(), [] {}};
    uint64_t run = engine.run(scan_request(), {}), sweep = 0;

    BusyEngine() {
        wait_for(engine, run, Event::Kind::result);
        Request slow = scan_request({{"length", int64_t{1} << 16}});
        slow.repeats = 20000;
        sweep = engine.sweep({"", slow, {{"channels", {int64_t{16}, int64_t{17}}}}});
    }
    ~BusyEngine() { engine.cancel_sweep(sweep); }
    BusyEngine(const BusyEngine&) = delete;
    BusyEngine& operator=(const BusyEngine&) = delete;
};

TEST_CASE("a look does not wait for a cell of a sweep", "[engine]") {
    BusyEngine busy;
    busy.engine.look("scan", {}, {});
    std::vector<Event> events;
    wait_for(busy.engine, busy.run, Event::Kind::figures, &events);
    for (const Event& event : events) CHECK(event.kind != Event::Kind::cell);
}

TEST_CASE("a look is served although a Request that came after it was refused", "[engine]") {
    BusyEngine busy;
    Parameters drawn;
    drawn.set("drawn_channel", int64_t{3});
    busy.engine.look("scan", {}, drawn);
    const uint64_t refused = busy.engine.run(scan_request({{"length", int64_t{-1}}}), {});
    std::vector<Event> events;  // the figures and the refusal, in any order
    wait_for(busy.engine, refused, Event::Kind::failed, &events);
    const auto looked = std::find_if(events.begin(), events.end(), [&](const Event& event) {
        return event.ticket == busy.run && event.kind == Event::Kind::figures;
    });
    const Event look =
        looked != events.end() ? *looked : wait_for(busy.engine, busy.run, Event::Kind::figures);
    CHECK(look.figures->front().title.find("channel 3") != std::string::npos);
}

TEST_CASE("progress that is not taken does not pile up", "[engine]") {
    std::atomic<int> sent{0};
    Engine engine(shared_cache(), [&] { ++sent; });
    Request request = scan_request();
    request.repeats = 1000000;  // the run never finishes
    const uint64_t run = engine.run(request, {});
    for (int waits = 0; waits < 3000 && sent < 20; ++waits)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(sent >= 20);
    const std::vector<Event> events = engine.take_events();
    CHECK(events.size() <= 2);  // one progress and one partial result
    REQUIRE_FALSE(events.empty());
    CHECK(events.back().ticket == run);
}

TEST_CASE("a look makes the figures of kept results, too, until they are kept no longer", "[engine]") {
    Engine engine(shared_cache(), [] {});
    const Request first = scan_request({{"length", int64_t{64}}});
    const uint64_t kept = engine.run(first, {});
    wait_for(engine, kept, Event::Kind::result);
    engine.keep({{kept, first}});
    const uint64_t newest = engine.run(scan_request({{"length", int64_t{128}}}), {});
    wait_for(engine, newest, Event::Kind::result);
    Parameters drawn;
    drawn.set("drawn_channel", int64_t{3});
    engine.look("scan", {}, drawn);
    const Event look = wait_for(engine, kept, Event::Kind::figures);
    CHECK(look.figures->front().title.find("channel 3") != std::string::npos);
    const auto has_ends_at = [](const Event& event, double most) {
        for (const Mark& mark : event.figures->front().marks)
            if (const Line* const line = std::get_if<Line>(&mark)) return line->x.back() <= most;
        return false;
    };
    CHECK(has_ends_at(look, 64));

    // One for another family leaves the figures of the newest result.
    Parameters others;
    others.set("drawn_boundary", int64_t{1});
    engine.look("memory", {}, others);
    for (int round = 0; round < 20; ++round) {
        CHECK(engine.take_events().empty());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

    engine.keep({});
    std::vector<Event> events;
    engine.look("scan", {}, {});
    wait_for(engine, newest, Event::Kind::figures, &events);
    for (int round = 0; round < 20; ++round) {
        for (Event& event : engine.take_events()) events.push_back(event);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (const Event& event : events) CHECK(event.ticket != kept);
}

}  // namespace
}  // namespace sawtooth
