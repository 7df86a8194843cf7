#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <system_error>
#include <thread>

#include "kernels/cpu/half.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/pool.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/contains.h"

namespace sawtooth::cpu {
namespace {

TEST_CASE("every item of a dispatch runs once, on the worker given by the split", "[pool][cpu]") {
    const int threads = GENERATE(1, 2, 3, 8);
    const int64_t items = GENERATE(0, 1, 2, 7, 8, 100);
    Pool pool(threads);
    const int64_t active = std::max<int64_t>(std::min<int64_t>(items, threads), 1);
    for (Split split : {Split::contiguous, Split::cyclic}) {
        std::vector<std::atomic<int>> done(static_cast<size_t>(items));
        std::vector<int> worker(static_cast<size_t>(items), -1);
        pool.dispatch(items, split, [&](const Item& item) {
            ++done[static_cast<size_t>(item.index)];
            worker[static_cast<size_t>(item.index)] = item.worker;
        });
        for (int64_t i = 0; i < items; ++i) {
            CHECK(done[static_cast<size_t>(i)] == 1);
            if (split == Split::cyclic) CHECK(worker[static_cast<size_t>(i)] == i % active);
            if (split == Split::contiguous && i > 0)
                CHECK(worker[static_cast<size_t>(i)] >= worker[static_cast<size_t>(i - 1)]);
        }
    }
}

TEST_CASE("items of a cyclic split may wait for earlier ones, with more threads than cores too",
          "[pool][cpu]") {
    Pool pool(6);
    for (int round = 0; round < 50; ++round) {
        std::atomic<int64_t> reached{0};
        pool.dispatch(200, Split::cyclic, [&](const Item& item) {
            while (reached.load() != item.index) std::this_thread::yield();
            ++reached;
        });
        CHECK(reached == 200);
    }
}

struct TwoRooms {
    float* row;
    int64_t* counts;

