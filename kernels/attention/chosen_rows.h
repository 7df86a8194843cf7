#pragma once

#include <memory>

#include "kernels/core/array.h"
#include "kernels/core/parameter.h"

namespace sawtooth::attention {

// Returns Z, H and N_q, or Z, H_kv and N: queries, or keys, have one row for each of these indices.
Shape query_extents(const Parameters& parameters);
Shape key_extents(const Parameters& parameters);

// Returns the queries that a sampled reference computes: those at the borders of tiles of every size, of the
// window and of the sequence, and others that are spread evenly.
std::shared_ptr<const ChosenRows> chosen_queries(const Parameters& parameters);
// Returns the keys that a sampled reference computes. All are of the first head of keys, because the gradient
// of a key needs the forward pass of every query of the heads that share it.
std::shared_ptr<const ChosenRows> chosen_keys(const Parameters& parameters);

}  // namespace sawtooth::attention
