#include "kernels/btp/figures/common.h"

#include <fmt/format.h>

#include <cmath>

namespace sawtooth::btp {

Drawn::Drawn(const Parameters& p)
    : Sizes(p),
      order(order_of(p)),
      batch(std::min(p.integer("drawn_batch"), p.integer("B") - 1)),
      head(std::min(p.integer("drawn_head"), p.integer("H") - 1)),
      channel(std::min(p.integer("drawn_channel"), width - 1)),
      head_index(batch * p.integer("H") + head),
      block_index(std::min(p.integer("drawn_block"), blocks() - 1)) {}

std::span<const float> Drawn::gates(const Result& result) const {
    return find(result.inputs, "a")
        ->as<float>()
        .subspan(static_cast<size_t>(gate_row(head_index) * length), static_cast<size_t>(length));
}

std::span<const float> Drawn::gates_of_block(const Result& result) const {
    const Range at = block_positions();
    return gates(result).subspan(static_cast<size_t>(at.first), static_cast<size_t>(at.count()));
}

std::span<const float> Drawn::inputs(const Result& result, int64_t wanted_channel) const {
    const int64_t row = head_index * width + wanted_channel;
    return find(result.inputs, "u")
        ->as<float>()
        .subspan(static_cast<size_t>(row * length), static_cast<size_t>(length));
}

std::vector<float> Drawn::first_carries(const Result& result) const {
    std::vector<float> carries(static_cast<size_t>(width));
    if (const Array* const carry0 = find(result.inputs, "carry0"))
        std::copy_n(carry0->as<float>().begin() + head_index * width, width, carries.begin());
    return carries;
}

std::string Drawn::words() const { return fmt::format("sequence {}, head {}", batch, head); }

std::string Drawn::words_of_block() const {
    const Range at = block_positions();
    return fmt::format("positions {} to {}", at.first, at.last - 1);
}

std::vector<int64_t> compared_lengths(const Sizes& sizes) {
    std::vector<int64_t> lengths(lengths_on_tensor_cores.begin(), lengths_on_tensor_cores.end());
    if (!is_on_tensor_cores(sizes.block)) lengths.push_back(sizes.block);
    std::ranges::sort(lengths);
    return lengths;
}

double median_gate(std::span<const float> gates) {
    constexpr size_t most = size_t{1} << 16;
    const auto some = gates.first(std::min(most, gates.size()));
    std::vector<float> sorted(some.begin(), some.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return double{*middle};
}

void add_borders(Figure& figure, const Sizes& sizes, const View& view) {
    add_steps(figure, sizes.length, sizes.block, "start of a block", view);
}

}  // namespace sawtooth::btp
