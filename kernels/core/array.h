#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth {

// The element types outside a Plan. Narrow floats exist only inside Plans: an input is rounded to the
// parameter `dtype` and kept as f32, and an output is returned as f32.
enum class Dtype { f32, f64, complex64, complex128, int32 };

int64_t bytes_of(Dtype dtype);
std::string_view name_of(Dtype dtype);

using Shape = std::vector<int64_t>;
int64_t count_of(const Shape& shape);
std::string to_text(const Shape& shape);  // "[2, 4096, 16]"

// Some rows of a larger array. A row is chosen by one index into each of the first dimensions.
struct ChosenRows {
    Shape extents;                // the sizes of those dimensions
    std::vector<int64_t> places;  // ascending, counted over all rows with the last index fastest
};

// A C-contiguous array: the last index runs fastest. Copies share the data; `data` is null if the array
// stayed where it was computed.
struct Array {
    std::string name;
    Dtype dtype = Dtype::f32;
    Shape shape;
    std::shared_ptr<std::byte[]> data;
    // Null if this is the whole array. Otherwise it has only these rows, as [rows, …].
    std::shared_ptr<const ChosenRows> rows = nullptr;

    static Array zeros(std::string name, Dtype dtype, Shape shape);
    static Array uninitialised(std::string name, Dtype dtype, Shape shape);

    int64_t count() const { return count_of(shape); }
    int64_t bytes() const { return count() * bytes_of(dtype); }
    // The shape of the whole array.
    Shape whole_shape() const;

    template <class T>
    std::span<T> as() {
        return {reinterpret_cast<T*>(data.get()), static_cast<size_t>(bytes()) / sizeof(T)};
    }
    template <class T>
    std::span<const T> as() const {
        return {reinterpret_cast<const T*>(data.get()), static_cast<size_t>(bytes()) / sizeof(T)};
    }

    // Element `index` as a complex number, for any dtype.
    std::complex<double> value(int64_t index) const;
};

using Arrays = std::vector<Array>;
const Array* find(const Arrays& arrays, std::string_view name);
Array* find(Arrays& arrays, std::string_view name);
// Copies the values to new memory, because on the CPU later runs of a plan overwrite its outputs.
Arrays copied(Arrays arrays);
// The chosen rows of a whole array, as [rows, …].
Array chosen(const Array& whole, std::shared_ptr<const ChosenRows> rows);
// The indices of every chosen row, as int32 [rows, dimensions].
Array listed(std::string name, const ChosenRows& rows);

// Allocates 64-byte aligned memory without initialising it, so that each page is placed near the thread that
// first writes it.
std::shared_ptr<std::byte[]> allocate(int64_t bytes);
// The same, on huge pages if the system grants them.
constexpr int64_t huge_page_bytes = 2 << 20;
std::shared_ptr<std::byte[]> allocate_huge(int64_t bytes);

}  // namespace sawtooth
