#pragma once

// Before a function of a reference: compiled for AVX2 too, and the processor chooses. Vectors of four doubles
// take half the time, with the same bits.
#ifdef __x86_64__
#define SAWTOOTH_WIDE [[gnu::target_clones("avx2", "default")]]
#else
#define SAWTOOTH_WIDE
#endif
