#include "app/gui/state/terms.h"

#include <algorithm>

#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

TEST_CASE("terms are found as whole words, in any case and in the plural", "[gui]") {
    const auto words_in = [](std::string_view text) {
        std::vector<std::string_view> words;
        for (const FoundTerm& found : find_terms(text))
            words.push_back(text.substr(found.begin, found.end - found.begin));
        return words;
    };
    using Words = std::vector<std::string_view>;
    CHECK(words_in("Chunk by chunk: launches, tiles and a warp.") ==
          Words{"Chunk", "chunk", "launches", "tiles", "warp"});
    CHECK(words_in("exact_chunk relaunched a subtile; chunking is exactly that") == Words{});
    CHECK(words_in("the kernel error of a kernel") == Words{"kernel error", "kernel"});
    CHECK(words_in("") == Words{});
}

TEST_CASE("a definition is told once, in one line that ends with a full stop", "[gui]") {
    const std::string words = definitions_in("chunk 16, chunk 32 and a launch");
    CHECK(std::count(words.begin(), words.end(), '\n') == 1);
    CHECK(words.find("chunk: ") == 0);
    CHECK(contains(words, "\nlaunch: "));
    for (const Term& term : terms()) {
        INFO(term.word);
        CHECK(term.meaning.ends_with('.'));
        CHECK_FALSE(contains(term.meaning, "\n"));
        CHECK(find_terms(term.word).size() == 1);
        CHECK(find_terms(term.word).front().term == &term);
    }
}

}  // namespace
}  // namespace sawtooth
