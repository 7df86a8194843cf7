#include "app/engine/check/draw.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/core/integers.h"

namespace sawtooth {
namespace {

constexpr int most_draws = 20000;           // most of them are too large
constexpr int most_repairs = 20;            // of one draw
constexpr int most_kept_refused = 300;      // draws that are refused for what is kept
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

Value random_value(Random& random, const Family& family, const Parameter& row, const DrawLimits& limits) {
    int64_t most = is_width(family, row) ? limits.widest : limits.longest;
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

// Why the family or the variant refuses the values; nullopt if both accept them.
std::optional<std::string> refusal_of(const Family& family, const Variant& variant, const Parameters& values,
                                      const Chip& chip) {
    if (family.check)
        if (const auto refused = family.check(values)) return refused->sentence();
    return variant.refusal(values, chip);
}

// The parameters that a refusal names before its colon: "H = 4, D = 256: …", "needs rule delta".
std::vector<const Parameter*> named_parameters(const Family& family, std::string_view refusal) {
    constexpr std::string_view ends = " ,[";
    std::vector<const Parameter*> named;
    for (std::string_view left = refusal.substr(0, refusal.find(':')); !left.empty();) {
        const size_t end = std::min(left.find_first_of(ends), left.size());
        if (const Parameter* const row = family.parameter(left.substr(0, end))) named.push_back(row);
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return named;
}

enum class Repair { done, given_up, kept_refused };

// A setting that is drawn until everything accepts it.
class Drawing {
  public:
    Drawing(Random& random, const Family& family, const Variant& variant, const Chip& chip,
            const DrawLimits& limits, const Parameters& kept)
        : random_(random),
          family_(family),
          variant_(variant),
          chip_(chip),
          limits_(limits),
          kept_(kept),
          defaults_(family.defaults()) {}

    std::optional<Parameters> result() {
        int kept_refused = 0;
        for (int draw = 0; draw < most_draws && kept_refused < most_kept_refused; ++draw) {
            set_all();
            Repair repaired = repair();
            if (repaired == Repair::done && set_lengths_in_tiles()) repaired = repair();
            kept_refused += repaired == Repair::kept_refused;
            if (repaired != Repair::done || !is_small()) continue;
            std::erase_if(set_.values, [&](const auto& setting) {
                return setting.second == family_.parameter(setting.first)->initial;
            });
            return std::move(set_);
        }
        return {};
    }

  private:
    // Sets all parameters but those that are kept.
    void set_all() {
        set_ = kept_;
        const bool usual_reals = random_.below(2) == 0;
        for (const Parameter& row : family_.parameters) {
            if (kept_.has(row.name) || row.renews == Renews::figures) continue;
            if (usual_reals && row.type == Type::real) continue;
            Value value = random_value(random_, family_, row, limits_);
            if (!is_width(family_, row) && row.type == Type::integer && random_.below(4) == 0)
                if (const auto related = related_integer(random_, set_); related && !row.check(*related))
                    value = *related;
            set_.set(row.name, std::move(value));
        }
    }

    // Draws refused parameters anew, as most settings would otherwise be refused for one of them. In the end
    // the settled values are accepted, or refused only for parameters that are kept.
    Repair repair() {
        for (int repairs = 0; repairs <= most_repairs; ++repairs) {
            settle_over(defaults_, family_, set_, chip_.backend, values_);
            const auto refused = refusal_of(family_, variant_, values_, chip_);
            if (!refused) return Repair::done;
            bool is_free = false;
            for (const Parameter* const row : named_parameters(family_, *refused)) {
                if (kept_.has(row->name)) continue;
                is_free = true;
                set_.set(row->name, random_value(random_, family_, *row, limits_));
            }
            if (!is_free) return Repair::kept_refused;
        }
        return Repair::given_up;
    }

    // Often sets a length by the tiles of the settled values. Returns whether it did.
    bool set_lengths_in_tiles() {
        if (random_.below(4) == 0) return false;  // any length
        const auto tilings = tilings_of(family_, variant_, values_, chip_.backend);
        if (tilings.empty()) return false;
        const auto which = random_.below(static_cast<int64_t>(tilings.size()));
        const Tiling& tiling = tilings[static_cast<size_t>(which)];
        const Parameter& row = *family_.parameter(tiling.dimension);
        const int64_t length = random_length(random_, tiling.size);
        if (kept_.has(row.name) || row.check(length)) return false;
        set_.set(row.name, length);
        // Most other dimensions become small; otherwise a long setting would be refused for its size.
        if (length <= few_tiles || random_.below(4) == 0) return true;
        for (const Parameter& other : family_.parameters) {
            const bool is_free = is_width(family_, other) && other.name != row.name && !kept_.has(other.name);
            if (!is_free || other.type != Type::integer || random_.below(3) == 0) continue;
            const auto least = static_cast<int64_t>(other.minimum);
            set_.set(other.name, random_integer(random_, least, std::max(least, few)));
        }
        return true;
    }

    bool is_small() const {
        return family_.work(values_, {}).operations <= limits_.operations &&
               !(variant_.extra_steps && variant_.extra_steps(values_) > limits_.extra_steps) &&
               has_small_arrays(family_, values_);
    }

    Random& random_;
    const Family& family_;
    const Variant& variant_;
    const Chip& chip_;
    const DrawLimits& limits_;
    const Parameters& kept_;
    const Parameters defaults_;
    Parameters set_, values_;  // values: the defaults, changed by `set` and settled
};

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
    return Drawing(random, family, variant, chip, limits, kept).result();
}

}  // namespace sawtooth
