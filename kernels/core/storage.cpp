#include "kernels/core/storage.h"

#include <cfloat>

namespace sawtooth {

Storage storage_named(std::string_view dtype) {
    return dtype == "f16" ? Storage::f16 : dtype == "bf16" ? Storage::bf16 : Storage::f32;
}

const char* name_of(Storage storage) {
    return storage == Storage::f16 ? "f16" : storage == Storage::bf16 ? "bf16" : "f32";
}

int64_t bytes_of(Storage storage) { return storage == Storage::f32 ? 4 : 2; }

double unit_of(Storage storage) {
    return storage == Storage::f16 ? 0x1p-11 : storage == Storage::bf16 ? 0x1p-8 : 0x1p-24;
}

double least_of(Storage storage) { return storage == Storage::f16 ? 0x1p-14 : FLT_MIN; }

double largest_of(Storage storage) { return storage == Storage::f16 ? 65504 : FLT_MAX; }

int64_t bytes_of(Storage storage, Dtype dtype) {
    return dtype == Dtype::f32 ? bytes_of(storage) : bytes_of(dtype);
}

}  // namespace sawtooth
