#include "app/cli/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace sawtooth::cli {
namespace {

bool alike(char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == std::tolower(static_cast<unsigned char>(other));
}

// How many letters must be put in, left out or replaced (Levenshtein, 1966); capitals do not count.
size_t distance(std::string_view one, std::string_view other) {
    std::vector<size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < one.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i + 1);
        for (size_t j = 0; j < other.size(); ++j) {
            const size_t replaced = diagonal + (alike(one[i], other[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& names) {
    std::string best;
    size_t least = 1 + std::min<size_t>(2, typed.size() / 2);
    for (const std::string& name : names)
        if (const size_t far = distance(typed, name); far < least) {
            least = far;
            best = name;
        }
    return best;
}

}  // namespace sawtooth::cli
