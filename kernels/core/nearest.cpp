#include "kernels/core/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace sawtooth {
namespace {

bool alike(char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == std::tolower(static_cast<unsigned char>(other));
}

// The number of letters to insert, delete, replace or swap with their neighbour (Damerau, 1964; each letter
// is edited at most once). Case is ignored.
size_t distance(std::string_view one, std::string_view other) {
    std::vector<size_t> before, last, row(other.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < one.size(); ++i) {
        before = std::exchange(last, row);
        row[0] = i + 1;
        for (size_t j = 0; j < other.size(); ++j) {
            const size_t replaced = last[j] + (alike(one[i], other[j]) ? 0 : 1);
            row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
            const bool swapped = i > 0 && j > 0 && alike(one[i], other[j - 1]) && alike(one[i - 1], other[j]);
            if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string listed(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::string nearest(std::string_view typed, const Names& names) {
    std::string best;
    size_t least = 1 + std::min<size_t>(2, typed.size() / 2);
    for (const std::string& name : names)
        if (const size_t far = distance(typed, name); far < least) {
            least = far;
            best = name;
        }
    return best;
}

std::string suggestion(std::string_view typed, const Names& names) {
    const std::string near = nearest(typed, names);
    return near.empty() ? "" : " Did you mean " + near + "?";
}

std::string no_such_name(std::string_view typed, std::string_view what, std::string_view title,
                         const Names& names) {
    return std::string(typed) + " is not " + std::string(what) + "." + suggestion(typed, names) + " " +
           std::string(title) + ": " + listed(names);
}

std::string not_one_of(std::string_view typed, const Names& names) {
    const std::string hint = suggestion(typed, names);
    return "not one of " + listed(names) + (hint.empty() ? "" : "." + hint);
}

}  // namespace sawtooth
