#include "app/engine/check/draw.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/core/integers.h"

namespace sawtooth {
namespace {

constexpr int most_draws = 20000;           // a refused setting costs a microsecond
constexpr int64_t most_elements = 1 << 21;  // in an array: generating them takes a few milliseconds
constexpr int64_t few_tiles = 4, many_tiles = 40;
constexpr int64_t few = 3;  // the size of a dimension beside a long one

double random_real(Random& random, const Parameter& row) {
    // Numbers near the default neither vanish nor overflow.
    const double* const usual = std::get_if<double>(&row.initial);
    if (usual && *usual != 0 && random.below(2) == 0)
        return std::clamp(*usual * std::pow(2.0, 4 * random.uniform() - 2), row.minimum, row.maximum);
    // Magnitudes go from a thousandth of the range upwards.
    const double share = std::pow(2.0, -10 * random.uniform());
    return random.below(8) == 0 ? row.minimum : row.minimum + share * (row.maximum - row.minimum);
}

Value random_value(Random& random, const Parameter& row, int64_t most) {
    // Choices of an integer are values with kernels of their own, drawn as often as all others.
    if (row.type == Type::choice || (!row.choices.empty() && random.below(2) == 0))
        return row.choices[static_cast<size_t>(random.below(static_cast<int64_t>(row.choices.size())))];
    if (row.type == Type::boolean) return random.below(2) == 1;
    if (!row.word.empty() && random.below(2) == 0) return row.word;
    if (row.type == Type::real) return random_real(random, row);
    const auto least = static_cast<int64_t>(row.minimum);
    most = std::min(most, static_cast<int64_t>(row.maximum));
    if (row.type == Type::integer) return random_integer(random, least, most);
    std::vector<int64_t> list;
    for (int64_t left = 1 + random.below(3); left > 0; --left)
        list.push_back(random_integer(random, least, most));
    return list;
}

// An integer equal to one that is already set, to twice or half of it, or next to one of these, where
// boundaries meet.
std::optional<int64_t> related_integer(Random& random, const Parameters& set) {
    std::vector<int64_t> known;
    for (const auto& [name, value] : set.values)
        if (const auto* integer = std::get_if<int64_t>(&value)) known.push_back(*integer);
    if (known.empty()) return {};
    int64_t value = known[static_cast<size_t>(random.below(static_cast<int64_t>(known.size())))];
    const int64_t kind = random.below(4);
    if (kind == 0) value *= 2;
    if (kind == 1) value /= 2;
    return value + random.below(3) - 1;
}

// Sets `values` to the defaults, changed by a setting, with automatic values settled. Thousands of draws use
// the same defaults and the memory of the same `values`.
void settle_over(const Parameters& defaults, const Family& family, const Parameters& set, Backend backend,
                 Parameters& values) {
    values = defaults;
    auto row = values.values.begin();  // both are in the order of names
    for (const auto& [name, value] : set.values) {
        while (row != values.values.end() && row->first < name) ++row;
        row = values.values.insert_or_assign(row, name, value);
    }
    if (family.settle) family.settle(values, {}, backend);
}

// A length of some whole tiles, one more or one less than that, or part of a tile.
int64_t random_length(Random& random, int64_t tile) {
    const int64_t whole = tile * (1 + random.below(random.below(4) == 0 ? many_tiles : few_tiles));
    const int64_t kind = random.below(4);
    return std::max<int64_t>(1, kind < 3 ? whole + kind - 1 : whole - random.below(tile));
}

bool has_small_arrays(const Family& family, const Parameters& values) {
    Arrays inputs;
    for (const ArraySpec& row : family.arrays) {
        if (!row.is_used(values)) continue;
        const Shape shape = row.shape_for(values, inputs);
        int64_t count = 1;
        for (const int64_t extent : shape) count = saturating_multiply(count, extent);
        if (count > most_elements) return false;
        if (row.role != Role::output) inputs.push_back({row.name, row.dtype_with(values), shape, nullptr});
    }
    return true;
}

// Sets all parameters but those that are kept.
void set_all(Random& random, const Family& family, const DrawLimits& limits, const Parameters& kept,
             Parameters& set) {
    set = kept;
    const bool usual_reals = random.below(2) == 0;
    for (const Parameter& row : family.parameters) {
        if (kept.has(row.name) || row.renews == Renews::figures) continue;
        if (usual_reals && row.type == Type::real) continue;
        const bool width = is_width(family, row);
        Value value = random_value(random, row, width ? limits.widest : limits.longest);
        if (!width && row.type == Type::integer && random.below(4) == 0)
            if (const auto related = related_integer(random, set); related && !row.check(*related))
                value = *related;
        set.set(row.name, std::move(value));
    }
}

void set_lengths_in_tiles(Random& random, const Family& family, const Variant& variant, const Chip& chip,
                          const Parameters& kept, const Parameters& defaults, Parameters& set,
                          Parameters& values) {
    if (random.below(4) == 0) return;  // any length
    settle_over(defaults, family, set, chip.backend, values);
    const auto tilings = tilings_of(family, variant, values, chip.backend);
    if (tilings.empty()) return;
    const Tiling& tiling = tilings[static_cast<size_t>(random.below(static_cast<int64_t>(tilings.size())))];
    const Parameter& row = *family.parameter(tiling.dimension);
    const int64_t length = random_length(random, tiling.size);
    if (kept.has(row.name) || row.check(length)) return;
    set.set(row.name, length);
    // Most other dimensions become small; otherwise a long setting would be refused for its size.
    if (length <= few_tiles || random.below(4) == 0) return;
    for (const Parameter& other : family.parameters) {
        const bool is_free = is_width(family, other) && other.name != row.name && !kept.has(other.name);
        if (!is_free || other.type != Type::integer || random.below(3) == 0) continue;
        const auto least = static_cast<int64_t>(other.minimum);
        set.set(other.name, random_integer(random, least, std::max(least, few)));
    }
}

}  // namespace

bool is_width(const Family& family, const Parameter& row) {
    return row.group == Group::shape && row.name != family.sequence_axis;
}

int64_t random_integer(Random& random, int64_t least, int64_t most) {
    const auto spread = static_cast<double>(most - least + 2);
    int64_t value = least - 1 + static_cast<int64_t>(std::pow(spread, random.uniform()));
    const int64_t kind = random.below(8);
    if (kind == 0) value = least;
    if (kind <= 2 && kind > 0) {
        const auto powers = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(most)));
        const int64_t power = int64_t{1} << random.below(powers);
        value = power + random.below(3) - 1;
    }
    return std::clamp(value, least, most);
}

