// Workers are killed, stopped, garbled and closed while the engine keeps running.

#include <signal.h>
#include <sys/wait.h>

#include "tests/engine/run_worker.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using Clock = std::chrono::steady_clock;

size_t open_descriptors() {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                             std::filesystem::directory_iterator()));
}

// Small reproducible random numbers.
class Dice {
  public:
    int throw_to(int sides) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state_ >> 33) % static_cast<uint64_t>(sides));
    }

  private:
    uint64_t state_ = 42;
};

// The ways to mistreat the workers of an engine.
class Torture {
  public:
    explicit Torture(Engine& engine) : engine_(engine) {}

    // Sends a signal to the worker while a long Request runs there, or before it does.
    void signal(int signal) {
        Request request = scan_on(worker_command(), 1 << 14);
        request.repeats = 100000;
        request.time_limit_seconds = 0.2;
        const uint64_t ticket = engine_.run(request, {});
        auto next = Clock::now() + std::chrono::milliseconds(dice_.throw_to(60));
        bool greeted = false;
        std::set<pid_t> killed;
        const auto until = Clock::now() + std::chrono::seconds(60);
        while (Clock::now() < until) {
            for (const Event& event : engine_.take_events()) {
                greeted = greeted || event.progress.words.starts_with("worker on") || event.result;
                if (event.ticket == ticket && event.kind == Event::Kind::failed) {
                    wait_for_ends(killed);
                    return check(*event.error, signal);
                }
            }
            // A worker that was stopped before its greeting is awaited: it may be in a queue. One that was
            // killed before it got the Request is replaced, and its successor is killed as well.
            if (Clock::now() >= next && (greeted || signal == SIGKILL)) {
                for (const pid_t child : children())
                    if (::kill(-child, signal) == 0 && signal == SIGKILL) killed.insert(child);
                next = signal == SIGKILL ? Clock::now() + std::chrono::milliseconds(100) : until;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        FAIL("the engine did not go on");
    }

    // Runs a worker that sends a greeting, or none, and then these bytes instead of an answer.
    void garble(const std::string& bytes, const std::string& then) {
        const std::string start = dice_.throw_to(4) ? greeting() : "";
        const Event event =
            end_of(engine_, engine_.run(scan_on(saying(folder_, "garble", start + bytes, then)), {}));
        CHECK(event.kind == Event::Kind::failed);
    }

    // Truncates the output of the real worker at some byte.
    void cut() {
        const std::string command =
            worker_command() + " | dd bs=1 status=none count=" + std::to_string(1 + dice_.throw_to(3000));
        Request request = scan_on(command);
        request.time_limit_seconds = 0.2;
        const Event event = end_of(engine_, engine_.run(request, {}));
        CHECK(event.kind == Event::Kind::failed);
    }

    void do_round(int round) {
        switch (round % 20) {
            case 4:
                return signal(SIGSTOP);
            case 1:
            case 11:
                return garble(random_bytes(), "sleep 60");
            case 6:
                return garble(framed(std::string(size_t{8} << 20, '\x91')), "sleep 60");
            case 9:
            case 16:
                return garble("\xFF\xFF\xFF\xFF", "sleep 60");
            case 14: {
                const std::string half = message(Said{1, {0.5, "half a message", false}});
                return garble(half.substr(0, half.size() / 2), "true");
            }
            case 3:
            case 13:
                return garble("", "true");
            case 8:
            case 18:
                return cut();
            default:
                return signal(SIGKILL);
        }
    }

  private:
    // The engine starts a new worker after each loss, which may be killed as well before the loss is seen
    // here. A process ends some time after it was killed: the next Request must not reach it before.
    static void wait_for_ends(const std::set<pid_t>& killed) {
        for (const pid_t child : killed) {
            siginfo_t ended = {};
            ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);  // or it is reaped already
        }
    }
    static void check(const Error& error, int signal) {
        INFO(error.text);
        CHECK(error.exit_code() == 1);
        if (signal == SIGSTOP)
            CHECK((contains(error.text, "no response") || contains(error.text, "did not finish")));
        CHECK(contains(error.text, "worker"));
    }
    std::string random_bytes() {
        std::string bytes = std::string("\x20\0\0\0", 4);
        for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<char>(dice_.throw_to(256)));
        return bytes;
    }

    Engine& engine_;
    Dice dice_;
    TemporaryFolder folder_;
};

// The number of children that run. One that takes more than half a second to end after it was killed is a
// zombie until the next worker starts.
size_t count_running() {
    return static_cast<size_t>(std::ranges::count_if(children(), [](pid_t child) {
        const std::string state = content_of("/proc/" + std::to_string(child) + "/stat");
        return !contains(state, ") Z ");
    }));
}

// The same, once it is the wanted number or after some seconds: on a busy machine one that was killed may run
// for a moment, and the kernel may leave one out while another ends.
size_t running_within_seconds(size_t wanted) {
    size_t count = count_running();
    for (int tries = 0; tries < 1000 && count != wanted; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        count = count_running();
    }
    return count;
}

TEST_CASE("killed, stopped, garbled and closed 100 times, and the engine goes on every time", "[worker]") {
    REQUIRE(children().empty());
    const size_t descriptors = open_descriptors();
    {
        Engine engine(shared_cache(), [] {});
        Torture torture(engine);
        for (int round = 0; round < 100; ++round) {
            INFO("round " << round);
            torture.do_round(round);
            const Event right = end_of(engine, engine.run(scan_on(worker_command(), 100 + round), {}));
            INFO((right.error ? right.error->text : ""));
            REQUIRE(right.result);
            check_right(*right.result);
            CHECK(right.result->parameters.integer("length") == 100 + round);
            CHECK(running_within_seconds(1) == 1);
            CHECK(open_descriptors() <= descriptors + 3 + 16);
        }
    }
    CHECK(running_within_seconds(0) == 0);
    CHECK(open_descriptors() == descriptors);
}

}  // namespace
}  // namespace sawtooth
