#include "tests/family_compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace sawtooth {
namespace {

// Roundings of f32 beyond those of the perturbed inputs, relative to the norm of a sequence: sums of a few
// hundred terms reach about 1e-6.
constexpr double rounding_f32 = 1e-5;
constexpr double times_moved = 8;

bool is_narrow(const Parameters& parameters, Storage storage) {
    return parameters.has("dtype") && storage_named(parameters.text("dtype")) == storage;
}

double size_of(std::complex<double> value) {
    return std::max(std::abs(value.real()), std::abs(value.imag()));
}

bool is_finite(std::complex<double> value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
}

// Sums of squares over the elements of one sequence.
struct Sums {
    int64_t elements = 0;
    double wanted = 0, off = 0, moved = 0;
};

std::string text_of(const std::string& name, size_t sequence, double off, double allowed, double norm) {
    std::ostringstream text;
    text << name << " of sequence " << sequence << " is off by " << off << ", allowed is " << allowed
         << ", its norm is " << norm;
    return text.str();
}

}  // namespace

Dimension dimension_of(const Family& family, const Array& array, const std::string& dimension) {
    const std::vector<std::string>& names = family.array(array.name)->dimensions;
    Dimension found;
    for (size_t i = 0; i < std::min(names.size(), array.shape.size()); ++i) {
        if (found.there) found.inner *= array.shape[i];
        if (names[i] != dimension || found.there) continue;
        found.size = array.shape[i];
        found.there = true;
    }
    if (!found.there) found.inner = std::max<int64_t>(array.count(), 1);
    return found;
}

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

Arrays perturbed(const Arrays& inputs, double share, uint64_t seed) {
    Arrays changed = copied(inputs);
    for (Array& array : changed) {
        if (array.dtype == Dtype::int32) continue;
        Random random(seed, array.name);
        for (float& value : array.as<float>()) {
            const double change = random.next() & 1 ? share : -share;
            if (std::isfinite(value)) value += static_cast<float>(value * change);
        }
    }
    return changed;
}

namespace {

// The outputs of `inputs`, and the mean distance that several perturbations move them: a single one could
// cancel by chance.
template <class Outputs>
Wanted wanted_of(const Arrays& inputs, double share, Outputs&& outputs) {
    constexpr int draws = 4;
    const Arrays right = copied(outputs(inputs));
    std::vector<Arrays> moved;
    for (uint64_t draw = 1; draw <= draws; ++draw)
        moved.push_back(copied(outputs(perturbed(inputs, share, draw))));
    Wanted wanted{right, {}};
    for (size_t a = 0; a < right.size(); ++a) {
        Array mean = Array::uninitialised(right[a].name, Dtype::complex128, right[a].shape);
        for (int64_t i = 0; i < mean.count(); ++i) {
            const auto value = right[a].value(i);
            double square = 0;
            bool changes_kind = false;
            for (const Arrays& draw : moved) {
                square += std::norm(draw[a].value(i) - value) / draws;
                changes_kind = changes_kind || is_finite(draw[a].value(i)) != is_finite(value);
            }
            const std::complex<double> other_kind = is_finite(value) ? NAN : 0;
            mean.as<std::complex<double>>()[static_cast<size_t>(i)] =
                changes_kind ? other_kind : value + std::sqrt(square);
        }
        wanted.moved.push_back(std::move(mean));
    }
    return wanted;
}

}  // namespace

Wanted wanted_of_reference(const Family& family, const Parameters& parameters, const Arrays& inputs,
                           double share) {
    return wanted_of(inputs, share, [&](const Arrays& of) {
        Arrays all = *family.reference(parameters, of, {});
        if (!family.kernel_reference) return all;
        const Arrays more = *family.kernel_reference(parameters, of, true, {});
        all.insert(all.end(), more.begin(), more.end());
        return all;
    });
}

Wanted wanted_of_cpu(const Family& family, const Variant& variant, const Parameters& parameters,
                     const Arrays& inputs, double share) {
    Parameters in_f32 = parameters;
    if (parameters.has("dtype")) in_f32.set("dtype", "f32");
    return wanted_of(inputs, share,
                     [&](const Arrays& of) { return run(family, variant.name, in_f32, of).outputs; });
}

