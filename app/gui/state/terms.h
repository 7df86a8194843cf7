#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawtooth {

// Words that a newcomer may not know, each with its definition in one line.
struct Term {
    std::string_view word, meaning;
};
const std::vector<Term>& terms();

// Where a text has a term: as whole words, in any case, also in the plural.
struct FoundTerm {
    size_t begin = 0, end = 0;  // bytes of the text
    const Term* term = nullptr;
};
std::vector<FoundTerm> find_terms(std::string_view text);

// "launch: one start of a kernel …", a line for each term of the text; "" if it has none.
std::string definitions_in(std::string_view text);

}  // namespace sawtooth
