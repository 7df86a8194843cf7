#pragma once

#include <cstdint>

namespace sawtooth::btp {

// Products over one block, for all channels of a head. Values are [channels, pitch], with a position of the
// block in each column. A line has one number per position. Lines and rows of values are padded to a multiple
// of 16, and what lies past `count` has no meaning unless stated.
struct BlockShape {
    int64_t channels, count, pitch;  // transfer.h
};

// v = Lmat u for positions from `first` on, a multiple of 16: v_i = sum over j <= i of Lmat_ij u_j. No other
// pair is multiplied, so that a number that is not finite spreads no further than in the recurrence.
void multiply(const float* columns, const float* u, const BlockShape& shape, int64_t first, float* v);
// r = Lmat^T dx: r_j = sum over i >= j of Lmat_ij dx_i.
void multiply_transposed(const float* rows, const float* dx, const BlockShape& shape, float* r);
// values += line factors^T, with one factor per channel.
void add_outer(const float* line, const float* factors, const BlockShape& shape, float* values);
// sums[channel] = sum over positions of line times values; both are 0 past `count`.
void multiply_line(const float* line, const float* values, const BlockShape& shape, float* sums);
// da_i = w_i . v_{i-1} for i > 0, summed over channels; v[-1] must be readable.
void multiply_neighbours(const float* w, const float* v, const BlockShape& shape, float* da);
// da_i += r_i . (line_i factors).
void add_outer_products(const float* r, const float* line, const float* factors, const BlockShape& shape,
                        float* da);

}  // namespace sawtooth::btp
