#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawtooth {

// A word that a newcomer may not know, and its definition in one line.
struct Term {
    std::string_view word, meaning;
};
const std::vector<Term>& terms();

// A place where a text has a term: as whole words, in upper or lower case, also in the plural.
struct FoundTerm {
    size_t begin = 0, end = 0;  // byte positions in the text
    const Term* term = nullptr;
};
std::vector<FoundTerm> find_terms(std::string_view text);

// One line per term of the text: "launch: one start of a kernel …"; "" if it has none.
std::string definitions_in(std::string_view text);

}  // namespace sawtooth
