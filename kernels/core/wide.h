#pragma once

// Marks a function of a reference to be compiled for AVX2 too; at run time the processor decides which one
// runs. Vectors of four doubles take half the time and give the same bits. clang 14, whose clang-tidy reads
// the code, cannot do this with templates.
#if defined(__x86_64__) && !defined(__clang__)
#define SAWTOOTH_WIDE [[gnu::target_clones("avx2", "default")]]
#else
#define SAWTOOTH_WIDE
#endif
