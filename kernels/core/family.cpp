#include "kernels/core/family.h"

#include <algorithm>

namespace sawtooth {
namespace {

template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
    return found == rows.end() ? nullptr : &*found;
}

// Returns whether the output needs the backward pass.
bool is_gradient(const ArraySpec& output, const Parameters& parameters) {
    Parameters forward = parameters;
    forward.set("backward", false);
    return output.is_used(parameters) && !output.is_used(forward);
}

}  // namespace

Shape ArraySpec::shape_for(const Parameters& parameters, const Arrays& inputs) const {
    if (shape) return shape(parameters, inputs);
    Shape extents;
    for (const std::string& dimension : dimensions) extents.push_back(parameters.integer(dimension));
    return extents;
}

Arrays input_shapes(const Family& family, const Parameters& parameters, bool with_optional) {
    Arrays inputs;
    for (const ArraySpec& row : family.arrays) {
        const bool given = row.role != Role::output && (row.role != Role::optional || with_optional);
        if (given && row.is_used(parameters))
            inputs.push_back(
                {row.name, row.dtype_with(parameters), row.shape_for(parameters, inputs), nullptr});
    }
    return inputs;
}

Outcome<Plan> make_plan(const PlanRequest& request) {
    return request.device ? request.variant.plan_cuda(request) : request.variant.plan_cpu(request);
}

bool Family::has_kernels() const {
    return std::any_of(variants.begin(), variants.end(),
                       [](const Variant& variant) { return variant.plan_cpu || variant.plan_cuda; });
}

const Parameter* Family::parameter(std::string_view name) const { return find_row(parameters, name); }
const ArraySpec* Family::array(std::string_view name) const { return find_row(arrays, name); }
const Variant* Family::variant(std::string_view name) const { return find_row(variants, name); }

Parameters Family::defaults() const {
    Parameters all;
    for (const Parameter& row : parameters) all.set(row.name, row.initial);
    return all;
}

Parameters Family::acting(const Parameters& set, Backend backend) const {
    Parameters used = set;
    for (const Parameter& row : parameters)
        if (!row.why_unused(set, backend).empty()) used.set(row.name, row.initial);
    Parameters acting = used;
    for (const Parameter& row : parameters) {
        if (!row.end) continue;
        const auto* const number = std::get_if<int64_t>(&used.at(row.name));
        const auto last = static_cast<int64_t>(row.last(used));
        if (number && *number > last) acting.set(row.name, last);
    }
    return acting;
}

Rounding rounding_to(Storage storage) {
    if (storage == Storage::f32) return {};
    return {.narrow = unit_of(storage),
            .stored = unit_of(storage),
            .largest = largest_of(storage),
            .finest = unit_of(storage) * least_of(storage)};
}

Rounding rounding_to_dtype(const Variant& variant, const Parameters& parameters) {
    if (!variant.rounds_inside || !parameters.has("dtype")) return {};
    return rounding_to(storage_named(parameters.text("dtype")));
}

Rounding rounding_of(const Family& family, const Variant& variant, const Parameters& parameters,
                     Backend backend) {
    if (family.rounding) return family.rounding(variant, parameters, backend);
    return backend == Backend::cuda ? rounding_to_dtype(variant, parameters) : Rounding{};
}

Storage storage_of(const ArraySpec& output, const Parameters& parameters) {
    if (!output.rounded || !parameters.has("dtype")) return Storage::f32;
    const bool has_own = parameters.has("out_dtype") && !is_gradient(output, parameters);
    return storage_named(parameters.text(has_own ? "out_dtype" : "dtype"));
}

}  // namespace sawtooth