Parameters settled_values(const Family& family, const Parameters& set, Backend backend) {
    Parameters values;
    settle_over(family.defaults(), family, set, backend, values);
    return values;
}

std::vector<Tiling> tilings_of(const Family& family, const Variant& variant, const Parameters& values,
                               Backend backend) {
    std::vector<Tiling> all;
    if (!family.tilings) return all;
    for (const std::string& output : variant.outputs)
        for (Tiling& tiling : family.tilings(variant, output, values, backend)) {
            const Parameter* const row = family.parameter(tiling.dimension);
            if (row && row->type == Type::integer && tiling.size > 0) all.push_back(std::move(tiling));
        }
    return all;
}

std::optional<Parameters> draw_setting(Random& random, const Family& family, const Variant& variant,
                                       const Chip& chip, const DrawLimits& limits, const Parameters& kept) {
    const Parameters defaults = family.defaults();
    Parameters set, values;
    for (int draw = 0; draw < most_draws; ++draw) {
        set_all(random, family, limits, kept, set);
        set_lengths_in_tiles(random, family, variant, chip, kept, defaults, set, values);
        settle_over(defaults, family, set, chip.backend, values);
        if (family.check && family.check(values)) continue;
        if (variant.refusal(values, chip)) continue;
        if (family.work(values).operations > limits.operations) continue;
        if (variant.extra_steps && variant.extra_steps(values) > limits.extra_steps) continue;
        if (!has_small_arrays(family, values)) continue;
        std::erase_if(set.values, [&](const auto& setting) {
            return setting.second == family.parameter(setting.first)->initial;
        });
        return set;
    }
    return {};
}

}  // namespace sawtooth
