// The definition, for all rows of queries and keys, or for chosen ones where all would take too long. It also
// says what kernels round: stored() marks what they may keep in 16 bits between launches, narrow() marks left
// factors of products on tensor cores. Queries are counted by their positions: the first of N_q stands at
// N - N_q.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/attention/chosen_rows.h"
#include "kernels/attention/parts.h"
#include "kernels/attention/reference_vectors.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/range.h"
#include "kernels/core/row_sum.h"
#include "kernels/core/wide.h"

namespace sawtooth::attention {
namespace {

// R(i) of every position, and R(window); both are empty without a prologue.
struct Rotations {
    std::vector<Rotation> near, far;

    Rotations(const Parameters& parameters, const std::stop_token& stop) {
        if (!parameters.is("form", "qkv")) return;
        const int64_t length = parameters.integer("N"), d = parameters.integer("D");
        const double base = parameters.real("base");
        for (int64_t i = 0; i < length && !stop.stop_requested(); ++i) near.emplace_back(i, d, base);
        far.emplace_back(parameters.integer("window"), d, base);
    }
};

struct Inputs {
    HeadVectors q1, q2, k1, k2, v, dout;
};

// Reads the inputs of a head of queries and of its keys, and rotates queries and keys in the arithmetic of
// Real.
template <class Real>
Inputs inputs_of(const Parameters& parameters, const Arrays& inputs, const Rotations& rotations, int64_t head,
                 int64_t key_head) {
    const int64_t length = parameters.integer("N"), count = parameters.integer("N_q"),
                  d = parameters.integer("D");
    const auto rows = [&](const char* name, int64_t of_head, int64_t positions) {
        HeadVectors read(positions, d);
        const float* const from = find(inputs, name)->as<float>().data() + of_head * positions * d;
        for (int64_t i = 0; i < positions; ++i) std::copy_n(from + i * d, d, read.row(i));
        return read;
    };
    const auto queries = [&](const char* name) { return rows(name, head, count); };
    const auto keys = [&](const char* name) { return rows(name, key_head, length); };
    const auto rotated = [&](const HeadVectors& from, int64_t positions, auto rotation_of) {
        HeadVectors to(positions, d);
        for (int64_t i = 0; i < positions; ++i) {
            std::vector<Real> turned(static_cast<size_t>(d));
            rotation_of(i).add(from.row(i), turned.data());
            std::transform(turned.begin(), turned.end(), to.row(i),
                           [](Real number) { return value_of(stored(number)); });
        }
        return to;
    };
    Inputs in;
    if (parameters.is("form", "qkv")) {
        const auto near_from = [&](int64_t first) {
            return [&rotations, first](int64_t i) -> const Rotation& {
                return rotations.near[static_cast<size_t>(first + i)];
            };
        };
        const auto far = [&](int64_t) -> const Rotation& { return rotations.far.front(); };
        const HeadVectors q = queries("q");
        in.q1 = rotated(q, count, near_from(length - count));
        in.q2 = rotated(q, count, far);
        in.k2 = keys("k");
        in.k1 = rotated(in.k2, length, near_from(0));
    } else {
        in.q1 = queries("q1");
        in.q2 = queries("q2");
        in.k1 = keys("k1");
        in.k2 = keys("k2");
    }
    in.v = keys("v");
    if (runs_backward(parameters)) in.dout = queries("do");
    return in;
}

// The outputs of one query.
template <class Real>
struct Query {
    Real lse = 0, delta = 0;
    std::vector<Real> o = {}, dq1 = {}, dq2 = {};
};
// The gradients of one key and value, summed over the queries of the heads that share them.
template <class Real>
struct Key {
    RowSum<Real> dk1, dk2, dv;

    explicit Key(size_t d) : dk1(d), dk2(d), dv(d) {}
};

// The definition of one head.
template <class Real>
class Head {
  public:
    Head(const Parameters& parameters, Inputs inputs)
        : length_(parameters.integer("N")),
          first_(length_ - parameters.integer("N_q")),
          d_(parameters.integer("D")),
          window_(parameters.integer("window")),
          causal_(parameters.flag("causal")),
          scale_(Real(1) * parameters.real("scale")),  // kernels round it once
          in_(std::move(inputs)) {}

