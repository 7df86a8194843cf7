#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/parameter.h"

namespace sawtooth::memory {

// What a rule keeps from token to token: a matrix M [d, d]; `slot_count` rows of d numbers; or two matrices,
// S_K [compress, d] and S_V [d, compress].
enum class State { matrix, slots, trellis };

// How a token changes the memory: one row for each value of the parameter `rule`. What a rule is stands in
// its columns; no other code knows the names.
struct UpdateRule {
    std::string name;  // also in device text
    State state = State::matrix;
    bool has_momentum = false;         // keeps S beside M; reads eta
    bool forgets = true;               // reads alpha
    bool has_step = true;              // reads theta
    bool reads_memory = true;          // what it adds depends on the memory: on M k, or on its slots
    bool is_windowed = false;          // averages its errors over the last omega_window tokens
    bool reads_w_omega = false;        // what it adds comes from w_omega, a key and a value
    bool reads_x = false;              // compresses another input, x
    double operations = 0;             // of a token, for each number of its state (of one matrix of two)
    double operations_of_windows = 0;  // the same, for each token of its window
    // Tokens of a chunk that its source calls usual; 0: it names none.
    int64_t least_chunk = 0, most_chunk = 0;

    bool is(State kind) const { return state == kind; }
};

// In the order in which they are shown.
const std::vector<UpdateRule>& rules();
std::vector<std::string> names_of_rules(bool (*has)(const UpdateRule&));
// That of the parameter `rule`.
const UpdateRule& rule_of(const Parameters& parameters);

// [t][s] = product of 1 - alpha_u for u from s + 1 to t, 1 on the diagonal, 0 above it; row-major, as many
// rows and columns as there are alphas. Made by multiplying on, never by dividing: alpha may be 1.
std::vector<float> decay_products(std::span<const float> alpha);

}  // namespace sawtooth::memory
