#include "tests/family_random.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sawtooth {
namespace {

constexpr int64_t longest_sequence = 400;   // several tiles of 64 and chunks of every kind
constexpr int64_t widest_to_run = 64;       // of every other dimension
constexpr double most_operations = 3e6;     // a few milliseconds, also for the reference
constexpr int64_t most_elements = 1 << 20;  // of an array: a few milliseconds to generate
constexpr int most_draws = 20000;           // a refused setting costs a microsecond

bool has_small_arrays(const Family& family, const Parameters& parameters) {
    const Arrays inputs = input_shapes(family, parameters);
    return std::all_of(family.arrays.begin(), family.arrays.end(), [&](const ArraySpec& row) {
        return !row.is_used(parameters) || count_of(row.shape_for(parameters, inputs)) <= most_elements;
    });
}

// Parameters that the variant accepts; absent after too many refused ones.
std::optional<Parameters> accepted_parameters(Random& random, const Family& family, const Variant& variant,
                                              const Chip& chip, const Accepts& accepts) {
    for (int draw = 0; draw < most_draws; ++draw) {
        Parameters parameters = random_parameters(random, family, chip.backend, widest_to_run);
        if (family.check && family.check(parameters)) continue;
        if (accepts && !accepts(family, variant, parameters)) continue;
        if (variant.refusal(parameters, chip)) continue;
        if (family.work(parameters).operations > most_operations) continue;
        if (has_small_arrays(family, parameters)) return parameters;
    }
    return {};
}

// A given state is small, so that it seldom grows beyond f32.
void shrink_states(const Family& family, Arrays& inputs) {
    for (Array& array : inputs)
        if (family.array(array.name)->role == Role::optional && array.dtype == Dtype::f32)
            for (float& value : array.as<float>()) value *= 0.125f;
}

}  // namespace

int64_t random_integer(Random& random, int64_t least, int64_t most) {
    const auto spread = static_cast<double>(most - least + 2);
    int64_t value = least - 1 + static_cast<int64_t>(std::pow(spread, random.uniform()));
    const int64_t kind = below(random, 8);
    if (kind == 0) value = least;
    if (kind <= 2 && kind > 0) {
        const auto powers = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(most)));
        const int64_t power = int64_t{1} << below(random, powers);
        value = power + below(random, 3) - 1;
    }
    return std::clamp(value, least, most);
}

Value random_value(Random& random, const Parameter& row, int64_t most) {
    if (row.type == Type::choice)
        return row.choices[static_cast<size_t>(below(random, static_cast<int64_t>(row.choices.size())))];
    if (row.type == Type::boolean) return below(random, 2) == 1;
    if (!row.word.empty() && below(random, 2) == 0) return row.word;
    if (row.type == Type::real) {
        // Magnitudes from a thousandth of the range up.
        const double share = std::pow(2.0, -10 * random.uniform());
        return below(random, 8) == 0 ? row.minimum : row.minimum + share * (row.maximum - row.minimum);
    }
    const auto least = static_cast<int64_t>(row.minimum);
    most = std::min(most, static_cast<int64_t>(row.maximum));
    if (row.type == Type::integer) return random_integer(random, least, most);
    std::vector<int64_t> list;
    for (int64_t left = 1 + below(random, 3); left > 0; --left)
        list.push_back(random_integer(random, least, most));
    return list;
}

Parameters random_parameters(Random& random, const Family& family, Backend backend, int64_t widest) {
    Settings settings;
    for (const Parameter& row : family.parameters) {
        if (row.renews == Renews::figures) continue;
        const bool is_width = row.group == Group::shape && row.name != family.sequence_axis;
        settings.emplace_back(row.name, random_value(random, row, is_width ? widest : longest_sequence));
    }
    return settled(family, settings, {}, backend);
}

std::string words_of(const Family& family, const Parameters& parameters) {
    std::string words;
    for (const Parameter& row : family.parameters)
        if (parameters.at(row.name) != row.initial)
            words += (words.empty() ? "" : " ") + row.name + "=" + to_text(parameters.at(row.name));
    return words;
}

bool has_reference(const RandomCase& drawn, const Arrays& inputs) {
    return static_cast<bool>(drawn.family.reference(drawn.parameters, inputs, {}));
}

void for_random_cases(const std::string& draws, const Family& family, const Chip& chip,
                      const Accepts& accepts, const std::function<void(RandomCase&)>& each) {
    const auto seeds = static_cast<int>(random_seeds().size());
    // Compiling a setting for a GPU takes seconds, so that seeds share the settings there.
    const int count = random_settings() * (chip.backend == Backend::cpu ? seeds : 1);
    for (const Variant& variant : family.variants) {
        if (!variant.runs_on(chip.backend)) continue;
        for (int number = 0; number < count; ++number) {
            const uint64_t seed = random_seeds()[static_cast<size_t>(number % seeds)];
            const std::string who = family.name + " " + variant.name;
            Random random(seed, draws + " " + who + " " + std::to_string(number / seeds));
            auto parameters = accepted_parameters(random, family, variant, chip, accepts);
            if (!parameters) break;
            const auto input_seed = static_cast<uint64_t>(below(random, 1000));
            const bool with_optional = below(random, 2) == 1;
            Arrays inputs = generated_inputs(family, *parameters, with_optional, input_seed);
            shrink_states(family, inputs);
            RandomCase drawn{family, variant, std::move(*parameters), std::move(inputs), "", random};
            if (!has_reference(drawn, drawn.inputs)) continue;
            drawn.words = who + ", SAWTOOTH_RANDOM_SEED=" + std::to_string(seed) + " (inputs " +
                          std::to_string(input_seed) + (with_optional ? ", optional ones too" : "") +
                          "): " + words_of(family, drawn.parameters);
            each(drawn);
        }
    }
}

}  // namespace sawtooth
