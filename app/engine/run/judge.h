#pragma once

#include <optional>
#include <string>

#include "app/engine/run/spread.h"

namespace sawtooth {

// Judges an output element by element. An element is right if it is within a few spreads and the rounding of
// its storage; infinities and NaN must agree. `expected` must have a spread. The steady spread, if there is
// one, decides what is wrong. The verdict is pending if the first draws leave open whether the output can be
// judged.
OutputVerdict judge(const Array& got, const Expected& expected, const Rounding& rounding, Storage storage);

// Whether more draws would not change a verdict. One by the first draws is final if it is right, or if it is
// `cannot_judge`, as more draws only widen the bounds. A wrong one must be far from its bound or from many
// draws, and from the steady spread if sequences may diverge.
bool is_final(const OutputVerdict& verdict, const Expected& expected);

// Judges without a spread: right if every element is within the rounding of its storage, otherwise pending.
OutputVerdict judge_at_once(const Array& got, const Array& want, const Rounding& rounding, Storage storage);

// The verdict `wrong` with the first number whose bits differ from an earlier run; absent if there is none.
std::optional<OutputVerdict> changed_since(const Array& earlier, const Array& later);

// The place of an element in the tiles of the variant: "L = 65: row 1 of tile 4, BL = 16"; "" without tiles.
std::string tile_words(const Family& family, const Variant& variant, const std::string& output,
                       const Parameters& parameters, Backend backend, const Shape& shape, const Shape& index);

}  // namespace sawtooth