    using Scores = std::vector<Real>;  // the scores of one query with every key

    SAWTOOTH_WIDE Query<Real> forward(int64_t i, Scores& scores) const {
        const Range keys = keys_of(i);
        scores.resize(static_cast<size_t>(keys.last));
        Real largest = -INFINITY;
        for (int64_t j = keys.first; j < keys.last; ++j) {
            const Real s = at(scores, j) = score(i, j);
            if (!(s <= largest)) largest = s;  // a NaN wins
        }
        Real sum = 0;
        RowSum<Real> weighted(width());
        for (int64_t j = keys.first; j < keys.last; ++j) {
            const Real p = exp(at(scores, j) - largest);
            sum += p;
            weighted.add(narrow(p), in_.v.row(j));
        }
        Query<Real> query{.o = weighted.totals()};
        for (Real& o : query.o) o /= sum;
        query.lse = largest * std::numbers::log2e + log2(sum);
        return query;
    }

    void preprocess(int64_t i, Query<Real>& query) const {
        HeadVectors o(1, d_);
        std::transform(query.o.begin(), query.o.end(), o.row(0),
                       [](const Real& number) { return value_of(stored(number)); });
        query.delta = dot<Real>(o.row(0), dout(i), width());
    }

    // Computes dq1 and dq2 of a query; `scores` are those of forward(i).
    SAWTOOTH_WIDE void backward_query(int64_t i, Scores& scores, Query<Real>& query) const {
        RowSum<Real> dq1(width()), dq2(width());
        const Range keys = keys_of(i);
        for (int64_t j = keys.first; j < keys.last; ++j) {
            const Real ds = gradient(i, j, probability(at(scores, j), query), query);
            if (is_near(i, j))
                dq1.add(ds, in_.k1.row(j));
            else
                dq2.add(ds, in_.k2.row(j));
        }
        query.dq1 = dq1.totals();
        query.dq2 = dq2.totals();
    }

    // Adds the gradients of a key, which need the forward pass of every query of the head.
    SAWTOOTH_WIDE void backward_key(int64_t j, const std::vector<Query<Real>>& queries,
                                    Key<Real>& key) const {
        for (int64_t i = causal_ ? std::max(j, first_) : first_; i < length_; ++i) {
            const Query<Real>& query = queries[static_cast<size_t>(i - first_)];
            const Real p = probability(score(i, j), query), ds = gradient(i, j, p, query);
            key.dv.add(narrow(p), dout(i));
            if (is_near(i, j))
                key.dk1.add(ds, q1(i));
            else
                key.dk2.add(ds, q2(i));
        }
    }

  private:
    size_t width() const { return static_cast<size_t>(d_); }
    static Real& at(Scores& scores, int64_t j) { return scores[static_cast<size_t>(j)]; }
    const double* q1(int64_t i) const { return in_.q1.row(i - first_); }
    const double* q2(int64_t i) const { return in_.q2.row(i - first_); }
    const double* dout(int64_t i) const { return in_.dout.row(i - first_); }
    Range keys_of(int64_t i) const { return {0, causal_ ? i + 1 : length_}; }
    bool is_near(int64_t i, int64_t j) const { return std::abs(i - j) < window_; }
    [[gnu::always_inline]] Real score(int64_t i, int64_t j) const {
        return scale_ * (is_near(i, j) ? dot<Real>(q1(i), in_.k1.row(j), width())
                                       : dot<Real>(q2(i), in_.k2.row(j), width()));
    }
    static Real probability(Real score, const Query<Real>& query) {
        return exp2(score * std::numbers::log2e - query.lse);
    }
    // Returns the gradient of the score of a pair, whose probability is p.
    [[gnu::always_inline]] Real gradient(int64_t i, int64_t j, Real p, const Query<Real>& query) const {
        return narrow(p * (dot<Real>(dout(i), in_.v.row(j), width()) - query.delta)) * scale_;
    }

    int64_t length_, first_, d_, window_;  // `first_`: the position of the first query
    bool causal_;
    Real scale_;
    Inputs in_;
};

// The rows to compute, over all heads.
struct Chosen {
    std::shared_ptr<const ChosenRows> queries, keys;
};

// The output arrays, [rows, …] of the chosen rows.
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

