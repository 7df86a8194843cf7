#include "tests/kernels/families/family_random.h"

#include "app/engine/check/draw.h"

namespace sawtooth {
namespace {

// Returns random parameters that the variant accepts; absent after too many refused ones.
std::optional<Parameters> accepted_parameters(Random& random, const Family& family, const Variant& variant,
                                              const Chip& chip, const Accepts& accepts) {
    constexpr int most_refused = 200;
    constexpr DrawLimits limits{.extra_steps = 3e7};  // these take a few hundredths of a second
    for (int draw = 0; draw < most_refused; ++draw) {
        const auto set = draw_setting(random, family, variant, chip, limits);
        if (!set) return {};
        Parameters parameters = settled_values(family, *set, chip.backend);
        if (!accepts || accepts(family, variant, parameters)) return parameters;
    }
    return {};
}

// Makes given states small, so that they seldom grow beyond f32.
void shrink_states(const Family& family, Arrays& inputs) {
    for (Array& array : inputs)
        if (family.array(array.name)->role == Role::optional && array.dtype == Dtype::f32)
            for (float& value : array.as<float>()) value *= 0.125f;
}

}  // namespace

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
    // Compiling a setting for a GPU takes seconds, so all seeds use the same settings there.
    const int count = random_settings() * (chip.backend == Backend::cpu ? seeds : 1);
    for (const Variant& variant : family.variants) {
        if (!variant.runs_on(chip.backend)) continue;
        for (int number = 0; number < count; ++number) {
            const uint64_t seed = random_seeds()[static_cast<size_t>(number % seeds)];
            const std::string who = family.name + " " + variant.name;
            Random random(seed, draws + " " + who + " " + std::to_string(number / seeds));
            auto parameters = accepted_parameters(random, family, variant, chip, accepts);
            if (!parameters) break;
            const auto input_seed = static_cast<uint64_t>(random.below(1000));
            const bool with_optional = random.below(2) == 1;
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
