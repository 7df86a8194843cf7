#pragma once

#include <memory>

#include "kernels/core/array.h"
#include "kernels/core/parameter.h"

namespace sawtooth::attention {

// Returns Z, H and N: queries and keys have one row for each of these indices.
Shape extents_of(const Parameters& parameters);

// Returns the queries that a sampled reference computes: those at the borders of tiles of every size, of the
// window and of the sequence, and others that are spread evenly.
std::shared_ptr<const ChosenRows> chosen_queries(const Parameters& parameters);
// Returns the keys that a sampled reference computes. All are of the first head, because the gradient of a
// key needs the forward pass of every query of its head.
std::shared_ptr<const ChosenRows> chosen_keys(const Parameters& parameters);

}  // namespace sawtooth::attention
