#include "tests/kernels/families/family_properties.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <set>

#include "kernels/core/dimensions.h"
#include "tests/kernels/families/schema_facts.h"

namespace sawtooth {
namespace {

// The position of an element along one dimension of its array.
struct Dimension {
    int64_t size = 1, inner = 1;  // inner: elements from one position to the next
    bool there = false;           // false: the array has no such dimension, all positions are 0

    int64_t position_of(int64_t element) const { return element / inner % size; }
};

Dimension dimension_of(const Family& family, const Array& array, const std::string& dimension) {
    const auto names = dimensions_of(*family.array(array.name), array.shape);
    // The axis of a sequence may count only some of its positions.
    const bool is_sequence = dimension == family.sequence_axis;
    Dimension found;
    for (size_t i = 0; i < names.size(); ++i) {
        if (found.there) found.inner *= array.shape[i];
        if (found.there || !(is_sequence ? counts_sequence(family, names[i]) : names[i] == dimension))
            continue;
        found.size = array.shape[i];
        found.there = true;
    }
    if (!found.there) found.inner = std::max<int64_t>(array.count(), 1);
    return found;
}

bool has_sequences(const Family& family) { return !batch_axis(family).empty(); }
bool can_be_causal(const Family& family) { return family.causal != nullptr; }

bool has_several_sequences(const Family& family, const Variant&, const Parameters& parameters) {
    return parameters.integer(batch_axis(family)) > 1;
}

bool is_causal(const Family& family, const Variant&, const Parameters& parameters) {
    return family.causal(parameters) && parameters.integer(family.sequence_axis) > 1;
}

// Checks that the elements selected by `is_held` have the same bits; returns their number.
int64_t check_same_bits(const Array& got, const Array& wanted, const std::function<bool(int64_t)>& is_held) {
    const auto size = static_cast<size_t>(bytes_of(got.dtype));
    int64_t compared = 0, differing = 0;
    for (int64_t i = 0; i < got.count(); ++i) {
        if (!is_held(i)) continue;
        const size_t at = static_cast<size_t>(i) * size;
        ++compared;
        differing += std::memcmp(got.data.get() + at, wanted.data.get() + at, size) != 0;
    }
    INFO(got.name);
    CHECK(differing == 0);
    return compared;
}

// The inputs of a case with one non-finite number in one array.
struct Strange {
    Arrays inputs;
    std::string array;  // its name
    int64_t element = 0;
    std::string words;  // "x[17] = nan"
};

// Puts the number into any array, or into one with that dimension.
Strange with_strange(RandomCase& drawn, const std::string& dimension = "") {
    constexpr float values[] = {NAN, INFINITY, -INFINITY};
    Strange strange{copied(drawn.inputs), "", 0, ""};
    std::vector<Array*> floats;
    for (Array& array : strange.inputs) {
        if (!dimension.empty() && !dimension_of(drawn.family, array, dimension).there) continue;
        if (array.dtype != Dtype::int32 && array.count() > 0) floats.push_back(&array);
    }
    Array& array = *floats[static_cast<size_t>(drawn.random.below(static_cast<int64_t>(floats.size())))];
    const float value = values[drawn.random.below(3)];
    strange.array = array.name;
    strange.element = drawn.random.below(array.count());
    array.as<float>()[static_cast<size_t>(strange.element * bytes_of(array.dtype) / 4)] = value;
    strange.words = array.name + "[" + std::to_string(strange.element) + "] = " + std::to_string(value);
    return strange;
}

// The inputs of a case with other numbers, NaN or infinity from one position of the sequence axis on.
struct Prefix {
    Arrays inputs;
    int64_t length = 0;  // unchanged positions
    std::string words;   // "nan from position 17 on"
};

Prefix with_other_end(RandomCase& drawn) {
    const Family& family = drawn.family;
    Prefix prefix{copied(drawn.inputs), 0, ""};
    prefix.length = 1 + drawn.random.below(drawn.parameters.integer(family.sequence_axis) - 1);
    const int64_t kind = drawn.random.below(3);
    for (Array& array : prefix.inputs) {
        const Dimension positions = dimension_of(family, array, family.sequence_axis);
        if (!positions.there || array.dtype == Dtype::int32) continue;
        const int64_t floats = bytes_of(array.dtype) / 4;
        for (int64_t i = 0; i < array.count() * floats; ++i) {
            float& value = array.as<float>()[static_cast<size_t>(i)];
            if (positions.position_of(i / floats) < prefix.length) continue;
            value = kind == 0 ? 0.5f - value : kind == 1 ? NAN : INFINITY;
        }
    }
    const char* const words[] = {"other numbers", "nan", "infinity"};
    prefix.words = std::string(words[kind]) + " from position " + std::to_string(prefix.length) + " on";
    return prefix;
}

// Returns one sequence of the batch, as a batch of one.
Array sequence_of(const Family& family, const Array& array, int64_t sequence) {
    const Dimension sequences = dimension_of(family, array, batch_axis(family));
    if (!sequences.there) return array;
    Shape shape = array.shape;
    const std::vector<std::string>& names = family.array(array.name)->dimensions;
    shape[static_cast<size_t>(std::find(names.begin(), names.end(), batch_axis(family)) - names.begin())] = 1;
    Array part = Array::uninitialised(array.name, array.dtype, shape);
    const auto size = static_cast<size_t>(bytes_of(array.dtype));
    for (int64_t i = 0, at = 0; i < array.count(); ++i)
        if (sequences.position_of(i) == sequence)
            std::memcpy(part.data.get() + static_cast<size_t>(at++) * size,
                        array.data.get() + static_cast<size_t>(i) * size, size);
    return part;
}

// Gives the elements selected by `is_taken` the values of another array.
void take(Array& to, const Array& from, const std::function<bool(int64_t)>& is_taken) {
    const auto size = static_cast<size_t>(bytes_of(to.dtype));
    for (int64_t i = 0; i < to.count(); ++i)
        if (const size_t at = static_cast<size_t>(i) * size; is_taken(i))
            std::memcpy(to.data.get() + at, from.data.get() + at, size);
}

Arrays run_on(const Chip& chip, const RandomCase& drawn, const Arrays& inputs) {
    return Implementation{drawn.family, drawn.variant, chip.backend}.run(drawn.parameters, inputs);
}

}  // namespace

std::string batch_axis(const Family& family) {
    const auto outermost = [&](const ArraySpec& row) {
        return row.dimensions.empty() ? std::string() : row.dimensions.front();
    };
    const auto output = std::find_if(family.arrays.begin(), family.arrays.end(),
                                     [](const ArraySpec& row) { return row.role == Role::output; });
    if (output == family.arrays.end()) return "";
    const std::string axis = outermost(*output);
    const bool is_axis = axis != family.sequence_axis && family.parameter(axis) &&
                         std::any_of(family.arrays.begin(), family.arrays.end(), [&](const ArraySpec& row) {
                             return row.role != Role::output && outermost(row) == axis;
                         });
    return is_axis ? axis : "";
}

void for_every_family(const std::string& property, const Chip& chip, bool (*concerned)(const Family&),
                      const Accepts& accepts, const std::function<int64_t(RandomCase&)>& check) {
    // On a GPU all properties draw the same settings, so that they use the same compiled kernels.
    const std::string draws = chip.backend == Backend::cuda ? "cuda" : property;
    std::string line = property + " on " + name_of(chip.backend) + ":";
    int families = 0;
    for (const Family* family : all_families()) {
        if (!family->has_kernels() || (concerned && !concerned(*family))) continue;
        int64_t compared = 0, settings = 0;
        std::set<std::string> variants;
        for_random_cases(draws, *family, chip, accepts, [&](RandomCase& drawn) {
            INFO(drawn.words);
            const int64_t numbers = check(drawn);
            if (numbers == 0) return;
            compared += numbers;
            ++settings;
            variants.insert(drawn.variant.name);
        });
        INFO(family->name);
        REQUIRE(compared > 0);
        line += (families++ ? "; " : " ") + family->name + " " + std::to_string(compared) + " numbers in " +
                std::to_string(settings) + " settings of " + std::to_string(variants.size()) + " variants";
    }
    REQUIRE(families > 0);
    std::cout << line << std::endl;
}

int64_t check_right(const Chip& chip, const RandomCase& drawn, const Arrays& inputs) {
    return check_verdicts(judged(drawn.family, drawn.variant.name, drawn.parameters, inputs,
                                 run_on(chip, drawn, inputs), chip.backend));
}

void check_strange_numbers(const Chip& chip) {
    for_every_family("one strange number", chip, nullptr, {}, [&](RandomCase& drawn) {
        const Strange strange = with_strange(drawn);
        if (!has_reference(drawn, strange.inputs)) return int64_t{0};
        INFO(strange.words);
        return check_right(chip, drawn, strange.inputs);
    });
}

void check_separate_sequences(const Chip& chip) {
    const auto check = [&](RandomCase& drawn) {
        const std::string batch = batch_axis(drawn.family);
        const Strange strange = with_strange(drawn, batch);
        const Dimension sequences = dimension_of(drawn.family, *find(drawn.inputs, strange.array), batch);
        if (!has_reference(drawn, strange.inputs) ||
            !keeps_bits(drawn.variant, drawn.parameters, chip.backend))
            return int64_t{0};
        INFO(strange.words);
        const int64_t touched = sequences.position_of(strange.element);
        const Arrays before = run_on(chip, drawn, drawn.inputs), after = run_on(chip, drawn, strange.inputs);
        int64_t compared = 0;
        for (const Array& output : after) {
            const Dimension held = dimension_of(drawn.family, output, batch);
            if (held.there)
                compared += check_same_bits(output, *find(before, output.name),
                                            [&](int64_t i) { return held.position_of(i) != touched; });
        }
        return compared;
    };
    for_every_family("separate sequences", chip, has_sequences, has_several_sequences, check);
}

void check_lone_sequences(const Chip& chip) {
    const auto check = [&](RandomCase& drawn) {
        const std::string batch = batch_axis(drawn.family);
        const int64_t sequence = drawn.random.below(drawn.parameters.integer(batch));
        RandomCase lone = drawn;
        lone.parameters.set(batch, int64_t{1});
        for (Array& array : lone.inputs) array = sequence_of(drawn.family, array, sequence);
        if (!has_reference(lone, lone.inputs)) return int64_t{0};
        INFO("sequence " << sequence);
        const Arrays together = run_on(chip, drawn, drawn.inputs), alone = run_on(chip, lone, lone.inputs);
        int64_t compared = 0;
        for (const Array& output : together)
            if (dimension_of(drawn.family, output, batch).there)
                compared += check_same_bits(sequence_of(drawn.family, output, sequence),
                                            *find(alone, output.name), [](int64_t) { return true; });
        return compared;
    };
    for_every_family("lone sequences", chip, has_sequences, has_several_sequences, check);
}

void check_causal_prefixes(const Chip& chip, bool by_rounding) {
    const auto check = [&](RandomCase& drawn) {
        const Prefix prefix = with_other_end(drawn);
        if (!has_reference(drawn, prefix.inputs)) return int64_t{0};
        INFO(prefix.words);
        Arrays before = run_on(chip, drawn, drawn.inputs);
        const Arrays after = run_on(chip, drawn, prefix.inputs);
        int64_t compared = 0;
        for (Array& output : before) {
            const Dimension positions = dimension_of(drawn.family, output, drawn.family.sequence_axis);
            const auto is_earlier = [&](int64_t i) {
                return positions.there && positions.position_of(i) < prefix.length;
            };
            if (by_rounding)
                take(output, *find(after, output.name), is_earlier);
            else
                compared += check_same_bits(*find(after, output.name), output, is_earlier);
        }
        if (by_rounding)
            compared = check_verdicts(judged(drawn.family, drawn.variant.name, drawn.parameters, drawn.inputs,
                                             before, chip.backend));
        return compared;
    };
    for_every_family("causal prefixes", chip, can_be_causal, is_causal, check);
}

int64_t check_described(const Plan& plan, const Arrays& inputs, const Arrays& outputs) {
    // The number of floats written, by the name of the array: a launch may treat complex numbers as pairs.
    std::map<std::string, int64_t> there;
    const auto floats_of = [](const Array& array) { return array.bytes() / 4; };
    for (const Array& input : inputs) there[input.name] = floats_of(input);
    int64_t arrays = 0;
    for (const Launch& launch : plan.launches) {
        const LaunchInfo& info = *launch.info;
        INFO(info.name);
        CHECK_FALSE(info.name.empty());
        CHECK(schema_facts::is_sentence(info.meaning));
        CHECK_FALSE(info.grid_formula.empty());
        CHECK(info.grid.x >= 1);
        CHECK(info.work.bytes > 0);
        CHECK_FALSE(info.writes.empty());
        for (const Buffer& read : info.reads) {
            INFO("reads " << read.name << " " << to_text(read.shape));
            // The first of many steps starts the array that it passes on.
            const bool begins = &launch == &plan.launches.front() && has(info.writes, read);
            CHECK((begins || there[read.name] >= count_of(read.shape)));
        }
        for (const Buffer& written : info.writes) there[written.name] += count_of(written.shape);
        arrays += static_cast<int64_t>(info.reads.size() + info.writes.size());
    }
    for (const Array& output : outputs) {
        INFO("output " << output.name << " " << to_text(output.shape));
        // An array that is changed in place is restored before every run, and a plan may have no launch that
        // changes it.
        const bool is_restored = plan.reset && there[output.name] == 0;
        const int64_t written = plan.dry ? std::min<int64_t>(floats_of(output), 1) : floats_of(output);
        if (!is_restored) CHECK(there[output.name] >= written);
    }
    return arrays;
}

Arrays without_data(Arrays arrays) {
    for (Array& array : arrays) array.data.reset();
    return arrays;
}

}  // namespace sawtooth
