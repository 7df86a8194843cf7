// The options for several workers and for shards.

#include "app/cli/worker_list.h"

#include "app/cli/settings.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth::cli {
namespace {

Outcome<Reading> read(std::vector<std::string> words) {
    words.insert(words.begin(), "sawtooth");
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    return read_arguments(static_cast<int>(pointers.size()), pointers.data());
}

Outcome<Settings> settings_of(const std::vector<std::string>& words) {
    const auto reading = read(words);
    REQUIRE(reading);
    return settle(reading->arguments);
}

Outcome<std::optional<Shard>> shard_of(const std::string& text) {
    const auto reading = read({"sweep", "scan", "--over", "length=1,2", "--shard", text});
    REQUIRE(reading);
    return settle_shard(reading->arguments);
}

TEST_CASE("a file of workers has a command on each line", "[cli]") {
    CHECK(parse_workers(
              "ssh a sawtooth worker\n# a comment\n\n  ssh b sawtooth worker \r\n\t# another\nlast") ==
          std::vector<std::string>{"ssh a sawtooth worker", "ssh b sawtooth worker", "last"});
    CHECK(parse_workers("").empty());
    CHECK(parse_workers("\n \n#").empty());
    CHECK(parse_workers("echo '# no comment'") == std::vector<std::string>{"echo '# no comment'"});
}

TEST_CASE("the workers of options and file are used together", "[cli]") {
    const TemporaryFolder folder;
    put(folder.file("hosts"), "third\n");
    const auto settings =
        settings_of({"sweep", "scan", "--on", "first", "--on", "second", "--on-file", folder.file("hosts")});
    REQUIRE(settings);
    CHECK(settings->workers == std::vector<std::string>{"first", "second", "third"});
    CHECK(settings->request.on == "first");
    CHECK(settings_of({"sweep", "scan"})->workers.empty());
    CHECK(settings_of({"bench", "--on-file", folder.file("hosts")})->request.on == "third");
    // Where there is only one place to run, one command is accepted.
    for (const char* command : {"run", "devices"}) {
        std::vector<std::string> words = {command, "--on", "a", "--on", "b"};
        if (words[0] == "run") words.insert(words.begin() + 1, "scan");
        const auto twice = read(words);
        REQUIRE_FALSE(twice);
        CHECK(contains(twice.error().text, "--on is given more than once"));
        CHECK_FALSE(read({command, "--on-file", folder.file("hosts")}));
    }
    put(folder.file("many"), std::string(2 * (most_workers + 1), '\n'));
    CHECK(contains(settings_of({"bench", "--on-file", folder.file("many")}).error().text, "no command"));
    std::string many;
    for (size_t i = 0; i <= most_workers; ++i) many += "a\n";
    put(folder.file("many"), many);
    CHECK(contains(settings_of({"bench", "--on-file", folder.file("many")}).error().text, "at most 1000"));
    CHECK(settings_of({"bench", "--on-file", folder.file("absent")}).error().exit_code() == 2);
}

TEST_CASE("a shard is its number and how many there are", "[cli]") {
    const auto shard = shard_of("3/40");
    REQUIRE(shard);
    REQUIRE(*shard);
    CHECK((*shard)->number == 3);
    CHECK((*shard)->count == 40);
    CHECK(shard_of("1/1"));
    for (const char* text : {"0/1", "2/1", "1", "1/", "/2", "a/2", "1/b", "1/2 ", "1/2/3", "-1/2", "1/100001",
                             "1/99999999999999999999"}) {
        INFO(text);
        const auto refused = shard_of(text);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().exit_code() == 2);
        CHECK(contains(refused.error().text, "--shard"));
        CHECK(contains(refused.error().text, "K/N"));
    }
    const auto none = read({"sweep", "scan", "--over", "length=1,2"});
    REQUIRE(none);
    CHECK_FALSE(*settle_shard(none->arguments));
}

TEST_CASE("join takes files, not families", "[cli]") {
    const auto reading = read({"join", "a.sawtooth", "b.sawtooth", "--session", "all.sawtooth"});
    REQUIRE(reading);
    CHECK(reading->arguments.command == Command::join);
    CHECK(reading->arguments.files == std::vector<std::string>{"a.sawtooth", "b.sawtooth"});
    CHECK(reading->arguments.families.empty());
}

}  // namespace
}  // namespace sawtooth::cli
