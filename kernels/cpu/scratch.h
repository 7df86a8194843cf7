#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/core/integers.h"

namespace sawtooth::cpu {

// The memory of a worker during one item, uninitialised and free again when the item ends. A kernel declares
// what it takes as a struct of pointers whose constructor takes them from a Scratch; the same constructor
// also counts the bytes for the launch:
//
//     struct Rooms {
//         float* row;
//         Rooms(cpu::Scratch& scratch, const Job& job) : row(scratch.take<float>(job.width)) {}
//     };
//     builder.launch(with_scratch(info, cpu::scratch_bytes<Rooms>(job)), items, work);
//     in work: const auto rooms = cpu::take_rooms<Rooms>(item.scratch, job);
class Scratch {
  public:
    Scratch() = default;  // only counts; the memory that it gives must not be read or written
    explicit Scratch(std::span<std::byte> memory) : memory_(memory), counts_(false) {}

    // Takes `count` numbers, at the beginning of a cache line. Ends the program if the launch declared fewer
    // bytes.
    template <class T>
    T* take(int64_t count) {
        constexpr int64_t line = 64, gap = 9 * line;  // as in Arena
        const int64_t begin = used_, bytes = saturating_multiply(count, static_cast<int64_t>(sizeof(T)));
        used_ = saturating_add(used_, saturating_add(bytes, gap + line - 1) / line * line);
        if (counts_) return nullptr;
        if (used_ > static_cast<int64_t>(memory_.size())) overflow(used_);
        return reinterpret_cast<T*>(memory_.data() + begin);
    }
    int64_t used() const { return used_; }

  private:
    [[noreturn]] void overflow(int64_t wanted) const;

    std::span<std::byte> memory_;
    int64_t used_ = 0;
    bool counts_ = true;
};

template <class Rooms, class... Sizes>
Rooms take_rooms(Scratch scratch, const Sizes&... sizes) {
    return Rooms(scratch, sizes...);
}

template <class Rooms, class... Sizes>
int64_t scratch_bytes(const Sizes&... sizes) {
    Scratch counting;
    static_cast<void>(Rooms(counting, sizes...));
    return counting.used();
}

}  // namespace sawtooth::cpu
