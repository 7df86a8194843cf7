// Requests, files, answers and launchers as an attacker would make them, for all families. Each must end with
// an error or with a right result. The choices depend on SAWTOOTH_RANDOM_SEED.

#include "app/engine/check/draw.h"
#include "kernels/figures/correctness.h"
#include "tests/engine/run_worker.h"
#include "tests/kernels/families/family_random.h"
#include "tests/kernels/families/hostile_values.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

// Returns a request with small values of every parameter, and sometimes one that is not allowed.
Request random_request(Random& random, const Family& family) {
    Request request = bounded_request(family);
    const auto drawn = draw_setting(random, family, family.variants.front(), processor, {.widest = 24});
    if (drawn) request.parameters = *drawn;
    if (random.below(2)) return request;
    const Parameter& row = one_of(random, family.parameters);
    if (const auto parsed = parse_setting(family, row.name, one_of(random, hostile_texts())))
        request.parameters.set(row.name, parsed->second);
    else
        check_words(parsed.error());
    return request;
}

TEST_CASE("random settings of every family give right results or words", "[hostile][random]") {
    Runner runner(shared_cache());
    for (const Family* family : offered_families()) {
        int right = 0, refused = 0;
        for (int round = 0; round < 12 * random_settings(); ++round) {
            Random random(random_seed(), fmt::format("hostile settings {} {}", family->name, round));
            const Request request = random_request(random, *family);
            INFO(family->name << ", SAWTOOTH_RANDOM_SEED=" << random_seed() << ", round " << round);
            const auto result = runner.run(request, {});
            if (!result) {
                check_words(result.error());
                ++refused;
                continue;
            }
            bool any_ran = false;
            for (const VariantResult& variant : (*result)->variants) {
                if (!variant.ran()) continue;
                any_ran = true;
                INFO(variant.name << ": " << wrong_sentence(variant) << "; "
                                  << words_of(*family, (*result)->parameters));
                CHECK(wrong_words(variant).empty());
            }
            right += any_ran;
        }
        std::cout << fmt::format("hostile settings: {}: {} right, {} refused in words\n", family->name, right,
                                 refused);
        CHECK(right > 0);
    }
}

// Changes a few bytes: flips, sets, removes or inserts them.
std::string damaged(std::string bytes, Random& random) {
    for (int64_t left = 1 + random.below(5); left > 0 && !bytes.empty(); --left) {
        // The start and the end are chosen more often, because headers and the directory are there.
        const auto size = static_cast<int64_t>(bytes.size()), edge = std::min<int64_t>(size, 200);
        const std::vector<int64_t> places = {random.below(size), random.below(edge),
                                             size - 1 - random.below(edge)};
        const auto at = static_cast<size_t>(one_of(random, places));
        switch (random.below(4)) {
            case 0:
                bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
                break;
            case 1:
                bytes[at] = static_cast<char>(one_of(random, std::vector<int>{0, 127, 128, 255}));
                break;
            case 2:
                bytes.erase(at, static_cast<size_t>(1 + random.below(40)));
                break;
            default:
                bytes.insert(at, random_bytes(random, 1 + random.below(30)));
        }
    }
    return bytes;
}

