#pragma once

#include <string>
#include <vector>

#include "kernels/core/figure.h"

namespace sawtooth {

using Range = View::Range;

std::string name_of(const Axis& axis);  // "time (us)"
// The name as drawn over that range: "time (ms)". On a logarithmic axis of times every tick has its own unit,
// and the name is "time".
std::string name_of(const Axis& axis, Range range);
std::string name_of(const std::string& label, const std::string& unit);

// The position of a value along an axis of that scale, in arbitrary units, and the value at a position. On a
// logarithmic axis, values that are not positive are far below all others.
double place_of(Scale scale, double value);
double value_at(Scale scale, double place);

struct Tick {
    double value = 0;
    std::string text;
};

// At most `most` ticks in the range: at 1, 2 or 5 times a power of ten. On logarithmic axes they are at
// powers of two or ten, and at round numbers between these if the range has few powers. Numbers from 10,000
// on are written as 10k, 2M.
std::vector<Tick> ticks(Scale scale, Range range, int most);
// The ticks of an axis: whole numbers if the axis has only those, and times in a suitable unit.
std::vector<Tick> ticks(const Axis& axis, Range range, int most);

std::string exact_number(double value);    // reads back as the same double
std::string readout_number(double value);  // seven digits: the precision of f32
// A value under the cursor: "12.34 us", "1.006 ms", "0.1234567", "12 tokens".
std::string readout_words(double value, const std::string& unit);
// A place on an axis, written like a readout, but times keep seven digits.
std::string place_words(double value, const std::string& unit);

// The range with a margin, so that no data lies on the frame. A single value gets a range around it.
Range padded(Scale scale, Range range, double share);
// The range extended to powers of ten or two, or to multiples of a round number that is as long as the range.
Range rounded_outwards(Scale scale, Range range);

}  // namespace sawtooth
