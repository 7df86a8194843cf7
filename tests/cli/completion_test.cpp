// The man page and shell completion, which are made from the tables of the command line.

#include "app/cli/completion.h"

#include <regex>
#include <set>
#include <sstream>

#include "app/cli/argument_tables.h"
#include "app/cli/man_page.h"
#include "app/cli/settings.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

using namespace sawtooth;
using namespace sawtooth::cli;

namespace {

Outcome<Reading> read(const std::vector<std::string>& words) {
    std::vector<const char*> pointers = {"sawtooth"};
    for (const std::string& word : words) pointers.push_back(word.c_str());
    return read_arguments(static_cast<int>(pointers.size()), pointers.data());
}

std::vector<std::string> words_of_completions(const std::vector<std::string>& words) {
    std::istringstream lines(completions(words));
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line.substr(0, line.find('\t')));
    return all;
}

bool offers(const std::vector<std::string>& words, const std::string& word) {
    const auto all = words_of_completions(words);
    return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

TEST_CASE("the man page names every subcommand and every option of --help", "[cli]") {
    const std::string page = man_page();
    const std::regex option("--[a-z-]+");
    std::vector<std::vector<std::string>> helps = {{"--help"}};
    for (const CommandRow& row : commands()) helps.push_back({row.name, "--help"});
    for (const auto& words : helps) {
        CHECK(contains(page, "\\fB" + std::string(words.size() > 1 ? words[0] : "sawtooth") + "\\fR"));
        const std::string help = read(words)->answer;
        for (std::sregex_iterator match(help.begin(), help.end(), option), end; match != end; ++match) {
            const std::string as_roff = std::regex_replace(match->str(), std::regex("-"), "\\-");
            INFO(match->str());
            CHECK(contains(page, as_roff));
        }
    }
}

TEST_CASE("every line of the man page is a request or plain text", "[cli]") {
    const std::set<std::string> requests = {".TH", ".SH", ".TP", ".br"};
    std::istringstream lines(man_page());
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK_FALSE(line.empty());
        CHECK_FALSE(line.starts_with('\''));
        if (line.starts_with('.')) CHECK(requests.contains(line.substr(0, 3)));
    }
}

TEST_CASE("an option accepts the choices that the tables name", "[cli]") {
    for (const OptionRow& row : options())
        for (const std::string& choice : choices_of(row)) {
            INFO(row.name << " " << choice);
            std::vector<std::string> words = {row.name, choice};
            if (row.commands & bit(Command::sweep)) words.insert(words.begin(), {"sweep", "attention"});
            const auto reading = read(words);
            REQUIRE(reading);
            const auto settings = settle(reading->arguments);
            REQUIRE(settings);
            if (row.commands & bit(Command::window)) CHECK(settle_window(reading->arguments));
            if (row.commands == bit(Command::sweep))
                CHECK_FALSE(check_export(reading->arguments, *settings, {}));
        }
}

TEST_CASE("completion offers what may follow, and only that", "[cli]") {
    using Words = std::vector<std::string>;
    CHECK(words_of_completions({"r"}) == Words{"run", "report"});
    CHECK(words_of_completions({"--ver"}) == Words{"--version"});
    CHECK(words_of_completions({"run", "lut"}) == Words{"lut", "lut_sequence"});
    CHECK(words_of_completions({"run", "scan", ""}).empty());  // one family is enough
    CHECK(offers({"check", "scan", ""}, "memory"));
    CHECK(offers({"bench", ""}, "window"));
    CHECK_FALSE(offers({"bench", "scan", ""}, "window"));
    CHECK(words_of_completions({"report", ""}).empty());  // a folder may follow
    CHECK(offers({"report", "folder", ""}, "scan"));
    CHECK(words_of_completions({"run", "scan", "--allow"}) == Words{"--allow-wrong"});
    CHECK_FALSE(offers({"devices", "--"}, "--set"));
    CHECK(offers({"run", "scan", "--variant", ""}, "lookback"));
    CHECK_FALSE(offers({"run", "scan", "--variant", ""}, "two_pass"));
    CHECK(offers({"run", "--variant", ""}, "two_pass"));  // variants of any family
    CHECK(offers({"--family", "btp", "--theme", ""}, "light"));
    CHECK(offers({"shot", "a.png", "--family", "btp", "--variant", ""}, "two_pass"));
    CHECK_FALSE(offers({"shot", "a.png", "--family", "btp", "--variant", ""}, "lookback"));
    CHECK(words_of_completions({"run", "scan", "--preset", "pa"}) == Words{"paper"});
    CHECK(words_of_completions({"run", "scan", "--set", "dir"}) == Words{"direction="});
    CHECK(words_of_completions({"run", "scan", "--set", "direction=f"}) == Words{"direction=forward"});
    CHECK(words_of_completions({"run", "scan", "--set=direction=f"}) == Words{"--set=direction=forward"});
    CHECK(words_of_completions({"sweep", "memory", "--over", "chunk,C_G"}) == Words{"chunk,C_G="});
    CHECK(words_of_completions({"run", "scan", "--arch", "sm_90"}) == Words{"sm_90a"});
    CHECK(words_of_completions({"run", "scan", "--repeat", ""}).empty());
    CHECK(words_of_completions({"run", "scan", "--set", "op=sum", "--cache", "c"}) == Words{"cold"});
    CHECK(words_of_completions({"compare", "scan", "--b", "dir"}) == Words{"direction="});
    CHECK(words_of_completions({"compare", "scan", "--a", "k"}) == Words{"kernels="});
    CHECK(offers({"compare", ""}, "scan"));
    CHECK(words_of_completions({}).empty());
    CHECK(words_of_completions({"nothing", ""}).empty());
    CHECK(words_of_completions({"run", "nothing", "--set", "direction=f"}) == Words{"direction=forward"});
}
