#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/core/array.h"

namespace sawtooth {

// How the floats of an array are stored inside a plan. complex64 and int32 arrays are never converted, which
// counts as f32 here.
enum class Storage { f32, f16, bf16 };

Storage storage_named(std::string_view dtype);   // "f32", "f16", "bf16"
const char* name_of(Storage storage);            // the same names, as in kernels/cuda/device/words.cuh
int64_t bytes_of(Storage storage);               // bytes of one float
double unit_of(Storage storage);                 // its largest rounding error, relative to the value
double least_of(Storage storage);                // its smallest number with all digits
double largest_of(Storage storage);              // its largest number
int64_t bytes_of(Storage storage, Dtype dtype);  // bytes of one element

}  // namespace sawtooth
