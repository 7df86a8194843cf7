// Requests for new figures beside sweeps and refused Requests, and events that nobody takes.

#include "tests/engine/engine_events.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

// An engine that has a result and is running a cell of a sweep for a long time.
struct BusyEngine {
    TemporaryFolder folder;
    Engine engine{folder.path(), [] {}};
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
    busy.engine.look({}, {});
    std::vector<Event> events;
    wait_for(busy.engine, busy.run, Event::Kind::figures, &events);
    for (const Event& event : events) CHECK(event.kind != Event::Kind::cell);
}

TEST_CASE("a look is served although a Request that came after it was refused", "[engine]") {
    BusyEngine busy;
    Parameters drawn;
    drawn.set("drawn_channel", int64_t{3});
    busy.engine.look({}, drawn);
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
    const TemporaryFolder folder;
    Engine engine(folder.path(), [] {});
    Request request = scan_request({{"length", int64_t{1} << 14}});
    request.repeats = 200;
    const uint64_t run = engine.run(request, {});
    std::vector<Event> events;
    for (int waits = 0; waits < 600; ++waits) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        events = engine.take_events();
        if (std::any_of(events.begin(), events.end(), [&](const Event& event) {
                return event.kind == Event::Kind::result && event.result->complete;
            }))
            break;
        CHECK(events.size() <= 2);  // one progress and one partial result
    }
    REQUIRE_FALSE(events.empty());
    CHECK(events.back().ticket == run);
}

}  // namespace
}  // namespace sawtooth
