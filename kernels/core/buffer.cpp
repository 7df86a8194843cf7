#include "kernels/core/buffer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sawtooth {

bool has(const Buffers& buffers, const Buffer& buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

double bytes_of(const Buffers& buffers) {
    double bytes = 0;
    for (const Buffer& buffer : buffers) bytes += buffer.bytes();
    return bytes;
}

Buffers operator+(Buffers left, const Buffers& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

void Buffer::refuse(size_t bytes) const {
    std::fprintf(stderr, "sawtooth: array %s has elements of %lld bytes; a kernel takes %zu\n", name.c_str(),
                 static_cast<long long>(element_bytes), bytes);
    std::abort();
}

}  // namespace sawtooth
