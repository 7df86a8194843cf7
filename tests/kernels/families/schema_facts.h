#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/families.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_family.h"

namespace sawtooth::schema_facts {

// Helpers for tests of schemas: settled parameters, shapes, and reasons of refusals.

inline const Chip h200{Backend::cuda, "NVIDIA H200", "sm_90a", 132, 232448, int64_t{141} << 30};
inline const Chip rtx4090{Backend::cuda, "NVIDIA GeForce RTX 4090", "sm_89", 128, 101376, int64_t{24} << 30};

inline const Family& family_named(std::string_view name) {
    const Family* family = find_family(name);
    REQUIRE(family);
    return *family;
}

using sawtooth::settled;
inline Parameters settled(std::string_view family, const Settings& settings = {}, const Arrays& given = {},
                          Backend backend = Backend::cpu) {
    return sawtooth::settled(family_named(family), settings, given, backend);
}

inline Shape shape_of(std::string_view family, std::string_view array, const Settings& settings,
                      const Arrays& inputs = {}) {
    const ArraySpec* spec = family_named(family).array(array);
    REQUIRE(spec);
    const Parameters parameters = settled(family, settings, inputs);
    CHECK(spec->is_used(parameters));
    return spec->shape_for(parameters, inputs);
}

inline bool uses(std::string_view family, std::string_view array, const Settings& settings,
                 const Arrays& given = {}) {
    const ArraySpec* spec = family_named(family).array(array);
    REQUIRE(spec);
    return spec->is_used(settled(family, settings, given));
}

inline Array numbers(std::string name, const std::vector<int32_t>& values, Shape shape = {}) {
    if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
    Array array = Array::zeros(std::move(name), Dtype::int32, std::move(shape));
    std::copy(values.begin(), values.end(), array.as<int32_t>().begin());
    return array;
}

inline Array floats(std::string name, Shape shape) {
    return Array::zeros(std::move(name), Dtype::f32, std::move(shape));
}

// Returns the sentence of a refusal, which must name its argument and say what is accepted.
inline std::string sentence_of(const std::optional<Refusal>& refusal) {
    REQUIRE(refusal);
    CHECK_FALSE(refusal->argument.empty());
    const std::string sentence = refusal->sentence();
    CHECK(contains(sentence, refusal->argument));
    CHECK((contains(sentence, "must ") || contains(sentence, "needs ") ||
           contains(sentence, "out of range (") || contains(sentence, "not one of ")));
    return sentence;
}

inline std::string family_refusal(std::string_view family, const Settings& settings,
                                  const Arrays& given = {}) {
    return sentence_of(family_named(family).check(settled(family, settings, given)));
}

inline std::string input_refusal(std::string_view family, const Settings& settings, const Arrays& given) {
    return sentence_of(family_named(family).check_inputs(settled(family, settings, given), given));
}

// Returns why a variant cannot run the settings; "" if it can.
inline std::string variant_refusal(std::string_view family, std::string_view variant,
                                   const Settings& settings, const Chip& chip) {
    const Variant* row = family_named(family).variant(variant);
    REQUIRE(row);
    return row->refusal(settled(family, settings, {}, chip.backend), chip).value_or("");
}

inline bool is_sentence(const std::string& text) { return text.size() > 1 && text.back() == '.'; }

}  // namespace sawtooth::schema_facts
