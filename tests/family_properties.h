#pragma once

#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/families.h"
#include "tests/catch.h"
#include "tests/family_compare.h"
#include "tests/family_random.h"

// What the properties of every family share, whatever the backend.
namespace sawtooth {

inline bool has_sequences(const Family& family) { return !batch_axis(family).empty(); }
inline bool can_be_causal(const Family& family) { return family.causal != nullptr; }

// Calls check(case), which returns how many numbers it compared, for random cases of every family that the
// property concerns (null: all). Each of them must have been compared; what was is printed in one line.
inline void for_every_family(const std::string& property, const Chip& chip, bool (*concerned)(const Family&),
                             const Accepts& accepts, const std::function<int64_t(RandomCase&)>& check) {
    std::string line = property + " on " + name_of(chip.backend) + ":";
    int families = 0;
    for (const Family* family : all_families()) {
        if (!family->has_kernels() || (concerned && !concerned(*family))) continue;
        int64_t compared = 0, settings = 0;
        std::set<std::string> variants;
        for_random_cases(property, *family, chip, accepts, [&](RandomCase& drawn) {
            INFO(drawn.words);
            const int64_t numbers = check(drawn);
            compared += numbers;
            settings += numbers > 0;
            if (numbers > 0) variants.insert(drawn.variant.name);
        });
        INFO(family->name);
        REQUIRE(compared > 0);
        line += (families++ ? "; " : " ") + family->name + " " + std::to_string(compared) + " numbers in " +
                std::to_string(settings) + " settings of " + std::to_string(variants.size()) + " variants";
    }
    REQUIRE(families > 0);
    std::cout << line << std::endl;
}

// The reference's array that an output of the variant is held against; null where there is none of its shape.
inline const Array* find_wanted(const Arrays& reference, const Variant& variant, const Array& output) {
    const Array* wanted = find(reference, variant.name + "/" + output.name);
    if (!wanted) wanted = find(reference, output.name);
    return wanted && wanted->shape == output.shape ? wanted : nullptr;
}

// Every output of which `wanted` holds what is right; returns how many numbers were compared.
inline int64_t check_outputs(const RandomCase& drawn, const Arrays& outputs, const Wanted& wanted,
                             const std::vector<bool>& wild, double rounding) {
    int64_t compared = 0;
    for (const Array& output : outputs) {
        const Array* const right = find_wanted(wanted.outputs, drawn.variant, output);
        if (!right) continue;
        const Array& moved = wanted.moved[static_cast<size_t>(right - wanted.outputs.data())];
        const Comparison comparison = compare(drawn.family, output, *right, moved, wild, rounding);
        INFO(comparison.words);
        CHECK(comparison.worst <= 1);
        compared += comparison.elements;
    }
    return compared;
}

// The elements that `is_held` names have the same bits; returns how many there are.
inline int64_t check_same_bits(const Array& got, const Array& wanted,
                               const std::function<bool(int64_t)>& is_held) {
    const auto size = static_cast<size_t>(bytes_of(got.dtype));
    int64_t compared = 0, differing = 0;
    for (int64_t i = 0; i < got.count(); ++i) {
        if (!is_held(i)) continue;
        const size_t at = static_cast<size_t>(i) * size;
        ++compared;
        differing += std::memcmp(got.data.get() + at, wanted.data.get() + at, size) != 0;
    }
    CHECK(differing == 0);
    return compared;
}

inline bool is_sentence(const std::string& text) { return text.size() > 1 && text.back() == '.'; }

// Every launch says what it is; what it reads is an input or was written before, as large as it is read, and
// every output is written whole. Returns how many arrays of launches were looked at.
inline int64_t check_described(const Plan& plan, const Arrays& inputs, const Arrays& outputs) {
    std::map<std::string, int64_t> there;  // how many numbers, by the array's name
    for (const Array& input : inputs) there[input.name] = input.count();
    int64_t arrays = 0;
    for (const Launch& launch : plan.launches) {
        const LaunchInfo& info = *launch.info;
        INFO(info.name);
        CHECK_FALSE(info.name.empty());
        CHECK(is_sentence(info.meaning));
        CHECK_FALSE(info.grid_formula.empty());
        CHECK(info.work.bytes > 0);
        CHECK_FALSE(info.writes.empty());
        for (const ArrayUse& read : info.reads) {
            INFO("reads " << read.name << " " << to_text(read.shape));
            CHECK(there[read.name] >= count_of(read.shape));
        }
        for (const ArrayUse& written : info.writes) there[written.name] += count_of(written.shape);
        arrays += static_cast<int64_t>(info.reads.size() + info.writes.size());
    }
    for (const Array& output : outputs) {
        INFO("output " << output.name << " " << to_text(output.shape));
        CHECK(there[output.name] >= output.count());
    }
    return arrays;
}

inline Arrays without_data(Arrays arrays) {
    for (Array& array : arrays) array.data.reset();
    return arrays;
}

// The case's inputs with a number of one of them that is not finite.
struct Strange {
    Arrays inputs;
    std::string array;  // of which
    int64_t element = 0;
    std::string words;  // "x[17] = nan"
};
inline Strange with_strange(RandomCase& drawn) {
    constexpr float values[] = {NAN, INFINITY, -INFINITY};
    Strange strange{copied(drawn.inputs), "", 0, ""};
    std::vector<Array*> floats;
    for (Array& array : strange.inputs)
        if (array.dtype != Dtype::int32) floats.push_back(&array);
    Array& array = *floats[static_cast<size_t>(below(drawn.random, static_cast<int64_t>(floats.size())))];
    const float value = values[below(drawn.random, 3)];
    strange.array = array.name;
    strange.element = below(drawn.random, array.count());
    array.as<float>()[static_cast<size_t>(strange.element * bytes_of(array.dtype) / 4)] = value;
    strange.words = array.name + "[" + std::to_string(strange.element) + "] = " + std::to_string(value);
    return strange;
}

// The case's inputs with other numbers, NaN or infinity from a position of the sequence axis on.
struct Prefix {
    Arrays inputs;
    int64_t length = 0;  // positions that stay as they are
    std::string words;   // "nan from position 17 on"
};
inline Prefix with_other_end(RandomCase& drawn) {
    const Family& family = drawn.family;
    Prefix prefix{copied(drawn.inputs), 0, ""};
    prefix.length = below(drawn.random, drawn.parameters.integer(family.sequence_axis));
    const int64_t kind = below(drawn.random, 3);
    for (Array& array : prefix.inputs) {
        const Dimension positions = dimension_of(family, array, family.sequence_axis);
        if (!positions.there || array.dtype == Dtype::int32) continue;
        const int64_t floats = bytes_of(array.dtype) / 4;
        for (int64_t i = 0; i < array.count() * floats; ++i) {
            float& value = array.as<float>()[static_cast<size_t>(i)];
            if (positions.of(i / floats) < prefix.length) continue;
            value = kind == 0 ? 0.5f - value : kind == 1 ? NAN : INFINITY;
        }
    }
    const char* const words[] = {"other numbers", "nan", "infinity"};
    prefix.words = std::string(words[kind]) + " from position " + std::to_string(prefix.length) + " on";
    return prefix;
}

}  // namespace sawtooth