    TwoRooms(Scratch& scratch, int64_t width)
        : row(scratch.take<float>(width)), counts(scratch.take<int64_t>(3)) {}
};

TEST_CASE("every worker has scratch of its own, as much as the dispatch declares", "[pool][cpu]") {
    Pool pool(3);
    for (const int64_t width : {5, 4096, 7}) {
        std::atomic<int> wrong{0};
        const auto work = [&](const Item& item) {
            const auto rooms = take_rooms<TwoRooms>(item.scratch, width);
            for (int64_t i = 0; i < width; ++i) rooms.row[i] = static_cast<float>(item.index);
            std::fill_n(rooms.counts, 3, item.index);
            std::this_thread::yield();
            for (int64_t i = 0; i < width; ++i) wrong += rooms.row[i] != static_cast<float>(item.index);
            wrong += std::count(rooms.counts, rooms.counts + 3, item.index) != 3;
        };
        pool.dispatch(50, Split::cyclic, work, scratch_bytes<TwoRooms>(width));
        CHECK(wrong == 0);
    }
}

TEST_CASE("scratch that nothing has written is not a number", "[pool][cpu]") {
    Pool pool(1);
    bool is_nan = false;
    pool.dispatch(
        1, Split::contiguous,
        [&](const Item& item) { is_nan = std::isnan(take_rooms<TwoRooms>(item.scratch, 8).row[7]); },
        scratch_bytes<TwoRooms>(int64_t{8}));
    CHECK(is_nan);
}

TEST_CASE("child: a launch takes more scratch than it declares", "[.child]") {
    Pool pool(1);
    pool.dispatch(
        1, Split::contiguous, [](const Item&) {}, scratch_bytes<TwoRooms>(int64_t{100}));
    pool.dispatch(
        1, Split::contiguous, [](const Item& item) { take_rooms<TwoRooms>(item.scratch, int64_t{9000}); },
        scratch_bytes<TwoRooms>(int64_t{8}));
}

TEST_CASE("a launch that takes more scratch than it declares ends the program in words", "[pool][cpu]") {
    ChildProcess child("ulimit -c 0;", "child: a launch takes more scratch than it declares");
    CHECK(contains(child.output(), "bytes of scratch and declares"));
}

TEST_CASE("every dispatch is recorded with busy spans and tallies of its workers", "[pool][cpu]") {
    Pool pool(2);
    pool.start_recording();
    for (int dispatch = 0; dispatch < 3; ++dispatch)
        pool.dispatch(10, Split::contiguous, [](const Item& item) { item.tally += {1, 2, 3}; });
    REQUIRE(pool.records().size() == 3);
    double last_end = 0;
    for (const DispatchRecord& record : pool.records()) {
        CHECK(record.start_us >= last_end);
        CHECK(record.items == 10);
        CHECK(record.busy.size() == 2);
        for (const BusySpan& span : record.busy) {
            CHECK(span.start_us >= record.start_us);
            CHECK(span.end_us <= record.end_us);
        }
        CHECK(record.tally.combines == 10);
        CHECK(record.tally.read == 20);
        CHECK(record.tally.written == 30);
        last_end = record.end_us;
    }
    pool.start_recording();
    CHECK(pool.records().empty());
}

TEST_CASE("a stop skips items that have not started", "[pool][cpu]") {
    Pool pool(2);
    std::stop_source source;
    pool.set_stop(source.get_token());
    std::atomic<int64_t> done{0};
    pool.dispatch(1000, Split::cyclic, [&](const Item&) {
        if (++done == 10) source.request_stop();
    });
    CHECK(done < 1000);
    CHECK(pool.stopped());
    pool.set_stop({});
    done = 0;
    pool.dispatch(20, Split::cyclic, [&](const Item&) { ++done; });
    CHECK(done == 20);
}

TEST_CASE("f16 and bf16 are rounded to nearest, ties to even", "[half][cpu]") {
    const auto rounded = [](Storage storage, float value) {
        round_to(storage, &value, 1);
        return value;
    };
    CHECK(rounded(Storage::f16, 1 + 0x1p-11f) == 1.0f);             // a tie, to the even 1
    CHECK(rounded(Storage::f16, 1 + 3 * 0x1p-11f) == 1 + 0x1p-9f);  // a tie, to the even one above
    CHECK(rounded(Storage::f16, 65519) == 65504);                   // the largest f16
    CHECK(std::isinf(rounded(Storage::f16, 65520)));                // a tie with 65536
    CHECK(rounded(Storage::f16, 0x1p-24f) == 0x1p-24f);             // the smallest subnormal
    CHECK(rounded(Storage::f16, 0x1p-25f) == 0);                    // a tie with 0
    CHECK(rounded(Storage::bf16, 1 + 0x1p-8f) == 1.0f);             // a tie, to the even 1
    CHECK(rounded(Storage::bf16, 1 + 3 * 0x1p-8f) == 1 + 0x1p-6f);  // a tie, to the even one above
    for (Storage storage : {Storage::f16, Storage::bf16}) {
        CHECK(std::isnan(rounded(storage, NAN)));
        CHECK(rounded(storage, -INFINITY) == -INFINITY);
        CHECK(std::signbit(rounded(storage, -0.0f)));
    }
}

#ifdef __FLT16_MAX__
TEST_CASE("f16 agrees with the compiler's conversion for values of every size", "[half][cpu]") {
    int differing = 0;
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 65521) {
        float value;
        const auto word = static_cast<uint32_t>(bits);
        std::memcpy(&value, &word, 4);
        if (std::isnan(value)) continue;
        const auto expected = static_cast<float>(static_cast<_Float16>(value));
        round_to(Storage::f16, &value, 1);
        differing += value != expected;
    }
    CHECK(differing == 0);
}
#endif

TEST_CASE("copy and triad process every element, also for ragged sizes", "[limits][cpu]") {
    Pool pool(2);
    const int64_t count = GENERATE(1, 15, 65536, 200001);
    const auto size = static_cast<size_t>(count);
    const auto left = allocate(count * 4), right = allocate(count * 4), to = allocate(count * 4);
    const auto floats = [&](const auto& memory) {
        return std::span(reinterpret_cast<float*>(memory.get()), size);
    };
    std::iota(floats(left).begin(), floats(left).end(), 0.0f);
    std::fill(floats(right).begin(), floats(right).end(), 3.0f);
    copy(pool, floats(left).data(), floats(to).data(), count);
    CHECK(std::equal(floats(left).begin(), floats(left).end(), floats(to).begin()));
    triad(pool, floats(left).data(), floats(right).data(), floats(to).data(), count);
    bool same = true;
    for (size_t i = 0; i < size; ++i) same = same && floats(to)[i] == floats(left)[i] + 1.5f;
    CHECK(same);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need more than that limit
TEST_CASE("child: a pool without room for its threads", "[.child]") {
    CHECK_THROWS_AS(Pool(4096), std::system_error);
}

TEST_CASE("a pool whose threads cannot all be started says so and leaves none behind", "[pool][cpu]") {
    ChildProcess child("ulimit -v 1000000; timeout 30", "child: a pool without room for its threads");
    const std::string output = child.output();
    INFO(output);
    CHECK(output.ends_with("exit 0"));
}
#endif

}  // namespace
}  // namespace sawtooth::cpu
