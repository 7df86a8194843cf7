#pragma once

#include <memory>

#include "kernels/core/array.h"
#include "kernels/core/parameter.h"

namespace sawtooth::attention {

// Z, H, N: the rows of queries and of keys.
Shape extents_of(const Parameters& parameters);

// The rows that a sampled reference computes: those at borders of tiles of every size, of the window and of
// the sequence, and more, spread evenly.
std::shared_ptr<const ChosenRows> chosen_queries(const Parameters& parameters);
// Of the first head: the gradients of its keys need the forward pass of all of its queries.
std::shared_ptr<const ChosenRows> chosen_keys(const Parameters& parameters);

}  // namespace sawtooth::attention