    template <class Real>
    void put(const char* name, int64_t row, const std::vector<Real>& values) {
        std::transform(values.begin(), values.end(),
                       find(arrays_, name)->as<double>().begin() + row * static_cast<int64_t>(values.size()),
                       [](Real value) { return value_of(value); });
    }
    Arrays take() { return std::move(arrays_); }

  private:
    Arrays arrays_;
};

// Returns the range of the chosen rows that belong to a head.
Range rows_of(const ChosenRows& chosen, int64_t head) {
    const auto& places = chosen.places;
    const int64_t length = chosen.extents.back();
    const auto before = [&](int64_t place) {
        return std::lower_bound(places.begin(), places.end(), place) - places.begin();
    };
    return {before(head * length), before((head + 1) * length)};
}

template <class Real>
class Definition {
  public:
    Definition(const Parameters& parameters, const Arrays& inputs, const Chosen& chosen, std::stop_token stop)
        : parameters_(parameters),
          inputs_(inputs),
          chosen_(chosen),
          stop_(std::move(stop)),
          queries_(parameters.integer("N_q")),
          first_(parameters.integer("N") - queries_),
          backward_(runs_backward(parameters)),
          rotations_(parameters, stop_),
          outputs_(parameters, chosen) {}

    Outcome<Arrays> compute() {
        const int64_t key_heads = parameters_.integer("Z") * parameters_.integer("H_kv");
        for (int64_t head = 0; head < key_heads && !stop_.stop_requested(); ++head) add_key_head(head);
        if (stop_.stop_requested()) return Error::cancelled();
        return outputs_.take();
    }

  private:
    // Adds the rows of a head of keys, and of the heads of queries that share it.
    void add_key_head(int64_t key_head) {
        const int64_t sharing = parameters_.integer("H") / parameters_.integer("H_kv");
        const Range rows = backward_ ? rows_of(*chosen_.keys, key_head) : Range{};
        std::vector<Key<Real>> keys(static_cast<size_t>(rows.count()),
                                    Key<Real>(static_cast<size_t>(parameters_.integer("D"))));
        for (int64_t member = 0; member < sharing; ++member) {
            const int64_t head = key_head * sharing + member;
            const Range queries = rows_of(*chosen_.queries, head);
            if (queries.count() + rows.count() == 0) continue;
            const Head<Real> of_head(parameters_,
                                     inputs_of<Real>(parameters_, inputs_, rotations_, head, key_head));
            const auto all = add_queries(of_head, queries, rows.count() > 0);
            for_each(rows.count(), [&](int64_t index) {
                const int64_t j = position_of(*chosen_.keys, rows.first + index);
                Key<Real>& key = keys[static_cast<size_t>(index)];
                of_head.backward_key(j, all, key);
                if (member == sharing - 1) put(rows.first + index, j, key);
            });
        }
    }

    // Adds the chosen queries of a head. Returns every query if wanted, as the gradients of keys need them.
    std::vector<Query<Real>> add_queries(const Head<Real>& head, Range chosen, bool wants_all) {
        std::vector<Query<Real>> all(static_cast<size_t>(wants_all ? queries_ : 0));
        std::vector<int64_t> rows(static_cast<size_t>(queries_), -1);  // -1 marks a query that is not chosen
        for (int64_t row = chosen.first; row < chosen.last; ++row)
            rows[static_cast<size_t>(position_of(*chosen_.queries, row))] = row;
        for_each(queries_, [&](int64_t index) {
            const int64_t row = rows[static_cast<size_t>(index)], i = first_ + index;
            if (row < 0 && all.empty()) return;
            typename Head<Real>::Scores scores;
            Query<Real> query = head.forward(i, scores);
            if (backward_) head.preprocess(i, query);
            if (row >= 0 && backward_) head.backward_query(i, scores, query);
            if (row >= 0) put(row, i, query);
            if (!all.empty()) all[static_cast<size_t>(index)] = std::move(query);
        });
        return all;
    }

    // Calls work(row), in parallel if there are enough products to be worth threads. Noisy draws its numbers
    // in order, so its rows stay in order too.
    void for_each(int64_t rows, const std::function<void(int64_t)>& work) const {
        constexpr int64_t worth_threads = 1 << 22;
        const auto unless_stopped = [&](int64_t row) {
            if (!stop_.stop_requested()) work(row);
        };
        if (std::is_same_v<Real, double> &&
            rows * parameters_.integer("N") * parameters_.integer("D") > worth_threads)
            return in_parallel(rows, unless_stopped);
        for (int64_t row = 0; row < rows; ++row) unless_stopped(row);
    }

