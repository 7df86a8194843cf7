// tnt for every rule, windows of every token and lattice_gla of trellis: numbers of an independent program,
// and shards put together from runs of the exact rule.

#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

using namespace memory_facts;

// Numbers that are exact in f32, from a rule that any program can repeat: ((7 i + offset) mod 19 - 9) /
// divisor.
Array pattern(const char* name, Shape shape, int64_t offset, float divisor) {
    Array array = Array::zeros(name, Dtype::f32, std::move(shape));
    int64_t i = 0;
    for (float& value : array.as<float>()) value = static_cast<float>((7 * i++ + offset) % 19 - 9) / divisor;
    return array;
}

Arrays small_inputs() {
    return {pattern("k", {1, 6, 2}, 1, 8),
            pattern("v", {1, 6, 2}, 5, 8),
            pattern("q", {1, 6, 2}, 7, 8),
            pattern("x", {1, 6, 2}, 3, 8),
            floats("alpha", {1, 6}, {2 / 64.f, 0, 5 / 64.f, 3 / 64.f, 1 / 64.f, 6 / 64.f}),
            floats("eta", {1, 6}, {1 / 16.f, 4 / 16.f, 2 / 16.f, 0, 3 / 16.f, 1 / 16.f}),
            floats("theta", {1, 6}, {3 / 16.f, 7 / 16.f, 2 / 16.f, 6 / 16.f, 1 / 16.f, 5 / 16.f}),
            integers("omega_windows", {1, 6}, {1, 2, 3, 1, 4, 2}),
            pattern("m0", {1, 2, 2}, 4, 16),
            pattern("s0", {1, 2, 2}, 10, 16),
            pattern("slots", {1, 3, 2}, 2, 8),
            pattern("w_omega", {2, 4}, 9, 16),
            pattern("sk0", {1, 2, 2}, 6, 16),
            pattern("sv0", {1, 2, 2}, 8, 16)};
}

// The small inputs that the rule uses.
Arrays small_inputs_for(const Parameters& parameters) {
    Arrays used;
    for (const Array& input : small_inputs())
        if (memory_family().array(input.name)->is_used(parameters)) used.push_back(input);
    return used;
}

struct Golden {
    const char *strategy, *rule;
    std::vector<std::pair<const char*, std::vector<double>>> outputs;
};

const std::vector<Golden> golden = {
    {"sequential",
     "atlas_omega",
     {{"y",
       {0.2146830495, -0.3111197387, 0.1154219906, -0.06104071463, -0.2983995355, 0.05768838587, 0.2791387969,
        0.03179459749, 0.2198564841, 0.3111021725, -0.2316228045, 0.2991866121}},
      {"m", {0.2201910293, 0.1058745155, -0.317433276, 0.1273466267}},
      {"s", {0.2074701938, -0.1527222846, -0.0002683401773, 0.01279989874}}}},
    {"chunkwise_gd",
     "atlas_omega",
     {{"y",
       {0.2146830495, -0.3111197387, 0.06674967991, 0.004425052121, -0.2503643612, -0.03989512427,
        0.291082837, 0.1137308095, 0.1805923119, 0.5889784086, -0.2785195461, 0.47840781}},
      {"m", {0.2674653103, 0.1057738855, -0.512794939, 0.2453124394}},
      {"s", {0.1981295831, -0.1508051383, 0.04139302207, -0.006248693325}}}},
    {"tnt",
     "atlas_omega",
     {{"y",
       {0.1871188978, -0.3278033042, 0.1216128334, -0.07453136216, -0.28498389, 0.07275551116, 0.001457501513,
        0.1640324741, 0.2659787428, -0.4548772496, -2.007049771e-05, -0.2742878271}},
      {"m", {-0.2661496578, 0.06481980561, 0.4622387814, -0.03578280633}}}},
    {"tnt",
     "atlas",
     {{"y",
       {0.2219524529, -0.3568539652, 0.2792912265, -0.383968043, -0.2592120966, 0.3315391988, 0.0135628691,
        0.02236451945, 0.2635574694, -0.4435013764, 0.1884273453, -0.3575460933}},
      {"m", {-0.2289383869, 0.01719008741, 0.4146090632, -0.001058235457}}}},
    {"tnt",
     "lattice",
     {{"y",
       {-0.3011948178, 0.5779815188, -0.6105913468, 0.209335168, 0.1434613488, -0.5300761146, -0.03247341064,
        0.6259250695, -0.4163936576, 0.6289711349, -0.4224187966, 0.5097535099}},
      {"m", {-0.8673664261, 0.4976700543, 0.9421160713, -0.3352869043, 0.1336276244, 0.991031613}}}},
    {"tnt",
     "trellis",
     {{"y",
       {-0.07068012316, -0.3815644947, 0.9367199428, 0.18241481, -0.7410984517, -0.3606770986, -0.07639436089,
        -0.5635833815, 0.01974010768, 0.63165594, -0.6751957305, 0.4110380392}},
      {"sk", {0.1425806083, -0.1161109593, -0.5292216317, 0.1243117345}},
      {"sv", {0.1708721236, -0.4537691225, -0.1846016187, 0.2611823916}}}},
    {"lattice_gla",
     "trellis",
     {{"y",
       {-0.494351279, -1.575367022, 0.5997630703, 0.709274778, -0.3470909042, -0.5276029434, -0.1498560987,
        -0.02782456529, 1.794616176, 1.789831882, -0.2879767434, -0.002022362375}},
      {"sk", {1.405422547, -0.1574403493, -1.270461948, -0.6212297791}},
      {"sv", {1.051654992, -0.9455272481, -1.351063775, -0.4178835678}}}},
};

