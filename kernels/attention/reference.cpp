// The definitions in double precision, for chosen rows of queries and of keys: all of them, unless that takes
// too long. Loops run over positions in memory order, so that a compiler can use vectors.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <set>
#include <vector>

#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "kernels/core/common_parameters.h"

namespace sawtooth::attention {
namespace {

// One head: [positions, d].
struct Rows {
    int64_t d = 0;
    std::vector<double> values;

    Rows() = default;
    Rows(int64_t count, int64_t width) : d(width), values(static_cast<size_t>(count * width)) {}
    double* row(int64_t position) { return values.data() + position * d; }
    const double* row(int64_t position) const { return values.data() + position * d; }
};

// Of rows of D numbers, a multiple of 8: that many sums are vectors to a compiler.
double dot(const double* left, const double* right, int64_t d) {
    constexpr int64_t width = 8;
    double sums[width] = {};
    for (int64_t m = 0; m < d; m += width)
        for (int64_t i = 0; i < width; ++i) sums[i] += left[m + i] * right[m + i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void add(double* to, double factor, const double* row, int64_t d) {
    for (int64_t m = 0; m < d; ++m) to[m] += factor * row[m];
}

// R(p): cosine and sine of p 10000^(-2m/D) for m < D / 2.
class Rotation {
  public:
    Rotation(int64_t position, int64_t d) {
        for (int64_t m = 0; m < d / 2; ++m) {
            const double turn = static_cast<double>(position) *
                                std::pow(10000.0, -2.0 * static_cast<double>(m) / static_cast<double>(d));
            cosines_.push_back(std::cos(turn));
            sines_.push_back(std::sin(turn));
        }
    }
    // to += R(p) from
    void add(const double* from, double* to) const { add_turned(from, to, 1); }
    // to += R(p)^-1 from
    void add_inverse(const double* from, double* to) const { add_turned(from, to, -1); }

  private:
    void add_turned(const double* from, double* to, double sense) const {
        for (size_t m = 0, half = sines_.size(); m < half; ++m) {
            const double x = from[m], y = from[m + half], c = cosines_[m], s = sense * sines_[m];
            to[m] += x * c - y * s;
            to[m + half] += y * c + x * s;
        }
    }

    std::vector<double> cosines_, sines_;
};

// R(i) of every position and R(window); empty without a prologue.
struct Rotations {
    std::vector<Rotation> near, far;

    Rotations(const Parameters& parameters, const std::stop_token& stop) {
        if (!parameters.is("form", "qkv")) return;
        const int64_t length = parameters.integer("N"), d = parameters.integer("D");
        for (int64_t i = 0; i < length && !stop.stop_requested(); ++i) near.emplace_back(i, d);
        far.emplace_back(parameters.integer("window"), d);
    }
};

struct Inputs {
    Rows q1, q2, k1, k2, v, dout;
};

Inputs inputs_of(const Parameters& parameters, const Arrays& inputs, const Rotations& rotations,
                 int64_t head) {
    const int64_t length = parameters.integer("N"), d = parameters.integer("D");
    const auto rows = [&](const char* name) {
        Rows read(length, d);
        const float* const from = find(inputs, name)->as<float>().data() + head * length * d;
        std::copy_n(from, length * d, read.values.begin());
        return read;
    };
    const auto rotated = [&](const Rows& from, auto rotation_of) {
        Rows to(length, d);
        for (int64_t i = 0; i < length; ++i) rotation_of(i).add(from.row(i), to.row(i));
        return to;
    };
    Inputs in;
    if (parameters.is("form", "qkv")) {
        const auto near = [&](int64_t i) -> const Rotation& {
            return rotations.near[static_cast<size_t>(i)];
        };
        const auto far = [&](int64_t) -> const Rotation& { return rotations.far.front(); };
        const Rows q = rows("q");
        in.q1 = rotated(q, near);
        in.q2 = rotated(q, far);
        in.k2 = rows("k");
        in.k1 = rotated(in.k2, near);
    } else {
        in.q1 = rows("q1");
        in.q2 = rows("q2");
        in.k1 = rows("k1");
        in.k2 = rows("k2");
    }
    in.v = rows("v");
    if (runs_backward(parameters)) in.dout = rows("do");
    return in;
}

// The forward pass of one query, and its gradients.
struct Query {
    double lse = 0, delta = 0;
    std::vector<double> o = {}, dq1 = {}, dq2 = {};
};
// The gradients of one key.
struct Key {
    std::vector<double> dk1, dk2, dv;
};

// The reference of one head.
class Head {
  public:
    Head(const Parameters& parameters, Inputs inputs)
        : length_(parameters.integer("N")),
          d_(parameters.integer("D")),
          mask_(mask_of(parameters)),
          scale_(parameters.real("scale")),
          in_(std::move(inputs)),
          scores_(static_cast<size_t>(length_)) {}

    Query forward(int64_t i) {
        Query query{.o = zeros()};
        const Range keys = keys_of(i);
        double largest = -INFINITY;
        for (int64_t j = keys.first; j < keys.last; ++j) {
            at(j) = score(i, j);
            if (!(at(j) <= largest)) largest = at(j);  // a NaN wins
        }
        double sum = 0;
        for (int64_t j = keys.first; j < keys.last; ++j) {
            const double p = std::exp(at(j) - largest);
            sum += p;
            add(query.o.data(), p, in_.v.row(j), d_);
        }
        for (double& o : query.o) o /= sum;
        query.lse = largest * std::numbers::log2e + std::log2(sum);
        return query;
    }

    void preprocess(int64_t i, Query& query) const { query.delta = dot(query.o.data(), in_.dout.row(i), d_); }

    // Right after forward(i), whose scores it uses.
    void backward_query(int64_t i, Query& query) {
        query.dq1 = query.dq2 = zeros();
        const Range keys = keys_of(i);
        for (int64_t j = keys.first; j < keys.last; ++j) {
            const bool is_near = mask_.is_near(i, j);
            const double ds = gradient(i, j, probability(at(j), query), query);
            add((is_near ? query.dq1 : query.dq2).data(), ds, (is_near ? in_.k1 : in_.k2).row(j), d_);
        }
    }

    // From the forward pass of every query.
    Key backward_key(int64_t j, const std::vector<Query>& queries) const {
        Key key{zeros(), zeros(), zeros()};
        for (int64_t i = mask_.causal ? j : 0; i < length_; ++i) {
            const Query& query = queries[static_cast<size_t>(i)];
            const bool is_near = mask_.is_near(i, j);
            const double p = probability(score(i, j), query);
            add(key.dv.data(), p, in_.dout.row(i), d_);
            add((is_near ? key.dk1 : key.dk2).data(), gradient(i, j, p, query),
                (is_near ? in_.q1 : in_.q2).row(i), d_);
        }
        return key;
    }

  private:
    std::vector<double> zeros() const { return std::vector<double>(static_cast<size_t>(d_)); }
    double& at(int64_t j) { return scores_[static_cast<size_t>(j)]; }
    double score(int64_t i, int64_t j) const {
        return scale_ * (mask_.is_near(i, j) ? dot(in_.q1.row(i), in_.k1.row(j), d_)
                                             : dot(in_.q2.row(i), in_.k2.row(j), d_));
    }
    Range keys_of(int64_t i) const { return {0, mask_.causal ? i + 1 : length_}; }
    static double probability(double score, const Query& query) {
        return std::exp2(score * std::numbers::log2e - query.lse);
    }
    // Of the score of a pair.
    double gradient(int64_t i, int64_t j, double p, const Query& query) const {
        return p * (dot(in_.dout.row(i), in_.v.row(j), d_) - query.delta) * scale_;
    }

    int64_t length_, d_;
    Mask mask_;
    double scale_;
    Inputs in_;
    std::vector<double> scores_;  // of one query
};

// The rows to compute, over all heads.
struct Chosen {
    std::shared_ptr<const ChosenRows> queries, keys;
};

// Arrays [rows, …] of the chosen rows.
class Outputs {
  public:
    Outputs(const Parameters& parameters, const Chosen& chosen) {
        const int64_t d = parameters.integer("D");
        const auto add = [&](const char* name, const std::shared_ptr<const ChosenRows>& rows, int64_t width) {
            const auto count = static_cast<int64_t>(rows->places.size());
            Array array =
                Array::uninitialised(name, Dtype::f64, width == 1 ? Shape{count} : Shape{count, width});
            array.rows = rows;
            arrays_.push_back(std::move(array));
        };
        add("o", chosen.queries, d);
        add("lse", chosen.queries, 1);
        if (!runs_backward(parameters)) return;
        add("delta", chosen.queries, 1);
        for (const char* name : {"dq1", "dq2"}) add(name, chosen.queries, d);
        for (const char* name : {"dk1", "dk2", "dv"}) add(name, chosen.keys, d);
        if (!parameters.is("form", "qkv")) return;
        add("dq", chosen.queries, d);
        add("dk", chosen.keys, d);
    }

    void put(const char* name, int64_t row, const std::vector<double>& values) {
        std::copy(values.begin(), values.end(),
                  find(arrays_, name)->as<double>().begin() + row * static_cast<int64_t>(values.size()));
    }
    Arrays take() { return std::move(arrays_); }

  private:
    Arrays arrays_;
};

// Where the rows of a head are among the chosen ones.
Range rows_of(const ChosenRows& chosen, int64_t head, int64_t length) {
    const auto& places = chosen.places;
    const auto before = [&](int64_t place) {
        return std::lower_bound(places.begin(), places.end(), place) - places.begin();
    };
    return {before(head * length), before((head + 1) * length)};
}

class Reference {
  public:
    Reference(const Parameters& parameters, const Arrays& inputs, const Chosen& chosen, std::stop_token stop)
        : parameters_(parameters),
          inputs_(inputs),
          chosen_(chosen),
          stop_(std::move(stop)),
          length_(parameters.integer("N")),
          backward_(runs_backward(parameters)),
          rotations_(parameters, stop_),
          outputs_(parameters, chosen) {}

    Outcome<Arrays> compute() {
        const int64_t heads = parameters_.integer("Z") * parameters_.integer("H");
        for (int64_t head = 0; head < heads && !stop_.stop_requested(); ++head) add_head(head);
        if (stop_.stop_requested()) return Error::cancelled();
        return outputs_.take();
    }

  private:
    void add_head(int64_t number) {
        Range queries = rows_of(*chosen_.queries, number, length_);
        const Range keys = backward_ ? rows_of(*chosen_.keys, number, length_) : Range{};
        if (queries.count() + keys.count() == 0) return;
        Head head(parameters_, inputs_of(parameters_, inputs_, rotations_, number));
        std::vector<Query> all;  // which the gradients of keys need
        for (int64_t i = 0; i < length_ && !stop_.stop_requested(); ++i) {
            const bool is_chosen = queries.count() > 0 && position_of(*chosen_.queries, queries.first) == i;
            if (!is_chosen && keys.count() == 0) continue;
            Query query = head.forward(i);
            if (backward_) head.preprocess(i, query);
            if (is_chosen && backward_) head.backward_query(i, query);
            if (is_chosen) put(queries.first++, i, query);
            if (keys.count() > 0) all.push_back(std::move(query));
        }
        for (int64_t row = keys.first; row < keys.last && !stop_.stop_requested(); ++row) {
            const int64_t j = position_of(*chosen_.keys, row);
            put(row, j, head.backward_key(j, all));
        }
    }

    int64_t position_of(const ChosenRows& chosen, int64_t row) const {
        return chosen.places[static_cast<size_t>(row)] % length_;
    }

    void put(int64_t row, int64_t i, const Query& query) {
        outputs_.put("o", row, query.o);
        outputs_.put("lse", row, {query.lse});
        if (!backward_) return;
        outputs_.put("delta", row, {query.delta});
        outputs_.put("dq1", row, query.dq1);
        outputs_.put("dq2", row, query.dq2);
        if (rotations_.near.empty()) return;
        std::vector<double> dq(query.dq1.size());
        rotations_.near[static_cast<size_t>(i)].add_inverse(query.dq1.data(), dq.data());
        rotations_.far.front().add_inverse(query.dq2.data(), dq.data());
        outputs_.put("dq", row, dq);
    }
    void put(int64_t row, int64_t j, const Key& key) {
        outputs_.put("dk1", row, key.dk1);
        outputs_.put("dk2", row, key.dk2);
        outputs_.put("dv", row, key.dv);
        if (rotations_.near.empty()) return;
        std::vector<double> dk = key.dk2;
        rotations_.near[static_cast<size_t>(j)].add_inverse(key.dk1.data(), dk.data());
        outputs_.put("dk", row, dk);
    }

    const Parameters& parameters_;
    const Arrays& inputs_;
    const Chosen& chosen_;
    std::stop_token stop_;
    int64_t length_;
    bool backward_;
    Rotations rotations_;
    Outputs outputs_;
};

Shape extents_of(const Parameters& parameters) {
    return {parameters.integer("Z"), parameters.integer("H"), parameters.integer("N")};
}

std::shared_ptr<const ChosenRows> all_rows(const Parameters& parameters) {
    ChosenRows rows{extents_of(parameters), {}};
    rows.places.resize(static_cast<size_t>(count_of(rows.extents)));
    std::iota(rows.places.begin(), rows.places.end(), 0);
    return std::make_shared<const ChosenRows>(std::move(rows));
}

// At least `count` rows of the first `heads` heads (all, if there are fewer): spread evenly over heads and
// positions, and in the first and the last head the positions around the ends and around the window.
std::shared_ptr<const ChosenRows> spread_rows(const Parameters& parameters, int64_t heads, int64_t count) {
    const int64_t length = parameters.integer("N"), window = parameters.integer("window");
    std::set<int64_t> places;
    for (const int64_t head : {int64_t{0}, heads - 1})
        for (const int64_t middle : {int64_t{0}, window, length - window, length - 1})
            for (int64_t i = middle - 1; i <= middle + 1; ++i)
                if (i >= 0 && i < length) places.insert(head * length + i);
    // Multiples of the golden ratio are even for every count, and meet every place in a tile.
    constexpr double golden = 0.6180339887498949;
    const auto wanted = static_cast<size_t>(std::min(count, heads * length));
    for (int64_t r = 0; r < count || places.size() < wanted; ++r) {
        const double turns = golden * static_cast<double>(r);
        const auto i = static_cast<int64_t>((turns - std::floor(turns)) * static_cast<double>(length));
        places.insert(r % count * heads / count * length + i);
    }
    return std::make_shared<const ChosenRows>(
        ChosenRows{extents_of(parameters), {places.begin(), places.end()}});
}

}  // namespace

Mask mask_of(const Parameters& parameters) {
    return {parameters.integer("window"), parameters.flag("causal")};
}

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    double products = parameters.real("N") * parameters.real("D");
    for (const int64_t extent : extents_of(parameters)) products *= static_cast<double>(extent);
    if (products > 0x1p30) return reference_of_chosen_rows(parameters, inputs, std::move(stop));
    const auto all = all_rows(parameters);
    auto outputs = Reference(parameters, inputs, {all, all}, std::move(stop)).compute();
    if (!outputs) return outputs;
    for (Array& output : *outputs) {
        output.shape = output.whole_shape();
        output.rows.reset();
    }
    return outputs;
}

Outcome<Arrays> reference_of_chosen_rows(const Parameters& parameters, const Arrays& inputs,
                                         std::stop_token stop) {
    constexpr int64_t queries = 256, keys = 64;
    const int64_t heads = parameters.integer("Z") * parameters.integer("H");
    const Chosen chosen{spread_rows(parameters, heads, queries), spread_rows(parameters, 1, keys)};
    auto outputs = Reference(parameters, inputs, chosen, std::move(stop)).compute();
    if (!outputs) return outputs;
    outputs->push_back(listed("rows", *chosen.queries));
    if (runs_backward(parameters)) outputs->push_back(listed("key_rows", *chosen.keys));
    return outputs;
}

}  // namespace sawtooth::attention