    int64_t position_of(const ChosenRows& chosen, int64_t row) const {
        return chosen.places[static_cast<size_t>(row)] % chosen.extents.back();
    }

    void put(int64_t row, int64_t i, const Query<Real>& query) {
        outputs_.put("o", row, query.o);
        outputs_.put("lse", row, std::vector{query.lse});
        if (!backward_) return;
        outputs_.put("delta", row, std::vector{query.delta});
        outputs_.put("dq1", row, query.dq1);
        outputs_.put("dq2", row, query.dq2);
        if (rotations_.near.empty()) return;
        std::vector<Real> dq(query.dq1.size());
        rotations_.near[static_cast<size_t>(i)].add_inverse(query.dq1.data(), dq.data());
        rotations_.far.front().add_inverse(query.dq2.data(), dq.data());
        outputs_.put("dq", row, dq);
    }
    void put(int64_t row, int64_t j, const Key<Real>& key) {
        const std::vector<Real> dk1 = key.dk1.totals(), dk2 = key.dk2.totals();
        outputs_.put("dk1", row, dk1);
        outputs_.put("dk2", row, dk2);
        outputs_.put("dv", row, key.dv.totals());
        if (rotations_.near.empty()) return;
        std::vector<Real> dk = dk2;
        rotations_.near[static_cast<size_t>(j)].add_inverse(dk1.data(), dk.data());
        outputs_.put("dk", row, dk);
    }

    const Parameters& parameters_;
    const Arrays& inputs_;
    const Chosen& chosen_;
    std::stop_token stop_;
    int64_t queries_, first_;  // their number, and the position of the first one
    bool backward_;
    Rotations rotations_;
    Outputs outputs_;
};

std::shared_ptr<const ChosenRows> all_rows(const Shape& extents) {
    ChosenRows rows{extents, {}};
    rows.places.resize(static_cast<size_t>(count_of(rows.extents)));
    std::iota(rows.places.begin(), rows.places.end(), 0);
    return std::make_shared<const ChosenRows>(std::move(rows));
}

// Computes the chosen rows at any size, and lists them.
template <class Real>
Outcome<Arrays> compute_chosen(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    const Chosen chosen{chosen_queries(parameters), chosen_keys(parameters)};
    auto outputs = Definition<Real>(parameters, inputs, chosen, std::move(stop)).compute();
    if (!outputs) return outputs;
    outputs->push_back(listed("rows", *chosen.queries));
    if (runs_backward(parameters)) outputs->push_back(listed("key_rows", *chosen.keys));
    return outputs;
}

// Computes all rows, or chosen rows if Z H N_q N D is larger than 2^30, or than 2^28 with noise, which a
// judge draws several times.
template <class Real>
Outcome<Arrays> compute(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    constexpr double most = std::is_same_v<Real, Noisy> ? 0x1p28 : 0x1p30;
    double products = parameters.real("N") * parameters.real("D");
    for (const int64_t extent : query_extents(parameters)) products *= static_cast<double>(extent);
    if (products > most) return compute_chosen<Real>(parameters, inputs, std::move(stop));
    const Chosen all{all_rows(query_extents(parameters)), all_rows(key_extents(parameters))};
    auto outputs = Definition<Real>(parameters, inputs, all, std::move(stop)).compute();
    if (!outputs) return outputs;
    for (Array& output : *outputs) {
        output.shape = output.whole_shape();
        output.rows.reset();
    }
    return outputs;
}

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return compute<double>(parameters, inputs, std::move(stop));
}

Outcome<Arrays> reference_of_chosen_rows(const Parameters& parameters, const Arrays& inputs,
                                         std::stop_token stop) {
    return compute_chosen<double>(parameters, inputs, std::move(stop));
}

Outcome<Arrays> definition(const DefinitionRequest& request) {
    return request.noisy ? compute<Noisy>(request.parameters, request.inputs, request.stop)
                         : compute<double>(request.parameters, request.inputs, request.stop);
}

}  // namespace sawtooth::attention
