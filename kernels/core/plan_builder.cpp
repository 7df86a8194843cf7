#include "kernels/core/plan_builder.h"

#include <algorithm>

#include "kernels/core/integers.h"
#include "kernels/core/launch.h"

namespace sawtooth {
namespace {

// Returns the arrays without absent ones and each only once: what are two arrays on one backend may be one
// array on the other.
Buffers each_once(const Buffers& uses) {
    Buffers kept;
    for (const Buffer& use : uses)
        if (use && !has(kept, use)) kept.push_back(use);
    return kept;
}

// Returns an address that is aligned for any type but belongs to no memory.
void* dry_address() { return reinterpret_cast<void*>(uintptr_t{4096}); }

}  // namespace

void PlanBuilder::fail(Error error) {
    if (!error_) error_ = std::move(error);
}

bool PlanBuilder::goes_on() {
    if (request_.stop.stop_requested()) fail(Error::cancelled());
    return !error_;
}

void PlanBuilder::count_launches(int64_t count, int64_t bytes_each) {
    plan_.launch_bytes = saturating_add(plan_.launch_bytes, saturating_multiply(count, bytes_each));
}

void* PlanBuilder::take_bytes(int64_t bytes, bool zeroed) {
    if (error_) return nullptr;
    plan_.memory_bytes = saturating_add(plan_.memory_bytes, bytes);
    if (plan_.dry) return dry_address();
    std::shared_ptr<void> memory = allocate(bytes, zeroed);
    void* const address = memory.get();
    if (memory) plan_.memory.push_back(std::move(memory));
    return address;
}

Buffer PlanBuilder::take_array(std::string name, Shape shape, int64_t element_bytes, Storage storage) {
    void* const memory = take_bytes(saturating_multiply(count_of(shape), element_bytes), false);
    return {std::move(name), std::move(shape), element_bytes, storage, memory};
}

Buffer PlanBuilder::take(std::string name, Shape shape, Storage storage) {
    return take_array(std::move(name), std::move(shape), bytes_of(storage), storage);
}

Buffer PlanBuilder::input(std::string_view name, Storage storage) {
    const Array* const array = find(request_.inputs, name);
    if (!array || error_) return {};
    if (array->dtype != Dtype::f32) storage = Storage::f32;
    return {array->name, array->shape, bytes_of(storage, array->dtype), storage,
            const_cast<void*>(load(*array, storage))};  // kernels only read it
}

Buffer PlanBuilder::output(std::string_view name, Storage storage) {
    const Variant& variant = request_.variant;
    const ArraySpec& row = *request_.family.array(name);
    const bool gives =
        std::find(variant.outputs.begin(), variant.outputs.end(), name) != variant.outputs.end();
    if (!gives || !row.is_used(parameters()) || (row.extra && !request_.stores_extras)) return {};
    Array like{
        row.name, row.dtype_with(parameters()), variant.shape_of(row, parameters(), request_.inputs), {}};
    if (like.dtype != Dtype::f32) storage = Storage::f32;
    const int64_t element = bytes_of(storage, like.dtype);
    void* const memory = take_bytes(like.count() * element, false);
    const Buffer output{like.name, like.shape, element, storage, memory};
    if (!plan_.dry && memory) outputs_.push_back({std::move(like), storage, {plan_.memory.back(), memory}});
    return output;
}

int32_t* PlanBuilder::take_faults(int64_t count, std::function<std::string(int64_t, int32_t)> words_of) {
    auto* const numbers = take_zeroed<int32_t>(count);
    if (plan_.dry || !numbers) return numbers;
    const Array like{"faults", Dtype::int32, {count}, {}};
    faults_.push_back({{like, Storage::f32, {plan_.memory.back(), numbers}}, std::move(words_of)});
    return numbers;
}

void PlanBuilder::restore(void* to, const void* from, int64_t bytes) {
    plan_.reset = [before = std::move(plan_.reset), copy = copy(), to, from, bytes](Queue& queue) {
        if (before) before(queue);
        copy(queue, to, from, bytes);
    };
}

LaunchInfo PlanBuilder::on_grid(LaunchInfo info, Extent grid, std::string formula) {
    info.grid = grid;
    info.grid_formula = std::move(formula);
    info.reads = each_once(info.reads);
    info.writes = each_once(info.writes);
    if (info.work.bytes > 0) return info;
    info.work.bytes = bytes_of(info.reads) + bytes_of(info.writes);
    return info;
}

Outcome<Plan> PlanBuilder::finish() {
    Fetch fetch = error_ ? Fetch{} : this->fetch();
    if (error_) return *error_;
    plan_.outputs = [fetch = std::move(fetch), outputs = std::move(outputs_),
                     faults = std::move(faults_)]() -> Outcome<Arrays> {
        for (const Faults& set : faults) {
            const auto array = fetch(set.numbers);
            if (!array) return array.error();
            const auto numbers = array->as<int32_t>();
            for (size_t i = 0; i < numbers.size(); ++i)
                if (numbers[i] != 0) return Error::failure(set.words_of(static_cast<int64_t>(i), numbers[i]));
        }
        Arrays arrays;
        for (const Output& output : outputs) {
            auto array = fetch(output);
            if (!array) return array.error();
            arrays.push_back(std::move(*array));
        }
        return arrays;
    };
    return std::move(plan_);
}

}  // namespace sawtooth
