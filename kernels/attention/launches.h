#pragma once

// The launches of all variants on both backends: what they mean, read, write and compute.

#include "kernels/attention/tensors.h"
#include "kernels/core/launch.h"

namespace sawtooth::attention {

// Stores what kernels write in another form than the outputs: in f32, or in rows with padding.
inline LaunchInfo store(const Tensors& t) {
    LaunchInfo info = {.name = "store",
                       .meaning = t.width == t.d ? "Rounds o to its dtype."
                                                 : "Copies outputs without the padding of their rows."};
    for (const auto& [kept, output] : t.stored) {
        info.reads.push_back(kept);
        info.writes.push_back(output);
    }
    return info;
}

// The operations of `rows` products of D numbers per pair: a multiplication and an addition for each number.
inline double products(const Tensors& t, double rows) {
    return 2 * rows * t.pairs() * static_cast<double>(t.d);
}

// The same over all pairs, masked ones too.
inline double products_of_all(const Tensors& t, double rows) {
    return 2 * rows * t.query_numbers() * static_cast<double>(t.length);
}

// `transposed` lists arrays and their copies in strips, which only the CPU has.
inline LaunchInfo prologue(const Tensors& t, const std::vector<std::pair<Buffer, Buffer>>& transposed = {}) {
    LaunchInfo info = {.name = "prologue",
                       .meaning = !t.q ? "Transposes keys and values."
                                  : transposed.empty()
                                      ? "Rotates queries and keys."
                                      : "Rotates queries and keys, and transposes keys and values.",
                       .reads = {t.q, t.k},
                       .work = {.operations = t.q ? 6 * t.query_numbers() + 3 * t.key_numbers() : 0}};
    if (t.q) info.writes = {t.q1, t.q2, t.k1};
    for (const auto& [given, wide] : t.widened) {
        info.reads.push_back(given);
        info.writes.push_back(wide);
    }
    for (const auto& [rows, strips] : transposed) {
        if (!has(info.writes, rows)) info.reads.push_back(rows);
        info.writes.push_back(strips);
    }
    return info;
}

// Says what a launch makes of fewer heads of keys, and of fewer queries than keys; "" by default.
inline std::string words_of_sharing(const Tensors& t) {
    std::string words;
    if (t.sharing() > 1) words += " " + std::to_string(t.sharing()) + " heads share their keys and values.";
    if (t.first_query() > 0)
        words += " The first query stands at position " + std::to_string(t.first_query()) + ".";
    return words;
}

inline LaunchInfo forward(const Tensors& t) {
    return {.name = "forward",
            .meaning =
                "Streams tiles of keys past a tile of queries, with a running maximum and sum of the "
                "softmax." +
                words_of_sharing(t),
            .reads = {t.q1, t.q2, t.k1_columns, t.k2_columns, t.v},
            .writes = Buffers{t.o, t.lse} + t.softmax,
            .work = {.operations = products(t, 2)}};
}

inline LaunchInfo preprocess(const Tensors& t, bool clears = false) {
    LaunchInfo info = {.name = "preprocess",
                       .meaning = "Multiplies o with its gradient, row by row.",
                       .reads = {t.o, t.dout},
                       .writes = {t.delta},
                       .work = {.operations = 2 * t.query_numbers()}};
    if (!clears) return info;
    info.meaning += " Clears dq1 and dq2.";
    info.writes = info.writes + Buffers{t.dq1, t.dq2};
    return info;
}

// `dq1` and `dq2` have one copy per group of key tiles, or are the outputs if there is one group. `rows` is
// the number of products of D numbers per pair.
inline LaunchInfo backward(const Tensors& t, const Buffer& dq1, const Buffer& dq2, int rows) {
    return {
        .name = "backward",
        .meaning = "Recomputes the probabilities of every tile and sums the gradients." + words_of_sharing(t),
        .reads = Buffers{t.q1, t.q2, t.k1_columns, t.k2_columns, t.v_columns, t.k1, t.k2, t.dout, t.delta} +
                 t.softmax,
        .writes = {t.dk1, t.dk2, t.dv, dq1, dq2},
        .work = {.operations = products(t, rows)}};
}

// The backward pass of which every thread block adds the gradients of queries for its keys.
inline LaunchInfo adding_backward(const Tensors& t) {
    LaunchInfo info = backward(t, t.dq1, t.dq2, 5);
    info.meaning += " Gradients of queries are added in memory, in any order.";
    info.reads = info.reads + Buffers{t.dq1, t.dq2};
    return info;
}

inline LaunchInfo sum_groups(const Tensors& t, const Buffer& dq1, const Buffer& dq2) {
    return {.name = "sum_groups",
            .meaning = "Sums the gradients of queries over the groups of key tiles.",
            .reads = {dq1, dq2},
            .writes = {t.dq1, t.dq2},
            .work = {.operations = 2 * static_cast<double>(dq1.shape.front() - 1) * t.query_numbers()}};
}

inline LaunchInfo scores(const Tensors& t, const Buffer& scores) {
    return {.name = "scores",
            .meaning = "Multiplies all queries with all keys in both encodings and chooses by distance." +
                       words_of_sharing(t),
            .reads = {t.q1, t.q2, t.k1_columns, t.k2_columns},
            .writes = {scores},
            .work = {.operations = products_of_all(t, 2)}};
}

inline LaunchInfo softmax(const Tensors& t, const Buffer& scores, const Buffer& probabilities) {
    return {.name = "softmax",
            .meaning = "Turns every row of scores into probabilities.",
            .reads = {scores},
            .writes = {probabilities, t.lse},
            .work = {.operations = 4 * t.pairs()}};
}

inline LaunchInfo values(const Tensors& t, const Buffer& probabilities) {
    return {.name = "values",
            .meaning = "Sums the values with the probabilities as weights.",
            .reads = {probabilities, t.v},
            .writes = {t.o},
            .work = {.operations = products(t, 1)}};
}

inline LaunchInfo score_gradients(const Tensors& t, const Buffer& probabilities, const Buffer& gradients) {
    return {.name = "score_gradients",
            .meaning = "Takes the gradients of o through the values and the softmax.",
            .reads = {probabilities, t.v_columns, t.dout, t.delta},
            .writes = {gradients},
            .work = {.operations = products_of_all(t, 1)}};
}

inline LaunchInfo gradients_of_queries(const Tensors& t, const Buffer& gradients) {
    return {.name = "gradients_of_queries",
            .meaning = "Sums the keys with the gradients of scores as weights.",
            .reads = {gradients, t.k1, t.k2},
            .writes = {t.dq1, t.dq2},
            .work = {.operations = products(t, 2)}};
}

inline LaunchInfo gradients_of_keys(const Tensors& t, const Buffer& probabilities, const Buffer& gradients) {
    return {.name = "gradients_of_keys",
            .meaning = "Sums queries and gradients of o, weighted per key.",
            .reads = {probabilities, gradients, t.q1, t.q2, t.dout},
            .writes = {t.dk1, t.dk2, t.dv},
            .work = {.operations = products(t, 3)}};
}

inline LaunchInfo rotate_back(const Tensors& t) {
    return {.name = "rotate_back",
            .meaning = "Rotates the gradients of both encodings back and adds them.",
            .reads = {t.dq1, t.dq2, t.dk1, t.dk2},
            .writes = {t.dq, t.dk},
            .work = {.operations = 7 * t.query_numbers() + 4 * t.key_numbers()}};
}

}  // namespace sawtooth::attention
