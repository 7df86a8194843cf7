// The story of attention: its first figures and texts.

#include "kernels/attention/figures/common.h"
#include "kernels/attention/parts.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::attention {
namespace {

bool is_plain_attention(const Result& result) {
    const TileCounts counts = count_tiles(result.parameters);
    return counts.far == 0 && counts.mixed == 0 && is_right(result, "streaming");
}

bool small_tiles_save_more(const Result& result) {
    Parameters large = result.parameters;
    large.set("BLOCK_M", int64_t{128});
    large.set("BLOCK_N", int64_t{128});
    return count_tiles(result.parameters).saved() > 1.2 * count_tiles(large).saved() &&
           is_right(result, "streaming");
}

bool reads_the_whole_cache(const Result& result) {
    const TileCounts counts = count_tiles(result.parameters);
    return counts.skipped == 0 && counts.computed() == Drawn(result.parameters).key_tiles() &&
           is_right(result, "streaming");
}

bool nothing_overflows(const Result& result) {
    const VariantResult* const streaming = find(result, "streaming");
    const Array* const lse = streaming ? find(streaming->outputs, "lse") : nullptr;
    if (!lse || !is_right(result, "streaming")) return false;
    const auto values = lse->as<float>();
    return *std::max_element(values.begin(), values.end()) > 128;  // 2^128 is beyond f32
}

}  // namespace

std::vector<StoryRow> story() {
    return {{{"tile-map", "time_by_tiles", "probabilities"}, 220},
            {{"output-o", "error-o", "share-of-peak"}, 180}};
}

About about() {
    return {
        "Each query averages the values v, weighted by the softmax of its scores with the keys. Keys nearer "
        "than the window are scored with rotary positions (q1 k1), all others as if they were one window "
        "away (q2 k2). streaming visits the keys tile by tile and keeps only a running maximum m and sum l "
        "per query. Tiles entirely inside or outside the window need only one of the two encodings. Fused "
        "RoPE Triton Implementation reports 6x over an implementation in three passes on an RTX 4090: "
        "Speed-up of streaming over naive measures it here. With H_kv below H, heads share keys and values "
        "(grouped "
        "queries). "
        "With N_q below N, queries stand at the last positions, and the keys before them are a cache.",
        "s_ij = scale (q1_i . k1_j  if |i - j| < window, else  q2_i . k2_j)\n"
        "o_i = sum_j softmax_j(s_ij) v_j\nlse_i = log2 sum_j exp(s_ij)",
        {{"window 512: plain attention",
          "Tiles: none is far or mixed; streaming never multiplies q2 k2, and dq2 and dk2 are zero.",
          {{"window", int64_t{512}}},
          is_plain_attention},
         {"BLOCK_M = BLOCK_N = 16: tiles follow the edge of the window",
          "Tiles: fewer pairs lie in mixed tiles, which compute both encodings. Times: small tiles read "
          "every key more often.",
          {{"BLOCK_M", int64_t{16}}, {"BLOCK_N", int64_t{16}}},
          small_tiles_save_more},
         {"N_q = 1: decoding with a cache",
          "Tiles: one row of tiles, of which none is skipped. Times: the prologue still rotates all keys.",
          {{"N_q", int64_t{1}}},
          reads_the_whole_cache},
         {"scale = 5: scores of a hundred do not overflow",
          "Running softmax: m follows the largest score, so no exponential exceeds 1. Weights: one key "
          "gets nearly all the weight.",
          {{"scale", 5.0}},
          nothing_overflows}},
    };
}

}  // namespace sawtooth::attention
