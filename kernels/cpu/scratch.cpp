#include "kernels/cpu/scratch.h"

#include <cstdio>
#include <cstdlib>

namespace sawtooth::cpu {

void Scratch::overflow(int64_t wanted) const {
    std::fprintf(stderr, "a launch takes %lld bytes of scratch and declares %zu\n",
                 static_cast<long long>(wanted), memory_.size());
    std::abort();
}

}  // namespace sawtooth::cpu
