#include "app/engine/run/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>

namespace sawtooth {
namespace {

bool is_finite(double value) { return std::isfinite(value); }
bool is_finite(std::complex<double> value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
}

// Accumulates the differences of an output, element by element.
template <class Wide>
struct Distance {
    double largest = -1, square = 0, reference_square = 0;
    int64_t nonfinite = 0;
    std::optional<int64_t> first_nonfinite = {};

    void count_nonfinite(int64_t i) {
        ++nonfinite;
        if (!first_nonfinite) first_nonfinite = i;
    }
    // Counts an element that has no reference.
    void skip(int64_t i, Wide got) {
        if (!is_finite(got)) count_nonfinite(i);
    }
    // Returns the error of an element; 0 if a value is not finite.
    double compare(int64_t i, Wide got, Wide want) {
        if (!is_finite(got) || !is_finite(want)) {
            count_nonfinite(i);
            return 0;
        }
        const double distance = std::abs(got - want);
        largest = std::max(largest, distance);
        square += distance * distance;
        reference_square += std::norm(want);
        return distance;
    }
};

// The largest error of each position along an axis.
class Positions {
  public:
    Positions(const Shape& shape, int axis) : inner_(std::max<int64_t>(count_of(shape), 1)) {
        if (axis < 0) return;
        errors_.assign(static_cast<size_t>(shape[static_cast<size_t>(axis)]), NAN);
        inner_ = std::max<int64_t>(count_of({shape.begin() + axis + 1, shape.end()}), 1);
    }
    void begin_at(int64_t element) {
        end_ = (element / inner_ + 1) * inner_;
        at_ = errors_.empty() ? 0 : static_cast<size_t>(element / inner_) % errors_.size();
    }
    int64_t end() const { return end_; }  // the end of the elements of this position
    void add(double error) {              // adds an error and moves to the next position
        end_ += inner_;
        if (errors_.empty()) return;
        float& largest = errors_[at_];
        if (!(largest >= error)) largest = static_cast<float>(error);
        if (++at_ == errors_.size()) at_ = 0;
    }
    std::vector<float> take() { return std::move(errors_); }

  private:
    int64_t inner_, end_ = 0;  // inner: the number of elements from one position to the next
    size_t at_ = 0;
    std::vector<float> errors_;
};

template <class Wide, class Out, class Reference>
OutputError compare_as(const Array& output, const Array& reference, int axis) {
    const auto out = output.as<Out>();
    const auto wanted = reference.as<Reference>();
    const auto got = [&](int64_t i) { return Wide(out[static_cast<size_t>(i)]); };
    Distance<Wide> distance;
    Positions positions(output.shape, axis);
    const int64_t rows = reference.rows ? reference.shape[0] : 1;
    const int64_t width = rows > 0 ? reference.count() / rows : 0;
    int64_t i = 0;
    for (int64_t row = 0, w = 0; row < rows; ++row) {
        const int64_t first = reference.rows ? reference.rows->places[static_cast<size_t>(row)] * width : 0;
        for (; i < first; ++i) distance.skip(i, got(i));
        positions.begin_at(first);
        for (const int64_t end = first + width; i < end;) {
            double largest = 0;
            for (const int64_t last = std::min(positions.end(), end); i < last; ++i, ++w)
                largest =
                    std::max(largest, distance.compare(i, got(i), Wide(wanted[static_cast<size_t>(w)])));
            positions.add(largest);
        }
    }
    for (; i < output.count(); ++i) distance.skip(i, got(i));

    OutputError error;
    error.output = output.name;
    error.nonfinite = distance.nonfinite;
    error.first_nonfinite = distance.first_nonfinite;
    error.by_position = positions.take();
    if (distance.largest >= 0) error.max_abs = distance.largest;
    if (distance.reference_square > 0) error.rel_l2 = std::sqrt(distance.square / distance.reference_square);
    return error;
}

}  // namespace

OutputError compare(const Array& output, const Array& reference, int axis) {
    using Complex = std::complex<double>;
    if (output.dtype == Dtype::complex64)
        return compare_as<Complex, std::complex<float>, Complex>(output, reference, axis);
    if (output.dtype == Dtype::int32) return compare_as<double, int32_t, int32_t>(output, reference, axis);
    return compare_as<double, float, double>(output, reference, axis);
}

int64_t changed_values(const Array& earlier, const Array& later) {
    const auto before = earlier.as<uint32_t>(), after = later.as<uint32_t>();
    return std::inner_product(after.begin(), after.end(), before.begin(), int64_t{0}, std::plus<>{},
                              std::not_equal_to<>{});
}

}  // namespace sawtooth
