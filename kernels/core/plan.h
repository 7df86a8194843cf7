#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/core/launch.h"

namespace sawtooth {

// What a variant makes of a Request: memory taken, launches in order. Variants never time themselves.
struct Plan {
    bool dry =
        false;  // only counts bytes: nothing is allocated, pointers are null, launches are never started
    std::vector<std::shared_ptr<std::byte[]>> memory;  // keeps alive what the launches use
    std::vector<std::span<std::byte>> buffers;         // the same in host memory, to flush from the caches
    int64_t memory_bytes = 0;
    std::function<void()> reset;  // untimed, before every repeat: restores what a run destroys; may be empty
    std::vector<Launch> launches;
    std::function<Arrays()> outputs;  // the outputs of the last run, as f32, complex64 or int32

    // Host memory of the plan, uninitialised.
    template <class T>
    T* take(int64_t count) {
        const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
        memory_bytes += bytes;
        if (dry) return nullptr;
        memory.push_back(allocate(bytes));
        buffers.emplace_back(memory.back().get(), static_cast<size_t>(bytes));
        return reinterpret_cast<T*>(memory.back().get());
    }

    // An input that the launches read in place.
    template <class T>
    const T* share(const Array& array) {
        memory_bytes += array.bytes();
        if (dry) return nullptr;
        memory.push_back(array.data);
        buffers.emplace_back(array.data.get(), static_cast<size_t>(array.bytes()));
        return array.as<T>().data();
    }
};

}  // namespace sawtooth
