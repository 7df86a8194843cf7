#include "kernels/attention/describe.h"

#include "kernels/attention/tiles.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/launch_info.h"
#include "kernels/core/storage.h"

namespace sawtooth::attention::describe {
namespace {

struct Sizes {
    explicit Sizes(const PlanRequest& request) : Sizes(request.parameters, request.device != nullptr) {}
    Sizes(const Parameters& p, bool on_cuda)
        : heads(p.integer("Z") * p.integer("H")),
          length(p.integer("N")),
          d(p.integer("D")),
          mask(mask_of(p)),
          k2(p.is("form", "qkv") ? "k" : "k2"),
          element(bytes_of(on_cuda ? storage_named(p.text("dtype")) : Storage::f32)) {}

    // Inputs and o.
    Uses vectors(std::initializer_list<const char*> names) const { return vectors(names, element); }
    Uses gradients(std::initializer_list<const char*> names) const {
        return vectors(names, bytes_of(Storage::f32));
    }
    Uses rows(std::initializer_list<const char*> names) const {
        Uses uses;
        for (const char* name : names) uses.push_back({name, {heads, length}});
        return uses;
    }
    ArrayUse matrix(const char* name) const { return {name, {heads, length, length}}; }
    // Pairs that the mask allows, of all heads.
    double pairs() const {
        const auto n = static_cast<double>(length);
        return static_cast<double>(heads) * (mask.causal ? n * (n + 1) / 2 : n * n);
    }
    // Products of that many rows of d per pair: a multiplication and an addition each.
    double products(double count) const { return 2 * count * pairs() * static_cast<double>(d); }

    int64_t heads, length, d;
    Mask mask;
    const char* k2;   // which no rotation changes
    int64_t element;  // bytes

  private:
    Uses vectors(std::initializer_list<const char*> names, int64_t bytes) const {
        Uses uses;
        for (const char* name : names) uses.push_back({name, {heads, length, d}, bytes});
        return uses;
    }
};

}  // namespace

LaunchInfo forward(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info(
        "forward",
        "Streams tiles of keys past a tile of queries, with a running maximum and sum of the softmax.",
        s.vectors({"q1", "q2", "k1", s.k2, "v"}), s.vectors({"o"}) + s.rows({"lse"}), s.products(2));
}

LaunchInfo preprocess(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info("preprocess", "Multiplies o with its gradient, row by row.", s.vectors({"o", "do"}),
                       s.rows({"delta"}), 2 * static_cast<double>(s.heads * s.length * s.d));
}

LaunchInfo backward(const PlanRequest& request, int64_t groups, int products) {
    const Sizes s(request);
    Uses writes = s.gradients({"dk1", "dk2", "dv"});
    for (const char* name : {"dq1", "dq2"}) {
        if (groups == 1)
            writes.push_back({name, {s.heads, s.length, s.d}});
        else
            writes.push_back({std::string(name) + " of groups", {groups, s.heads, s.length, s.d}});
    }
    return launch_info("backward", "Recomputes the probabilities of every tile and sums the gradients.",
                       s.vectors({"q1", "q2", "k1", s.k2, "v", "do"}) + s.rows({"lse", "delta"}),
                       std::move(writes), s.products(products));
}

LaunchInfo sum_groups(const PlanRequest& request, int64_t groups) {
    const Sizes s(request);
    Uses reads;
    for (const char* name : {"dq1 of groups", "dq2 of groups"})
        reads.push_back({name, {groups, s.heads, s.length, s.d}});
    return launch_info("sum_groups", "Sums the gradients of queries over the groups of key tiles.",
                       std::move(reads), s.gradients({"dq1", "dq2"}),
                       2 * static_cast<double>((groups - 1) * s.heads * s.length * s.d));
}

LaunchInfo scores(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info("scores",
                       "Multiplies all queries with all keys in both encodings and chooses by distance.",
                       s.vectors({"q1", "q2", "k1", s.k2}), {s.matrix("scores")}, s.products(2));
}

LaunchInfo softmax(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info("softmax", "Turns every row of scores into probabilities.", {s.matrix("scores")},
                       Uses{s.matrix("probabilities")} + s.rows({"lse"}), 4 * s.pairs());
}

LaunchInfo values(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info("values", "Sums the values with the probabilities as weights.",
                       Uses{s.matrix("probabilities")} + s.vectors({"v"}), s.vectors({"o"}), s.products(1));
}

LaunchInfo score_gradients(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info("score_gradients", "Takes the gradients of o through the values and the softmax.",
                       Uses{s.matrix("probabilities")} + s.vectors({"v", "do"}) + s.rows({"delta"}),
                       {s.matrix("score gradients")}, s.products(1));
}

LaunchInfo gradients_of_queries(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info("gradients_of_queries", "Sums the keys with the gradients of scores as weights.",
                       Uses{s.matrix("score gradients")} + s.vectors({"k1", s.k2}),
                       s.gradients({"dq1", "dq2"}), s.products(2));
}

LaunchInfo gradients_of_keys(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info(
        "gradients_of_keys", "Sums queries and gradients of o, weighted per key.",
        Uses{s.matrix("probabilities"), s.matrix("score gradients")} + s.vectors({"q1", "q2", "do"}),
        s.gradients({"dk1", "dk2", "dv"}), s.products(3));
}

LaunchInfo rotate_back(const PlanRequest& request) {
    const Sizes s(request);
    return launch_info("rotate_back", "Rotates the gradients of both encodings back and adds them.",
                       s.gradients({"dq1", "dq2", "dk1", "dk2"}), s.gradients({"dq", "dk"}),
                       7 * static_cast<double>(s.heads * s.length * s.d));
}

}  // namespace sawtooth::attention::describe
