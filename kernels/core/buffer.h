#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/core/storage.h"

namespace sawtooth {

// An array in the memory of a plan: kernels take its address, and launches say that they read or write it.
// A family declares each array once, for both backends.
struct Buffer {
    std::string name;  // "": absent
    Shape shape;
    int64_t element_bytes = 4;  // as stored, all planes of a state together
    Storage storage = Storage::f32;
    // The address in the memory of the backend. In a dry plan it is not null either, but must not be read or
    // written.
    void* address = nullptr;

    explicit operator bool() const { return !name.empty(); }
    bool operator==(const Buffer&) const = default;
    double bytes() const { return static_cast<double>(count_of(shape) * element_bytes); }

    // The elements as type T; null if the array is absent. Ends the program if elements have another size.
    template <class T = float>
    T* as() const {
        if (*this && sizeof(T) != static_cast<size_t>(element_bytes)) refuse(sizeof(T));
        return static_cast<T*>(address);
    }

    // The same array with the shape of the part that a launch uses.
    Buffer part(Shape used) const {
        Buffer part = *this;
        part.shape = std::move(used);
        return part;
    }

  private:
    [[noreturn]] void refuse(size_t bytes) const;
};

using Buffers = std::vector<Buffer>;
bool has(const Buffers& buffers, const Buffer& buffer);
double bytes_of(const Buffers& buffers);
Buffers operator+(Buffers left, const Buffers& right);

}  // namespace sawtooth