TEST_CASE("small runs of memory give the numbers of an independent program", "[memory][cpu]") {
    for (const auto& [strategy, rule, outputs] : golden) {
        const auto parameters = parameters_with({{"rule", rule},
                                                 {"length", int64_t{6}},
                                                 {"d", int64_t{2}},
                                                 {"slot_count", int64_t{3}},
                                                 {"compress", int64_t{2}},
                                                 {"omega_window", int64_t{4}},
                                                 {"chunk", int64_t{4}},
                                                 {"C_G", int64_t{4}},
                                                 {"C_L", int64_t{3}}});
        const Arrays inputs = small_inputs_for(parameters);
        const Arrays defined = definition_of(strategy, parameters, inputs);
        const Ran ran = run(strategy, parameters, inputs);
        for (const auto& [name, values] : outputs) {
            Array wanted = Array::zeros(name, Dtype::f64, ran[name].shape);
            REQUIRE(wanted.as<double>().size() == values.size());
            std::ranges::copy(values, wanted.as<double>().begin());
            INFO(strategy << " " << rule << " " << name);
            CHECK(distance(*find(defined, name), wanted) < 1e-9);  // the numbers have ten digits
            CHECK(distance(ran[name], wanted) < 1e-6);
        }
    }
}

// Tokens `first` … `last` - 1 of inputs of one sequence, without the states.
Arrays tokens_of(const Arrays& inputs, int64_t first, int64_t last) {
    Arrays part;
    for (const Array& input : inputs) {
        const ArraySpec& row = *memory_family().array(input.name);
        if (row.dimensions.size() < 2 || row.dimensions[1] != "length") {
            if (input.name == "w_omega") part.push_back(input);
            continue;
        }
        Shape shape = input.shape;
        const int64_t bytes = input.bytes() / shape[1];
        shape[1] = last - first;
        part.push_back(Array::uninitialised(input.name, input.dtype, shape));
        std::memcpy(part.back().data.get(), input.data.get() + first * bytes,
                    static_cast<size_t>(part.back().bytes()));
    }
    return part;
}

// A state as an input: in f32, under the name of the initial state.
Array as_input(const Array& state, const char* name) {
    Array input = Array::zeros(name, Dtype::f32, state.shape);
    for (int64_t i = 0; i < state.count(); ++i)
        input.as<float>()[static_cast<size_t>(i)] = static_cast<float>(state.value(i).real());
    return input;
}

