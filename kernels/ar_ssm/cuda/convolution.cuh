// The convolution of a tile of positions along the sequence, three taps a channel, zeros beyond both ends. A
// thread owns a slice: `each` neighbouring channels (16 bytes if rows are aligned) of own_rows consecutive
// positions. With 256 threads, 64 positions and 128 channels in bf16:
//
//                 channels 0 … 7   8 … 15   …   120 … 127
//   rows 0 … 3    thread 0         1        …   15
//   rows 4 … 7    thread 16        17       …   31
//   …
//
// A thread goes down its rows and keeps the row before, the row itself and the rows after it in registers; it
// loads own_rows + 2 rows in all. Values 0 1 0 with the taps 2 3 4 become 4 3 2; with the taps mirrored, 2 3
// 4.
//
// Defines: STORAGE, ALIGNED_CHANNELS (rows of x are multiples of 16 bytes), THREADS.
#pragma once

#include "kernels/ar_ssm/cuda/product.cuh"

namespace sawtooth::ar_ssm {

// The number of neighbouring channels of a thread.
constexpr int channels_together = ALIGNED_CHANNELS ? elements_of_16_bytes : 1;

// A tile of positions of one sequence.
struct Positions {
    int64_t sequence, first;  // the number of the sequence, and the first position in it
    int64_t count;            // positions up to the end of the sequence, at most those of a tile
    int64_t token;            // the token of the first position
};
template <int rows>
__device__ Positions positions_of(const Layer& layer, int64_t tile) {
    const int64_t tiles = (layer.length + rows - 1) / rows, sequence = tile / tiles,
                  first = tile % tiles * rows;
    const int64_t left = layer.length - first;
    return {sequence, first, left < rows ? left : rows, sequence * layer.length + first};
}

// The convolution of a tile of `rows` positions in `columns` channels, from `channel` on:
//   t[l] = tap_0 values[l - 1] + tap_1 values[l] + tap_2 values[l + 1],
// or with the taps mirrored, which is the transpose. The constructor starts to load the first rows of the
// thread, so that other work can hide the latency.
template <int rows, int columns, bool mirrored>
class Convolution {
  public:
    __device__ Convolution(const Layer& layer, const void* values, const Positions& at, int64_t channel)
        : layer_(layer), values_(values), at_(at) {
        start(channel);
    }
    // Goes on with other channels.
    __device__ void start(int64_t channel) {
        channel_ = channel + column();
        if (!is_there()) return;
        load(first_row() - 1, before_);
        load(first_row(), here_);
        load_ahead(first_row(), after_);
    }

    // The first channel of the thread, and whether it has one.
    __device__ int64_t channel() const { return channel_; }
    __device__ bool is_there() const { return channel_ < layer_.width && first_row() < at_.count; }

    // Calls put(row, column, t) for every row of the thread inside the sequence; t holds its channels.
    template <class Put>
    __device__ void for_each_row(Put put) {
        if (!is_there()) return;
        Row words[3];  // [each, 3]
#pragma unroll
        for (int k = 0; k < 3; ++k)
            words[k] = device::load_words<Storage, each>(layer_.conv, channel_ * 3 + k * each);
        const int end = first_row() + own_rows;
        Row later[ahead];  // the rows behind after_
        if (first_row() + ahead < end) load_ahead(first_row() + ahead, later);
        float taps[3][each];
#pragma unroll
        for (int k = 0; k < 3; ++k)
#pragma unroll
            for (int v = 0; v < each; ++v)
                taps[mirrored ? 2 - k : k][v] = words[(3 * v + k) / each].get((3 * v + k) % each);
#pragma unroll 1
        for (int first = first_row(); first < end; first += ahead) {
#pragma unroll
            for (int r = 0; r < ahead; ++r) {
                // Rows beyond both ends add no term: a tap that is not finite times zero would not be zero.
                const int64_t position = at_.first + first + r;
                const bool is_first = r == 0 && position == 0, is_last = position + 1 == layer_.length;
                float sums[each];
#pragma unroll
                for (int v = 0; v < each; ++v)
                    sums[v] =
                        fmaf(is_last ? 0 : taps[2][v], after_[r].get(v),
                             fmaf(taps[1][v], here_.get(v), (is_first ? 0 : taps[0][v]) * before_.get(v)));
                if (first + r < at_.count) put(first + r, column(), sums);
                before_ = here_;
                here_ = after_[r];
            }
#pragma unroll
            for (int r = 0; r < ahead; ++r) after_[r] = later[r];
            if (first + 2 * ahead < end) load_ahead(first + 2 * ahead, later);
        }
    }

  private:
    static constexpr int each = channels_together, across = columns / each, down = THREADS / across;
    static constexpr int own_rows = rows / down, ahead = own_rows < 4 ? own_rows : 4;
    static_assert(across * down == THREADS && own_rows * down == rows && own_rows % ahead == 0);
    using Row = device::Words<Storage, each>;

    static __device__ int column() { return static_cast<int>(threadIdx.x) % across * each; }
    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / across * own_rows; }
    __device__ void load(int row, Row& to) const {
        const int64_t position = at_.first + row;
        to = {};
        if (position >= 0 && position < layer_.length)
            to = device::load_words<Storage, each>(values_, (at_.token + row) * layer_.width + channel_);
    }
    __device__ void load_ahead(int row, Row (&to)[ahead]) const {
#pragma unroll
        for (int r = 0; r < ahead; ++r) load(row + r + 1, to[r]);
    }

    const Layer& layer_;
    const void* values_;
    const Positions& at_;
    int64_t channel_;
    Row before_, here_, after_[ahead];
};

// Stores the neighbouring channels of a thread in f32, 16 bytes at a time where channels are aligned.
__device__ inline void store_floats(float* to, const float (&values)[channels_together]) {
    constexpr int each = channels_together < 4 ? channels_together : 4;
#pragma unroll
    for (int v = 0; v < channels_together; v += each) {
        float vector[each];
#pragma unroll
        for (int k = 0; k < each; ++k) vector[k] = values[v + k];
        device::store<device::f32>(to, v, vector);
    }
}

}  // namespace sawtooth::ar_ssm
