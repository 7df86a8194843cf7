#include "kernels/core/grid.h"

#include <utility>

#include "kernels/core/integers.h"

namespace sawtooth {

Side side(std::string name, int64_t count) { return {count, std::move(name)}; }

Side pieces(const std::string& name, int64_t count, const std::string& piece_name, int64_t piece) {
    return {ceil_divide(count, piece), "ceil(" + name + " / " + piece_name + ")"};
}

Side pieces(const std::string& name, int64_t count, int64_t piece) {
    return pieces(name, count, std::to_string(piece), piece);
}

Side operator*(const Side& left, const Side& right) {
    return {left.count * right.count, left.formula + " * " + right.formula};
}

Side operator+(const Side& left, const Side& right) {
    return {left.count + right.count, left.formula + " + " + right.formula};
}

std::string Grid::formula() const {
    std::string text = x.formula;
    if (y.formula != "1" || z.formula != "1") text += ", " + y.formula;
    if (z.formula != "1") text += ", " + z.formula;
    return text;
}

}  // namespace sawtooth