// M = (1 - a) M + mean mean^T with the means of y [1, count, d] and alpha over the shard.
void step_global(Array& m, const Array& y, const Array& alpha, int64_t first) {
    const int64_t count = y.shape[1], d = y.shape[2];
    std::vector<double> mean(static_cast<size_t>(d));
    double forgets = 0;
    for (int64_t t = 0; t < count; ++t) {
        forgets += alpha.value(first + t).real() / static_cast<double>(count);
        for (int64_t i = 0; i < d; ++i)
            mean[static_cast<size_t>(i)] += y.value(t * d + i).real() / static_cast<double>(count);
    }
    for (int64_t i = 0; i < d * d; ++i) {
        float& value = m.as<float>()[static_cast<size_t>(i)];
        value = static_cast<float>((1 - forgets) * value +
                                   mean[static_cast<size_t>(i / d)] * mean[static_cast<size_t>(i % d)]);
    }
}

// tnt in double, except for states between local memories: every local memory is a run of the exact rule over
// its own tokens.
struct Shards {
    const Settings& settings;
    const Arrays& inputs;
    Arrays global;  // initial states, by the names of the inputs
    Array y;

    void run(int64_t length, int64_t shard, int64_t local) {
        for (int64_t first = 0; first < length; first += shard) {
            const int64_t last = std::min(first + shard, length);
            Arrays after;
            for (int64_t begin = first; begin < last; begin += local)
                after = run_local(begin, std::min(begin + local, last));
            if (find(global, "m0"))
                step_global(*find(global, "m0"), tokens_of({y}, first, last)[0], *find(inputs, "alpha"),
                            first);
            else
                global = after;
        }
    }
    Arrays run_local(int64_t first, int64_t last) {
        const auto parameters = parameters_with(with(settings, {{"length", last - first}}));
        Arrays own = tokens_of(inputs, first, last);
        own.insert(own.end(), global.begin(), global.end());
        const Arrays outputs = *memory::reference(parameters, own, {});
        const Array& part = *find(outputs, "y");
        std::ranges::copy(part.as<double>(), y.as<double>().begin() + first * y.shape[2]);
        if (parameters.is("rule", "lattice")) return {as_input(*find(outputs, "m"), "slots")};
        if (!parameters.is("rule", "trellis")) return {};
        return {as_input(*find(outputs, "sk"), "sk0"), as_input(*find(outputs, "sv"), "sv0")};
    }
};

TEST_CASE("a local memory of tnt is a run of its own, for every rule", "[memory][cpu]") {
    const std::string rule = any_rule();
    // Three shards, the last one short; one shard; as many local memories as tokens.
    const auto [shard, local] = GENERATE(table<int64_t, int64_t>({{40, 7}, {1000, 30}, {16, 1}}));
    const Settings settings = {{"rule", rule},
                               {"d", int64_t{19}},
                               {"compress", int64_t{6}},
                               {"slot_count", int64_t{5}},
                               {"omega_window", int64_t{12}}};
    const auto parameters =
        parameters_with(with(settings, {{"length", int64_t{90}}, {"C_G", shard}, {"C_L", local}}));
    Arrays inputs = rule == "atlas_omega" ? inputs_with_windows(parameters) : inputs_for(parameters);
    // Values have about length 1, as in a layer: the global memory adds the square of y.
    for (float& value : find(inputs, "v")->as<float>()) value *= 0.2f;
    Shards shards{settings, inputs, {}, Array::zeros("y", Dtype::f64, {1, 90, 19})};
    for (const char* const name : {"m0", "slots", "sk0", "sv0"})
        if (const Array* const state = find(inputs, name)) shards.global.push_back(as_input(*state, name));
    shards.run(90, shard, local);
    INFO(rule << " C_G " << shard << " C_L " << local);
    const Arrays defined = definition_of("tnt", parameters, inputs);
    const Ran ran = run("tnt", parameters, inputs);
    CHECK(distance(*find(defined, "y"), shards.y) < 1e-5);
    CHECK(distance(ran["y"], shards.y) < 1e-5);
    for (const auto& [name, state] :
         {std::pair("m0", "m"), std::pair("slots", "m"), std::pair("sk0", "sk"), std::pair("sv0", "sv")})
        if (const Array* const wanted = find(shards.global, name)) {
            INFO(name);
            CHECK(distance(*find(defined, state), *wanted) < 1e-5);
            CHECK(distance(ran[state], *wanted) < 1e-5);
        }
}

}  // namespace
}  // namespace sawtooth
