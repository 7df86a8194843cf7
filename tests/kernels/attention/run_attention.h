#pragma once

#include "kernels/attention/family.h"
#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family attention.
namespace sawtooth::attention_facts {

inline Parameters parameters_with(const Settings& settings) { return settled(attention_family(), settings); }

// Finds the kind of a tile by its definition, from the encodings that its allowed pairs use.
inline attention::TileKind kind_by_pairs(const attention::Mask& mask, Range queries, Range keys) {
    using attention::TileKind;
    bool near = false, far = false;
    for (int64_t i = queries.first; i < queries.last; ++i)
        for (int64_t j = keys.first; j < keys.last; ++j)
            if (mask.allows(i, j)) (mask.is_near(i, j) ? near : far) = true;
    return near && far ? TileKind::mixed : near ? TileKind::near : far ? TileKind::far : TileKind::skipped;
}

inline const std::vector<std::string> variants = {"naive", "streaming"};

}  // namespace sawtooth::attention_facts