TEST_CASE("a damaged input file of any family is refused in words or read as it was", "[hostile][random]") {
    const TemporaryFolder folder;
    Runner runner(shared_cache());
    int all_read = 0;
    for (const Family* family : offered_families()) {
        INFO(family->name);
        Request request = bounded_request(*family);
        request.extras = Extras::none;
        request.memory_limit_bytes = int64_t{64} << 20;
        Request small = request;
        for (const Parameter& row : family->parameters)
            if (row.group == Group::shape && row.type == Type::integer)
                small.parameters.set(row.name,
                                     static_cast<int64_t>(std::clamp(4.0, row.minimum, row.maximum)));
        const auto written = runner.run(small, {});
        REQUIRE(written);
        REQUIRE_FALSE(write_npz(folder.file("whole.npz"), (*written)->inputs));
        request.input = folder.file("whole.npz");
        const auto whole = runner.run(request, {});
        REQUIRE(whole);
        REQUIRE((*whole)->inputs.size() == (*written)->inputs.size());
        for (const Array& array : (*written)->inputs) {
            const Array* const got = find((*whole)->inputs, array.name);
            REQUIRE(got);
            CHECK(got->shape == array.shape);
            CHECK(std::ranges::equal(got->as<std::byte>(), array.as<std::byte>()));
        }
        request.input = folder.file("damaged.npz");
        int read = 0, refused = 0;
        for (int round = 0; round < 20 * random_settings(); ++round) {
            Random random(random_seed(), fmt::format("damaged file {} {}", family->name, round));
            put(request.input, damaged(content_of(folder.file("whole.npz")), random));
            INFO("SAWTOOTH_RANDOM_SEED=" << random_seed() << ", round " << round);
            const auto result = runner.run(request, {});
            (result ? read : refused) += 1;
            if (!result) {
                check_words(result.error());
                continue;
            }
            // Arrays that were read have the right checksum; the others are generated.
            for (const Array& array : (*whole)->inputs) {
                const Array* const got = find((*result)->inputs, array.name);
                if (!got || got->shape != array.shape || (*result)->parameters != (*whole)->parameters)
                    continue;
                CHECK(std::ranges::equal(got->as<std::byte>(), array.as<std::byte>()));
            }
        }
        std::cout << fmt::format("damaged files: {}: {} read, {} refused in words\n", family->name, read,
                                 refused);
        CHECK(refused > 0);
        all_read += read;
    }
    CHECK(all_read > 0);  // of a small family there may be none
}

// Returns a worker that sends any messages, complete or not, in any order, and then hangs, ends or repeats
// itself.
std::string random_launcher(const TemporaryFolder& folder, Random& random, const std::string& shown) {
    std::string said = random.below(5) ? greeting() : "";
    for (int64_t left = random.below(6); left > 0; --left) switch (random.below(7)) {
            case 0:
                said += message(Alive{});
                break;
            case 1:
                said += message(Said{1, {std::nan(""), one_of(random, hostile_texts()), true}});
                break;
            case 2:
                said +=
                    message(Failed{1, Error::failure(one_of(random, hostile_texts())), random.below(2) == 1});
                break;
            case 3:
                said +=
                    shown.substr(0, static_cast<size_t>(random.below(static_cast<int64_t>(shown.size()))));
                break;
            case 4:
                said += random_bytes(random, 1 + random.below(100));
                break;
            case 5:
                said += message(CellDone{1, {{}, "", nullptr}});
                break;
            default:
                said += message(ArrayPart{1, Bytes(static_cast<size_t>(random.below(100)))});
        }
    const std::string name = "said";
    const std::string again = "while cat '" + folder.file(name) + "'; do :; done";
    const std::vector<std::string> ends = {"sleep 60",          "true",    "kill -9 $$",
                                           "sleep 60 & exit 0", "cat >&2", again};
    return saying(folder, name, said, one_of(random, ends));
}

TEST_CASE("bad launchers and workers end with words within the time limit", "[hostile][random][worker]") {
    const TemporaryFolder folder;
    auto result = std::make_shared<Result>();
    const std::string shown = message(Shown{1, result, std::make_shared<const std::vector<Figure>>()});
    const auto run = [&](const std::string& on) {
        INFO(on);
        Request request = scan_on(on);
        request.time_limit_seconds = 0.3;
        WorkerLink link("");
        const auto outcome = link.run(1, request, View{}, {});
        REQUIRE_FALSE(outcome);
        const std::string text = outcome.error().text;
        INFO(text);
        CHECK_FALSE(text.empty());
        CHECK(text.find('\x1b') == std::string::npos);
    };
    for (const char* const on :
         {"true", "exit 3", "no-such-program-here", "((", "echo Welcome", "yes", "kill -9 $$", "cat",
          "cat /dev/urandom", "sleep 60 & exit 0", "sleep 60", "while :; do echo; done >&2"})
        run(on);
    for (int round = 0; round < 4 * random_settings(); ++round) {
        INFO("SAWTOOTH_RANDOM_SEED=" << random_seed() << ", round " << round);
        Random random(random_seed(), fmt::format("launcher {}", round));
        run(random_launcher(folder, random, shown));
    }
    CHECK(children().empty());
}

}  // namespace
}  // namespace sawtooth