Tolerance tolerance_of(const Variant& variant, const Parameters& parameters, Backend backend) {
    Tolerance tolerance{1e-7, rounding_f32};
    if (is_narrow(parameters, Storage::f16)) tolerance.outputs += 0x1p-11;
    if (is_narrow(parameters, Storage::bf16)) tolerance.outputs += 0x1p-8;
    if (backend == Backend::cpu) return tolerance;
    // A factor of a tensor-core product keeps 11 or 8 bits. Keys, values, errors, weights and states are
    // rounded to that on the way to an output, some of them twice, and cancelling terms leave the rounding of
    // larger ones: eight roundings.
    constexpr double roundings = 8;
    const char* const given = parameters.has("precision") ? "precision"
                              : variant.rounds_inside     ? "dtype"
                                                          : "";
    if (*given == 0) return tolerance;
    const double unit = parameters.is(given, "bf16") ? 0x1p-8 : parameters.is(given, "f32") ? 0 : 0x1p-11;
    if (unit > 0) return {unit, tolerance.outputs + roundings * unit};
    return tolerance;
}

std::vector<bool> wild_sequences(const Family& family, const Parameters& parameters, const Wanted& wanted) {
    const double most = is_narrow(parameters, Storage::f16) ? 6e4 : 1e18;  // squares must fit in f32 too
    const std::string batch = batch_axis(family);
    std::vector<bool> wild(batch.empty() ? 1 : static_cast<size_t>(parameters.integer(batch)));
    for (size_t a = 0; a < wanted.outputs.size(); ++a) {
        Array array = wanted.outputs[a];
        array.name = array.name.substr(array.name.rfind('/') + 1);
        const Dimension sequences = dimension_of(family, array, batch);
        for (int64_t i = 0; i < array.count(); ++i) {
            const auto value = array.value(i), moved = wanted.moved[a].value(i);
            const bool changes_kind = is_finite(value) != is_finite(moved);
            if (changes_kind || (is_finite(value) && size_of(value) > most))
                wild[static_cast<size_t>(sequences.of(i))] = true;
        }
    }
    return wild;
}

double largest_norm(const Arrays& outputs) {
    double largest = 0;
    for (const Array& output : outputs) {
        double square = 0;
        for (int64_t i = 0; i < output.count(); ++i)
            if (is_finite(output.value(i))) square += std::norm(output.value(i));
        largest = std::max(largest, std::sqrt(square));
    }
    return largest;
}

Comparison compare(const Family& family, const Array& got, const Array& wanted, const Array& moved,
                   const std::vector<bool>& wild, double share, double largest) {
    Comparison result;
    const Dimension sequences = dimension_of(family, got, batch_axis(family));
    // An output without that dimension has terms of all sequences.
    const bool has_wild_terms = !sequences.there && std::find(wild.begin(), wild.end(), true) != wild.end();
    std::vector<Sums> sums(static_cast<size_t>(sequences.size));
    for (int64_t i = 0; i < got.count(); ++i) {
        const auto should = wanted.value(i), is = got.value(i);
        const auto sequence = static_cast<size_t>(sequences.of(i));
        if (sequences.there && wild[sequence]) continue;
        const bool keeps_kind = is_finite(should) == is_finite(moved.value(i));
        if (!is_finite(should)) {
            // Non-finite values must also be reproduced, if every perturbation keeps them.
            if (is_finite(is) && keeps_kind && !has_wild_terms) {
                result.worst = INFINITY;
                result.words = got.name + " is finite at " + std::to_string(i) + ", where it should not be";
            }
            continue;
        }
        if (!keeps_kind) continue;
        Sums& sum = sums[sequence];
        ++sum.elements;
        sum.wanted += std::norm(should);
        sum.off += is_finite(is) ? std::norm(is - should) : INFINITY;
        sum.moved += std::norm(moved.value(i) - should);
    }
    const double least = share >= 0x1p-11 ? 0x1p-24 : 1e-36;  // a subnormal of the storage
    for (size_t sequence = 0; sequence < sums.size(); ++sequence) {
        const Sums& sum = sums[sequence];
        result.elements += sum.elements;
        if (sum.elements == 0) continue;
        const double cancelled = sum.wanted == 0 ? rounding_f32 * largest : 0;
        const double allowed = share * std::sqrt(sum.wanted) + times_moved * std::sqrt(sum.moved) +
                               least * std::sqrt(static_cast<double>(sum.elements)) + cancelled;
        const double of_allowed = std::sqrt(sum.off) / allowed;
        if (of_allowed <= result.worst) continue;
        result.worst = of_allowed;
        result.words = text_of(got.name, sequence, std::sqrt(sum.off), allowed, std::sqrt(sum.wanted));
    }
    return result;
}

}  // namespace sawtooth
