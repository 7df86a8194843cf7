// The two sides of a comparison, from the command line.

#include "app/cli/settings.h"
#include "app/engine/run/configure.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

using namespace sawtooth;
using namespace sawtooth::cli;

namespace {

Outcome<std::pair<Settings, Settings>> sides_of(std::vector<const char*> words) {
    words.insert(words.begin(), {"sawtooth", "compare"});
    const auto reading = read_arguments(static_cast<int>(words.size()), words.data());
    if (!reading) return reading.error();
    return settle_sides(reading->arguments);
}

void check_usage(const std::vector<const char*>& words, const std::string& part) {
    const auto sides = sides_of(words);
    REQUIRE_FALSE(sides);
    INFO(sides.error().text);
    CHECK(sides.error().kind == Error::Kind::usage);
    CHECK(contains(sides.error().text, part));
}

}  // namespace

TEST_CASE("both sides have the common settings, and each its own", "[cli]") {
    const auto sides =
        sides_of({"scan", "--set", "length=64", "--set", "block_size=256", "--seed", "3", "--repeat", "4",
                  "--a", "op=max", "--b", "block_size=512", "--b", "threads=2"});
    if (!sides) FAIL(sides.error().text);
    const auto& [a, b] = *sides;
    CHECK(a.request.parameters.text("op") == "max");
    CHECK_FALSE(b.request.parameters.has("op"));
    CHECK(to_text(a.request.parameters.at("block_size")) == "256");
    CHECK(to_text(b.request.parameters.at("block_size")) == "512");
    CHECK(a.request.threads == 0);
    CHECK(b.request.threads == 2);
    for (const Settings* const side : {&a, &b}) {
        CHECK(side->request.parameters.integer("length") == 64);
        CHECK(side->request.seed == 3);
        CHECK(side->request.repeats == 4);
    }
}

TEST_CASE("sides may differ in variants, presets and folders of kernels", "[cli]") {
    const auto sides =
        sides_of({"scan", "--preset", "paper", "--a", "variant=lookback", "--b", "variant=three_phase", "--b",
                  "kernels=/", "--b", "backend=cuda", "--b", "device=1"});
    if (!sides) FAIL(sides.error().text);
    CHECK(sides->first.request.variants == std::vector<std::string>{"lookback"});
    CHECK(sides->second.request.variants == std::vector<std::string>{"three_phase"});
    CHECK(sides->first.request.preset == "paper");
    CHECK(sides->second.request.kernels == "/");
    CHECK(sides->second.request.device == 1);
}

TEST_CASE("what a side cannot have is refused", "[cli]") {
    check_usage({"scan"}, "--b NAME=VALUE");
    check_usage({"nothing", "--b", "length=2"}, "nothing");
    check_usage({"scan", "--b", "length"}, "--b length: expected NAME=VALUE");
    check_usage({"scan", "--b", "length="}, "--b length=: expected NAME=VALUE");
    check_usage({"scan", "--b", "lenght=4"}, "Did you mean length?");
    check_usage({"scan", "--b", "length=0"}, "length = 0: out of range");
    check_usage({"scan", "--b", "length=1", "--b", "length=2"}, "set twice");
    check_usage({"scan", "--b", "threads=1", "--b", "threads=2"}, "--b threads: given more than once");
    check_usage({"scan", "--b", "threads=many"}, "--threads = many");
    check_usage({"scan", "--b", "kernels=nowhere"}, "--kernels = nowhere");
    check_usage({"scan", "--b", "variant=lookback"}, "--a variant=NAME");
    check_usage({"scan", "--b", "length=2", "--on", "ssh host sawtooth worker"},
                "--on is not an option of compare");
    check_usage({"scan", "--b", "length=2", "--profile", "counters"},
                "--profile is not an option of compare");
}

TEST_CASE("no parameter has the name of an option that a side may set", "[cli]") {
    for (const Family* family : offered_families())
        for (const std::string_view option : own_options_of_sides()) {
            INFO(family->name << " " << option);
            CHECK_FALSE(family->parameter(option));
        }
}
