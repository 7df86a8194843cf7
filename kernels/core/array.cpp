#include "kernels/core/array.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace sawtooth {

int64_t bytes_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::f32:
        case Dtype::int32:
            return 4;
        case Dtype::f64:
        case Dtype::complex64:
            return 8;
        case Dtype::complex128:
            return 16;
    }
    return 0;
}

std::string_view name_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::f32:
            return "f32";
        case Dtype::f64:
            return "f64";
        case Dtype::complex64:
            return "complex64";
        case Dtype::complex128:
            return "complex128";
        case Dtype::int32:
            return "int32";
    }
    return "";
}

int64_t count_of(const Shape& shape) {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
}

std::string to_text(const Shape& shape) {
    std::string text = "[";
    for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

namespace {

std::shared_ptr<std::byte[]> allocate_at(int64_t bytes, int64_t multiple) {
    const auto alignment = static_cast<std::align_val_t>(multiple);
    auto* memory = static_cast<std::byte*>(operator new(static_cast<size_t>(bytes) + 64, alignment));
    return {memory, [alignment](std::byte* p) { operator delete(p, alignment); }};
}

}  // namespace

std::shared_ptr<std::byte[]> allocate(int64_t bytes) {
    // A tile whose rows are far apart touches a page per row, and fewer pages if they are huge.
    return bytes >= 2 * huge_page_bytes ? allocate_huge(bytes) : allocate_at(bytes, 64);
}

std::shared_ptr<std::byte[]> allocate_huge(int64_t bytes) {
    auto memory = allocate_at(bytes, huge_page_bytes);
    madvise(memory.get(), static_cast<size_t>(bytes), MADV_HUGEPAGE);
    return memory;
}

Array Array::uninitialised(std::string name, Dtype dtype, Shape shape) {
    Array array{std::move(name), dtype, std::move(shape), nullptr};
    array.data = allocate(array.bytes());
    return array;
}

Array Array::zeros(std::string name, Dtype dtype, Shape shape) {
    Array array = uninitialised(std::move(name), dtype, std::move(shape));
    std::memset(array.data.get(), 0, static_cast<size_t>(array.bytes()));
    return array;
}

Shape Array::whole_shape() const {
    if (!rows) return shape;
    Shape whole = rows->extents;
    whole.insert(whole.end(), shape.begin() + 1, shape.end());
    return whole;
}

std::complex<double> Array::value(int64_t index) const {
    const auto i = static_cast<size_t>(index);
    switch (dtype) {
        case Dtype::f32:
            return as<float>()[i];
        case Dtype::f64:
            return as<double>()[i];
        case Dtype::complex64:
            return as<std::complex<float>>()[i];
        case Dtype::complex128:
            return as<std::complex<double>>()[i];
        case Dtype::int32:
            return as<int32_t>()[i];
    }
    return 0;
}

const Array* find(const Arrays& arrays, std::string_view name) {
    for (const Array& array : arrays)
        if (array.name == name) return &array;
    return nullptr;
}

Array* find(Arrays& arrays, std::string_view name) {
    return const_cast<Array*>(find(static_cast<const Arrays&>(arrays), name));
}

Arrays copied(Arrays arrays) {
    for (Array& array : arrays) {
        const auto data = allocate(array.bytes());
        std::memcpy(data.get(), array.data.get(), static_cast<size_t>(array.bytes()));
        array.data = data;
    }
    return arrays;
}

Array chosen(const Array& whole, std::shared_ptr<const ChosenRows> rows) {
    const auto count = static_cast<int64_t>(rows->places.size());
    Shape shape = {count};
    shape.insert(shape.end(), whole.shape.begin() + std::ssize(rows->extents), whole.shape.end());
    Array some = Array::uninitialised(whole.name, whole.dtype, std::move(shape));
    const int64_t width = count > 0 ? some.bytes() / count : 0;
    for (int64_t row = 0; row < count; ++row)
        std::copy_n(whole.data.get() + rows->places[static_cast<size_t>(row)] * width, width,
                    some.data.get() + row * width);
    some.rows = std::move(rows);
    return some;
}

Array listed(std::string name, const ChosenRows& rows) {
    const auto count = static_cast<int64_t>(rows.places.size());
    const auto dimensions = static_cast<int64_t>(rows.extents.size());
    Array list = Array::uninitialised(std::move(name), Dtype::int32, {count, dimensions});
    for (int64_t r = 0; r < count; ++r) {
        int64_t place = rows.places[static_cast<size_t>(r)];
        for (int64_t d = dimensions - 1; d >= 0; --d) {
            const int64_t extent = rows.extents[static_cast<size_t>(d)];
            list.as<int32_t>()[static_cast<size_t>(r * dimensions + d)] =
                static_cast<int32_t>(place % extent);
            place /= extent;
        }
    }
    return list;
}

}  // namespace sawtooth
