#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/engine/run/configure.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/random_seed.h"

// Values that an attacker may give for a number, a text or a list. The choices depend only on
// SAWTOOTH_RANDOM_SEED.
namespace sawtooth {

template <class T>
const T& one_of(Random& random, const std::vector<T>& choices) {
    return choices[static_cast<size_t>(random.below(static_cast<int64_t>(choices.size())))];
}

inline std::string random_bytes(Random& random, int64_t count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(random.below(256)));
    return bytes;
}

// Texts that a user or another program might give for a value.
inline const std::vector<std::string>& hostile_texts() {
    static const std::vector<std::string> texts = {"",
                                                   "nan",
                                                   "inf",
                                                   "-1",
                                                   "0",
                                                   "1e400",
                                                   "0x10",
                                                   " 4",
                                                   "4.5",
                                                   "99999999999999999999",
                                                   "2147483648",
                                                   "x",
                                                   "none",
                                                   "auto",
                                                   "1,,2",
                                                   ",",
                                                   "-2147483649",
                                                   "\n4",
                                                   "%s%n",
                                                   "9223372036854775807",
                                                   "../../x",
                                                   "..",
                                                   "true",
                                                   "{}",
                                                   "[0,1]",
                                                   "\x1b[2J\x1b]0;owned\a",
                                                   "\xC2\x9B",
                                                   "\xFF"};
    return texts;
}

inline nlohmann::json halved(const nlohmann::json& list) {
    const std::vector<nlohmann::json> all = list;
    return std::vector<nlohmann::json>(all.begin(), all.begin() + static_cast<int64_t>(all.size()) / 2);
}

inline nlohmann::json doubled(const nlohmann::json& list) {
    std::vector<nlohmann::json> all = list;
    const std::vector<nlohmann::json> again = all;
    all.insert(all.end(), again.begin(), again.end());
    return all;
}

// Changes one value of a message, at any depth.
inline void change_one_place(nlohmann::json& message, Random& random) {
    using Json = nlohmann::json;
    Json* at = &message;
    while (at->is_structured() && !at->empty() && random.below(8) != 0) {
        auto next = at->begin();
        std::advance(next, random.below(static_cast<int64_t>(at->size())));
        at = &*next;
    }
    static const std::vector<int64_t> integers = {-1,
                                                  0,
                                                  1,
                                                  2,
                                                  3,
                                                  7,
                                                  255,
                                                  65536,
                                                  std::numeric_limits<int32_t>::max(),
                                                  int64_t{1} << 32,
                                                  int64_t{1} << 53,
                                                  std::numeric_limits<int64_t>::max(),
                                                  std::numeric_limits<int64_t>::min()};
    static const std::vector<double> numbers = {0,
                                                -1,
                                                1e-320,
                                                1e308,
                                                -1e308,
                                                std::numeric_limits<double>::infinity(),
                                                std::numeric_limits<double>::quiet_NaN(),
                                                0.5};
    if (at->is_number_integer())
        *at = one_of(random, integers);
    else if (at->is_number())
        *at = one_of(random, numbers);
    else if (at->is_boolean())
        *at = !at->get<bool>();
    else if (at->is_string())
        *at = random.below(4) == 0 ? std::string(100000, 'A') : one_of(random, hostile_texts());
    else if (at->is_array())
        *at = random.below(2) ? halved(*at) : doubled(*at);
    else if (at->is_object() && !at->empty()) {
        auto field = at->begin();  // left out, or known to another build only
        std::advance(field, random.below(static_cast<int64_t>(at->size())));
        const Json value = *field;
        const std::string name = field.key() + "_of_another_build";
        at->erase(field);
        if (random.below(2)) (*at)[name] = value;
    } else if (at->is_binary()) {
        auto& bytes = at->get_binary();
        const double number = one_of(random, numbers);
        if (random.below(2)) bytes.resize(bytes.size() / 16 * 8);
        for (size_t i = 0; i + sizeof number <= bytes.size(); i += sizeof number)
            if (random.below(2)) std::memcpy(bytes.data() + i, &number, sizeof number);
    } else
        *at = one_of(random, std::vector<Json>{Json(), 0, 1.5, "", Json::array(), Json::object()});
}

inline Request bounded_request(const Family& family) {
    Request request;
    request.family = family.name;
    request.repeats = 1;
    request.threads = 2;
    request.time_limit_seconds = 5;
    request.memory_limit_bytes = int64_t{256} << 20;
    return request;
}

// Checks that an error says something.
inline void check_words(const Error& error) {
    INFO(error.text);
    CHECK_FALSE(error.text.empty());
    CHECK_FALSE(contains(error.text, "internal error"));
}

}  // namespace sawtooth
