#include "kernels/core/some_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sawtooth {

Outcome<Arrays> compute_some_rows(
    const Arrays& inputs, const std::set<std::string>& shared, const Shape& extents, int64_t numbers_a_row,
    const std::function<Outcome<Arrays>(const Arrays& inputs, int64_t rows)>& compute) {
    constexpr int64_t most = 1 << 22;
    const int64_t all = count_of(extents);
    const int64_t count = std::min(all, std::max<int64_t>(most / std::max<int64_t>(numbers_a_row, 1), 2));
    std::shared_ptr<ChosenRows> rows;
    Arrays some = inputs;
    if (count < all) {
        rows = std::make_shared<ChosenRows>(ChosenRows{extents, {}});
        for (int64_t i = 0; i < count; ++i) rows->places.push_back(i * (all - 1) / (count - 1));
        for (Array& input : some)
            if (!shared.contains(input.name)) input = chosen(input, rows);
    }
    auto outputs = compute(some, count);
    if (!outputs) return outputs;
    for (Array& output : *outputs) {
        Shape shape = rows ? Shape{count} : extents;
        shape.insert(shape.end(), output.shape.begin() + std::ssize(extents), output.shape.end());
        output.shape = std::move(shape);
        output.rows = rows;
    }
    return outputs;
}

}  // namespace sawtooth
