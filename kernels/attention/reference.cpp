// The definition, for all rows of queries and keys, or for chosen ones where all would take too long. Loops
// run over positions in memory order, so that the compiler can use vectors. The definition also says what
// kernels round: stored() marks what they may keep in 16 bits between launches, narrow() marks left factors
// of products on tensor cores.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/attention/chosen_rows.h"
#include "kernels/attention/parts.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/noisy.h"
#include "kernels/core/range.h"
#include "kernels/core/wide.h"

namespace sawtooth::attention {
namespace {

// The vectors of one head, [positions, d].
struct HeadVectors {
    int64_t d = 0;
    std::vector<double> values;

    HeadVectors() = default;
    HeadVectors(int64_t count, int64_t width) : d(width), values(static_cast<size_t>(count * width)) {}
    double* row(int64_t position) { return values.data() + position * d; }
    const double* row(int64_t position) const { return values.data() + position * d; }
};

// The numbers that are computed together; D is a multiple of twice as many.
constexpr int64_t width = 4;
using Lanes = double __attribute__((vector_size(width * sizeof(double))));

void load(Lanes& lanes, const double* from) { std::memcpy(&lanes, from, sizeof lanes); }
void store(const Lanes& lanes, double* to) { std::memcpy(to, &lanes, sizeof lanes); }
double sum_of(const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

template <class Real>
Real dot(const double* left, const double* right, int64_t d) {
    Lanes even = {}, odd = {};  // two chains of additions, as each addition takes several cycles
    const auto add = [&](Lanes& sums, int64_t m) {
        Lanes factors, others;
        load(factors, left + m), load(others, right + m);
        sums += factors * others;
    };
    for (int64_t m = 0; m < d; m += 2 * width) add(even, m), add(odd, m + width);
    return sum_of(even + odd);
}
// Adds one product after another, as most kernels do: this order has larger roundings than pairwise sums.
template <>
Noisy dot(const double* left, const double* right, int64_t d) {
    Lanes squares = {}, factors, others;
    double sum = 0, squares_of_sums = 0;
    for (int64_t m = 0; m < d; m += width) {
        load(factors, left + m), load(others, right + m);
        const Lanes products = factors * others;
        squares += products * products;
        sum += sum_of(products);
        squares_of_sums += width * sum * sum;
    }
    return SumOfProducts<Noisy>(sum, sum_of(squares) + squares_of_sums).total();
}

// Sums rows of D numbers, each times a factor.
template <class Real>
class RowSum {
  public:
    explicit RowSum(int64_t d) : sums_(static_cast<size_t>(d)), squares_(is_noisy ? sums_.size() : 0) {}

    void add(Real factor, const double* row) {
        Lanes products, sums, squares;
        for (size_t m = 0; m < sums_.size(); m += width) {
            load(products, row + m), load(sums, &sums_[m]);
            products *= value_of(factor);
            sums += products;
            store(sums, &sums_[m]);
            if constexpr (is_noisy) {
                load(squares, &squares_[m]);
                squares += products * products + sums * sums;
                store(squares, &squares_[m]);
            }
        }
    }
    std::vector<Real> totals() const {
        std::vector<Real> totals(sums_.begin(), sums_.end());
        if constexpr (is_noisy)
            for (size_t m = 0; m < totals.size(); ++m)
                totals[m] = SumOfProducts<Noisy>(sums_[m], squares_[m]).total();
        return totals;
    }

  private:
    static constexpr bool is_noisy = std::is_same_v<Real, Noisy>;
    std::vector<double> sums_, squares_;  // `squares_`: of the numbers that were rounded
};

// R(p): turns each pair (x_m, x_(m + D/2)) by p 10000^(-2m/D).
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
    template <class From, class Real>
    void add(const From* from, Real* to) const {
        add_turned(from, to, 1);
    }
    // to += R(p)^-1 from
    template <class Real>
    void add_inverse(const Real* from, Real* to) const {
        add_turned(from, to, -1);
    }

  private:
    template <class From, class Real>
    void add_turned(const From* from, Real* to, double sense) const {
        for (size_t m = 0, half = sines_.size(); m < half; ++m) {
            const Real x = from[m], y = from[m + half], c = cosines_[m], s = sense * sines_[m];
            to[m] += x * c - y * s;
            to[m + half] += y * c + x * s;
        }
    }

    std::vector<double> cosines_, sines_;
};

// R(i) of every position, and R(window); both are empty without a prologue.
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
    HeadVectors q1, q2, k1, k2, v, dout;
};

// Reads the inputs of a head and rotates queries and keys in the arithmetic of Real.
template <class Real>
Inputs inputs_of(const Parameters& parameters, const Arrays& inputs, const Rotations& rotations,
                 int64_t head) {
    const int64_t length = parameters.integer("N"), d = parameters.integer("D");
    const auto rows = [&](const char* name) {
        HeadVectors read(length, d);
        const float* const from = find(inputs, name)->as<float>().data() + head * length * d;
        std::copy_n(from, length * d, read.values.begin());
        return read;
    };
    const auto rotated = [&](const HeadVectors& from, auto rotation_of) {
        HeadVectors to(length, d);
        for (int64_t i = 0; i < length; ++i) {
            std::vector<Real> turned(static_cast<size_t>(d));
            rotation_of(i).add(from.row(i), turned.data());
            std::transform(turned.begin(), turned.end(), to.row(i),
                           [](Real number) { return value_of(stored(number)); });
        }
        return to;
    };
    Inputs in;
    if (parameters.is("form", "qkv")) {
        const auto near = [&](int64_t i) -> const Rotation& {
            return rotations.near[static_cast<size_t>(i)];
        };
        const auto far = [&](int64_t) -> const Rotation& { return rotations.far.front(); };
        const HeadVectors q = rows("q");
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

// The outputs of one query.
template <class Real>
struct Query {
    Real lse = 0, delta = 0;
    std::vector<Real> o = {}, dq1 = {}, dq2 = {};
};
// The gradients of one key and value.
template <class Real>
struct Key {
    std::vector<Real> dk1, dk2, dv;
};

// The definition of one head.
template <class Real>
class Head {
  public:
    Head(const Parameters& parameters, Inputs inputs)
        : length_(parameters.integer("N")),
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
        RowSum<Real> weighted(d_);
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
        std::vector<double> o;
        for (const Real& number : query.o) o.push_back(value_of(stored(number)));
        query.delta = dot<Real>(o.data(), in_.dout.row(i), d_);
    }

    // Computes dq1 and dq2 of a query; `scores` are those of forward(i).
    SAWTOOTH_WIDE void backward_query(int64_t i, Scores& scores, Query<Real>& query) const {
        RowSum<Real> dq1(d_), dq2(d_);
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

    // Computes the gradients of a key, which need the forward pass of every query.
    SAWTOOTH_WIDE Key<Real> backward_key(int64_t j, const std::vector<Query<Real>>& queries) const {
        RowSum<Real> dk1(d_), dk2(d_), dv(d_);
        for (int64_t i = causal_ ? j : 0; i < length_; ++i) {
            const Query<Real>& query = queries[static_cast<size_t>(i)];
            const Real p = probability(score(i, j), query), ds = gradient(i, j, p, query);
            dv.add(narrow(p), in_.dout.row(i));
            if (is_near(i, j))
                dk1.add(ds, in_.q1.row(i));
            else
                dk2.add(ds, in_.q2.row(i));
        }
        return {dk1.totals(), dk2.totals(), dv.totals()};
    }

  private:
    static Real& at(Scores& scores, int64_t j) { return scores[static_cast<size_t>(j)]; }
    Range keys_of(int64_t i) const { return {0, causal_ ? i + 1 : length_}; }
    bool is_near(int64_t i, int64_t j) const { return std::abs(i - j) < window_; }
    Real score(int64_t i, int64_t j) const {
        return scale_ * (is_near(i, j) ? dot<Real>(in_.q1.row(i), in_.k1.row(j), d_)
                                       : dot<Real>(in_.q2.row(i), in_.k2.row(j), d_));
    }
    static Real probability(Real score, const Query<Real>& query) {
        return exp2(score * std::numbers::log2e - query.lse);
    }
    // Returns the gradient of the score of a pair, whose probability is p.
    Real gradient(int64_t i, int64_t j, Real p, const Query<Real>& query) const {
        return narrow(p * (dot<Real>(in_.dout.row(i), in_.v.row(j), d_) - query.delta)) * scale_;
    }

    int64_t length_, d_, window_;
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
Range rows_of(const ChosenRows& chosen, int64_t head, int64_t length) {
    const auto& places = chosen.places;
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
        const Range queries = rows_of(*chosen_.queries, number, length_);
        const Range keys = backward_ ? rows_of(*chosen_.keys, number, length_) : Range{};
        if (queries.count() + keys.count() == 0) return;
        const Head<Real> head(parameters_, inputs_of<Real>(parameters_, inputs_, rotations_, number));
        // The gradients of keys need every query.
        std::vector<Query<Real>> all(static_cast<size_t>(keys.count() > 0 ? length_ : 0));
        std::vector<int64_t> rows(static_cast<size_t>(length_), -1);  // -1 marks a query that is not chosen
        for (int64_t row = queries.first; row < queries.last; ++row)
            rows[static_cast<size_t>(position_of(*chosen_.queries, row))] = row;
        for_each(length_, [&](int64_t i) {
            const int64_t row = rows[static_cast<size_t>(i)];
            if (row < 0 && all.empty()) return;
            typename Head<Real>::Scores scores;
            Query<Real> query = head.forward(i, scores);
            if (backward_) head.preprocess(i, query);
            if (row >= 0 && backward_) head.backward_query(i, scores, query);
            if (row >= 0) put(row, i, query);
            if (!all.empty()) all[static_cast<size_t>(i)] = std::move(query);
        });
        for_each(keys.count(), [&](int64_t key) {
            const int64_t row = keys.first + key, j = position_of(*chosen_.keys, row);
            put(row, j, head.backward_key(j, all));
        });
    }

    // Calls work(row), in parallel if there are enough products to be worth threads. Noisy draws its numbers
    // in order, so its rows stay in order too.
    void for_each(int64_t rows, const std::function<void(int64_t)>& work) const {
        constexpr int64_t worth_threads = 1 << 22;
        const auto unless_stopped = [&](int64_t row) {
            if (!stop_.stop_requested()) work(row);
        };
        if (std::is_same_v<Real, double> && rows * length_ * parameters_.integer("D") > worth_threads)
            return in_parallel(rows, unless_stopped);
        for (int64_t row = 0; row < rows; ++row) unless_stopped(row);
    }

    int64_t position_of(const ChosenRows& chosen, int64_t row) const {
        return chosen.places[static_cast<size_t>(row)] % length_;
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
        outputs_.put("dk1", row, key.dk1);
        outputs_.put("dk2", row, key.dk2);
        outputs_.put("dv", row, key.dv);
        if (rotations_.near.empty()) return;
        std::vector<Real> dk = key.dk2;
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

std::shared_ptr<const ChosenRows> all_rows(const Parameters& parameters) {
    ChosenRows rows{extents_of(parameters), {}};
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

// Computes all rows, or chosen rows if Z H N^2 D is larger than 2^30, or than 2^28 with noise, which a judge
// draws several times.
template <class Real>
Outcome<Arrays> compute(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    constexpr double most = std::is_same_v<Real, Noisy> ? 0x1p28 : 0x1p30;
    double products = parameters.real("N") * parameters.real("D");
    for (const int64_t extent : extents_of(parameters)) products *= static_cast<double>(extent);
    if (products > most) return compute_chosen<Real>(parameters, inputs, std::move(stop));
    const auto all = all_rows(parameters);
    auto outputs = Definition<Real>(parameters, inputs, {all, all}, std::move(stop)).compute();
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
