// The double-precision reference of attention: golden values, derivatives, and chosen rows.

#include <cmath>
#include <set>

#include "app/engine/run/judge.h"
#include "app/engine/run/runner.h"
#include "tests/kernels/attention/run_attention.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_judge.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace attention_facts;

// Multiples of 2^-10: a difference of 2^-8 is exact in f32.
Array wave(const std::string& name, const Shape& shape) {
    const std::vector<std::string> names = {"q1", "q2", "k1", "k2", "v", "do", "q", "k"};
    const auto number = static_cast<double>(std::find(names.begin(), names.end(), name) - names.begin() + 1);
    Array array = Array::uninitialised(name, Dtype::f32, shape);
    for (size_t i = 0; i < array.as<float>().size(); ++i)
        array.as<float>()[i] = static_cast<float>(
            std::round(1024 * std::sin(number + (0.5 + 0.1 * number) * static_cast<double>(i))) / 1024);
    return array;
}

Arrays waves(const Parameters& parameters) {
    Arrays inputs;
    for_each_input(attention_family(), parameters, false, [&](const ArraySpec& row) {
        inputs.push_back(wave(row.name, row.shape_for(parameters, inputs)));
    });
    return inputs;
}

// Returns inputs of the form four: what the prologue makes of q and k, and v and do.
Arrays rotated_inputs(const Arrays& inputs) {
    const Array &q = *find(inputs, "q"), &k = *find(inputs, "k");
    const int64_t length = q.shape[2], d = q.shape[3];
    const auto rotated = [&](const char* name, const Array& from, auto position_of) {
        Array to = Array::uninitialised(name, Dtype::f32, from.shape);
        for (int64_t row = 0; row < from.count() / d; ++row)
            for (int64_t m = 0; m < d / 2; ++m) {
                const double turn = static_cast<double>(position_of(row % length)) *
                                    std::pow(1e4, -2.0 * static_cast<double>(m) / static_cast<double>(d));
                const int64_t at = row * d + m;
                const double x = from.value(at).real(), y = from.value(at + d / 2).real();
                to.as<float>()[static_cast<size_t>(at)] =
                    static_cast<float>(x * std::cos(turn) - y * std::sin(turn));
                to.as<float>()[static_cast<size_t>(at + d / 2)] =
                    static_cast<float>(y * std::cos(turn) + x * std::sin(turn));
            }
        return to;
    };
    const auto own = [](int64_t i) { return i; };
    Array k2 = k;
    k2.name = "k2";
    return {rotated("q1", q, own), rotated("q2", q, [](int64_t) { return 128; }),
            rotated("k1", k, own), k2,
            *find(inputs, "v"),    *find(inputs, "do")};
}

Array as_floats(const Array& from) {
    Array to = Array::uninitialised(from.name, Dtype::f32, from.shape);
    std::copy(from.as<double>().begin(), from.as<double>().end(), to.as<float>().begin());
    return to;
}

Settings small(const Settings& more) {
    return with({{"Z", int64_t{1}}, {"H", int64_t{1}}, {"D", int64_t{16}}, {"backward", true}}, more);
}

struct Golden {
    const char* output;
    double first, last, sum;
};

void check_golden(const Parameters& parameters, const std::vector<Golden>& golden) {
    const Arrays outputs = reference_for(parameters, waves(parameters));
    CHECK(outputs.size() == golden.size());
    for (const auto& [name, first, last, sum] : golden) {
        INFO(name);
        const auto values = find(outputs, name)->as<double>();
        double all = 0;
        for (const double value : values) all += value;
        // Sums of 80 numbers of order 1 in double precision.
        CHECK(values.front() == Approx(first).epsilon(1e-12).margin(1e-13));
        CHECK(values.back() == Approx(last).epsilon(1e-12).margin(1e-13));
        CHECK(all == Approx(sum).epsilon(1e-12).margin(1e-13));
    }
}

// Computed with NumPy from the definition; gradients by complex steps of 1e-30, which have no rounding.
TEST_CASE("the reference has the golden values of both forms", "[attention]") {
    SECTION("four arrays, causal") {
        check_golden(parameters_with(small(
                         {{"N", int64_t{5}}, {"window", int64_t{2}}, {"form", "four"}, {"scale", 0.25}})),
                     {
                         {"o", -0.958984375, 0.5787993470811011, -0.03207492819622004},
                         {"lse", -1.789020976480324, 2.397694402605776, 8.741249126553646},
                         {"delta", -1.303313255310059, -3.426523352485925, -0.4476676235045058},
                         {"dq1", 0, -0.002601605169147038, -0.007557777069236493},
                         {"dq2", 0, -0.07988078921654911, -0.7777968852447279},
                         {"dk1", -0.8184689803163848, -0.01386278139384988, -0.2770482863446386},
                         {"dk2", -0.04603951872945775, 0, 0.5172959460943202},
                         {"dv", -0.9333983607129143, -0.05510906774178626, -0.02050781249999984},
                     });
    }
    SECTION("q and k, every pair") {
        check_golden(parameters_with(small({{"N", int64_t{5}},
                                            {"window", int64_t{3}},
                                            {"form", "qkv"},
                                            {"causal", false},
                                            {"scale", 0.5}})),
                     {
                         {"o", -0.596263004095601, -0.4527626811133404, -2.044019831193752},
                         {"lse", 4.603275221840178, 5.416762789323847, 23.67131728674683},
                         {"delta", 2.110422784738124, 1.491504246908391, 15.55806794243732},
                         {"dq1", 0.06247438272214234, 1.020554043430695, 2.509834004889178},
                         {"dq2", -0.1435985564442867, -0.7700311045064635, -2.170036464820063},
                         {"dk1", 0.3787859324596531, -0.02630522343578755, -2.678747100139132},
                         {"dk2", 1.228756110260665, -0.0004728683802136079, 0.6290044152990386},
                         {"dv", 0.032198706473326, -0.0002719949134753149, -0.02050781249999955},
                         {"dq", 0.2216969391390528, 0.2506493784029565, -3.100396966192406},
                         {"dk", 1.607542042720318, -0.02680724229749435, 4.204637376781007},
                     });
    }
}

// Queries at the last positions, heads that share keys, widths that fill no vector, and another base.
TEST_CASE("the reference has golden values with shared keys and a cache", "[attention]") {
    SECTION("four arrays, causal") {
        check_golden(parameters_with({{"H", int64_t{4}},
                                      {"H_kv", int64_t{2}},
                                      {"N", int64_t{5}},
                                      {"N_q", int64_t{3}},
                                      {"D", int64_t{6}},
                                      {"window", int64_t{2}},
                                      {"form", "four"},
                                      {"scale", 0.25},
                                      {"backward", true}}),
                     {
                         {"o", -0.9772821158133078, 0.9313648873125286, 0.2588759416897295},
                         {"lse", 2.008361344214297, 2.853327836632293, 25.34582303012057},
                         {"delta", -0.1566481952488709, 2.4155870306783, 0.781525091673378},
                         {"dq1", 0.02723750906410059, -0.003517247810948007, -0.08346921173600896},
                         {"dq2", -0.02529937652281276, 0.003988668416898611, -0.1692566976170917},
                         {"dk1", 0, 0.03003593742683438, 0.14472811912108},
                         {"dk2", 0.006567634740299724, 0, 0.1521766408835641},
                         {"dv", 0.8185681598571614, 0.2604026817892375, 1.589843749999999},
                     });
    }
    SECTION("q and k, every pair") {
        check_golden(parameters_with({{"H", int64_t{3}},
                                      {"H_kv", int64_t{1}},
                                      {"N", int64_t{4}},
                                      {"N_q", int64_t{2}},
                                      {"D", int64_t{10}},
                                      {"window", int64_t{2}},
                                      {"causal", false},
                                      {"scale", 0.5},
                                      {"base", 100.0},
                                      {"backward", true}}),
                     {
                         {"o", -0.3209075178337667, 0.07053106905733426, -2.809055527010518},
                         {"lse", 0.4968925318188477, 3.662724507264453, 5.763197707362558},
                         {"delta", -0.3383708108046054, 0.8149155092159605, 0.5454453586417974},
                         {"dq1", -0.09415547613133433, 0.2261287589906517, -0.6049970653762402},
                         {"dq2", 0.2138445429514927, -0.2617052508573741, 0.009034581430867439},
                         {"dk1", 0, -0.1894335830615652, 1.035845559133717},
                         {"dk2", -0.4981765952659157, 0, -0.6776453130798017},
                         {"dv", -0.3979034039004806, 0.1771227007049479, 1.30859375},
                         {"dq", -0.1445148317984292, -0.03895212027899658, -0.4961698335542911},
                         {"dk", -0.4981765952659157, -0.1820174850342485, -0.8262618507943658},
                     });
    }
}

TEST_CASE("gradients of attention agree with central differences of the reference", "[attention]") {
    const bool causal = GENERATE(true, false);
    const std::string form = GENERATE("four", "qkv");
    const bool shares_keys = GENERATE(false, true);
    Settings settings =
        small({{"N", int64_t{7}}, {"window", int64_t{3}}, {"causal", causal}, {"form", form}});
    if (shares_keys)
        settings = with(settings, {{"H", int64_t{2}},
                                   {"H_kv", int64_t{1}},
                                   {"N_q", int64_t{4}},
                                   {"D", int64_t{6}},
                                   {"base", 50.0}});
    const auto parameters = parameters_with(settings);
    Arrays inputs = waves(parameters);
    const Arrays gradients = reference_for(parameters, inputs);
    const Array dout = *find(inputs, "do");
    Parameters forward = parameters;
    forward.set("backward", false);
    const auto loss = [&] {
        const Arrays outputs = reference_for(forward, inputs);
        double sum = 0;
        for (int64_t i = 0; i < dout.count(); ++i) sum += outputs[0].value(i).real() * dout.value(i).real();
        return sum;
    };
    INFO(form << (causal ? " causal" : ""));
    for (Array& input : inputs) {
        if (input.name == "do") continue;
        const Array& gradient = *find(gradients, "d" + input.name);
        for (size_t i = 0; i < input.as<float>().size(); ++i) {
            float& number = input.as<float>()[i];
            const float value = number;
            const auto difference = [&](float step) {
                number = value + step;
                const double above = loss();
                number = value - step;
                const double below = loss();
                number = value;
                return above - below;
            };
            // The formula is of fourth order: it is off by step^4 / 30 = 8e-12 times a fifth derivative,
            // which is of order 100 at most.
            constexpr float step = 1.0f / 256;
            const double wanted = (8 * difference(step) - difference(2 * step)) / (12.0 * step);
            INFO(input.name << "[" << i << "]");
            CHECK(gradient.value(static_cast<int64_t>(i)).real() ==
                  Approx(wanted).epsilon(1e-9).margin(1e-9));
        }
    }
}

TEST_CASE("chosen rows have the values of the whole reference", "[attention]") {
    const bool causal = GENERATE(true, false), backward = GENERATE(true, false);
    const std::string form = GENERATE("four", "qkv");
    const auto [key_heads, queries] = GENERATE(table<int64_t, int64_t>({{3, 90}, {1, 90}, {3, 17}, {1, 33}}));
    const auto parameters = parameters_with({{"Z", int64_t{2}},
                                             {"H", int64_t{3}},
                                             {"H_kv", key_heads},
                                             {"N", int64_t{90}},
                                             {"N_q", queries},
                                             {"D", int64_t{16}},
                                             {"window", int64_t{20}},
                                             {"causal", causal},
                                             {"form", form},
                                             {"backward", backward}});
    const Arrays inputs = generated_inputs(parameters);
    const Arrays whole = reference_for(parameters, inputs);
    const auto chosen = attention::reference_of_chosen_rows(parameters, inputs, {});
    REQUIRE(chosen);
    REQUIRE(chosen->size() == whole.size() + (backward ? 2 : 1));
    for (const Array& all : whole) {
        INFO(all.name);
        const Array& some = *find(*chosen, all.name);
        CHECK_FALSE(all.rows);
        REQUIRE(some.rows);
        CHECK(some.whole_shape() == all.shape);
        const bool of_keys = all.name.starts_with("dk") || all.name == "dv";
        const Array& rows = *find(*chosen, of_keys ? "key_rows" : "rows");
        REQUIRE(rows.shape == Shape{some.shape[0], 3});
        const int64_t width = some.count() / some.shape[0];
        for (int64_t r = 0; r < some.shape[0]; ++r) {
            const auto at = rows.as<int32_t>().subspan(static_cast<size_t>(3 * r), 3);
            const int64_t first = ((at[0] * all.shape[1] + at[1]) * all.shape[2] + at[2]) * width;
            for (int64_t m = 0; m < width; ++m) REQUIRE(some.value(r * width + m) == all.value(first + m));
        }
    }
}

struct Row {
    int64_t head, position;
    auto operator<=>(const Row&) const = default;  // NOLINT(modernize-use-nullptr): not written here
};

std::set<Row> rows_in(const Array& rows, int64_t heads) {
    std::set<Row> all;
    for (size_t r = 0; r < rows.as<int32_t>().size(); r += 3)
        all.insert({rows.as<int32_t>()[r] * heads + rows.as<int32_t>()[r + 1], rows.as<int32_t>()[r + 2]});
    return all;
}

TEST_CASE("enough rows are chosen, of every head and around the borders of the window", "[attention]") {
    struct Case {
        int64_t batch, heads, length, window;
    };
    // A batch; more heads than chosen rows; a window at the end of the sequence; one beyond it.
    const auto [batch, heads, length, window] =
        GENERATE(Case{2, 3, 700, 64}, Case{3, 100, 40, 8}, Case{1, 1, 300, 299}, Case{1, 2, 200, 1000});
    const auto parameters = parameters_with({{"Z", batch},
                                             {"H", heads},
                                             {"N", length},
                                             {"D", int64_t{16}},
                                             {"window", window},
                                             {"backward", true}});
    const auto chosen = attention::reference_of_chosen_rows(parameters, generated_inputs(parameters), {});
    REQUIRE(chosen);
    const std::set<Row> queries = rows_in(*find(*chosen, "rows"), heads);
    const std::set<Row> keys = rows_in(*find(*chosen, "key_rows"), heads);
    INFO("N " << length << " window " << window);
    CHECK(std::cmp_greater_equal(queries.size(), 256));
    CHECK(std::cmp_greater_equal(keys.size(), std::min<int64_t>(length, 64)));
    for (const int64_t position : {int64_t{0}, window - 1, window, length - window, length - 1})
        if (position >= 0 && position < length) {
            INFO(position);
            CHECK(queries.contains({0, position}));
            CHECK(queries.contains({batch * heads - 1, position}));
            CHECK(keys.contains({0, position}));
        }
    std::set<int64_t> heads_met, eighths, eighths_of_keys, places_in_tiles;
    for (const auto& [head, position] : queries) {
        heads_met.insert(head);
        eighths.insert(position * 8 / length);
        places_in_tiles.insert(position % 16);
    }
    for (const auto& [head, position] : keys) {
        CHECK(head == 0);
        eighths_of_keys.insert(position * 8 / length);
    }
    CHECK(std::cmp_greater_equal(heads_met.size(), std::min<int64_t>(batch * heads, 192)));
    CHECK(eighths.size() == 8);
    CHECK(eighths_of_keys.size() == 8);
    CHECK(places_in_tiles.size() == 16);
}

// At these borders a row and its neighbours may be in tiles of different kinds, or in the short last one.
TEST_CASE("rows are chosen around the borders of tiles of every size", "[attention]") {
    constexpr int64_t length = 5000, window = 1030;
    const auto parameters = parameters_with(
        {{"H", int64_t{4}}, {"N", length}, {"D", int64_t{16}}, {"window", window}, {"backward", true}});
    const auto chosen = attention::reference_of_chosen_rows(parameters, generated_inputs(parameters), {});
    REQUIRE(chosen);
    std::set<int64_t> borders;
    for (int64_t border = 16; border <= 256; border += 16) borders.insert(border);
    for (int64_t size = 16; size <= 256; size *= 2)
        for (const int64_t edge : {window, length - window}) {
            borders.insert(edge / size * size);
            borders.insert((edge / size + 1) * size);
        }
    for (int64_t size = 16; size <= 256; size *= 2) borders.insert((length - 1) / size * size);
    std::set<int64_t> queries, heads;
    for (const auto& [head, position] : rows_in(*find(*chosen, "rows"), 4)) {
        queries.insert(position);
        heads.insert(head);
    }
    const std::set<Row> keys = rows_in(*find(*chosen, "key_rows"), 4);
    CHECK(heads.size() == 4);
    for (const int64_t border : borders)
        for (int64_t i = border - 1; i <= border + 1; ++i) {
            INFO(i);
            CHECK(queries.contains(i));
            CHECK(keys.contains({0, i}));
        }
}

TEST_CASE("saturated softmaxes are never called wrong", "[attention][cpu]") {
    const double scale = GENERATE(0.25, 3.0, 30.0, 100.0);
    const int64_t length = GENERATE(1, 2, 3, 50);
    const std::string dtype = GENERATE("f32", "f16");
    const auto parameters = parameters_with({{"N", length},
                                             {"D", int64_t{32}},
                                             {"window", int64_t{20}},
                                             {"scale", scale},
                                             {"dtype", dtype},
                                             {"backward", true}});
    const Arrays inputs = generated_inputs(parameters);
    for (const char* name : {"naive", "streaming"}) {
        const Ran ran = run(name, parameters, inputs);
        for (const OutputVerdict& verdict :
             judged(attention_family(), name, parameters, inputs, ran.outputs)) {
            INFO(name << " " << verdict.output << ", N " << length << ", scale " << scale << ", " << dtype);
            CHECK(verdict.verdict != Verdict::wrong);
            if (verdict.output == "o") CHECK(verdict.verdict == Verdict::right);
        }
    }
}

// 2^29 products: the reference has all rows, the judge chooses some.
TEST_CASE("of many queries some are judged, those at the end among them", "[attention]") {
    const auto parameters = parameters_with({{"H", int64_t{1}}, {"N", int64_t{2048}}, {"D", int64_t{128}}});
    const Arrays inputs = generated_inputs(parameters);
    CHECK_FALSE(find(reference_for(parameters, inputs), "o")->rows);
    Ran ran = run("streaming", parameters, inputs);
    Definitions definitions;
    const auto verdict = [&] {
        return judged(attention_family(), "streaming", parameters, inputs, ran.outputs, Backend::cpu,
                      &definitions)[0];
    };
    const OutputVerdict right = verdict();
    CHECK(right.verdict == Verdict::right);
    CHECK(right.judged >= 256 * 128);
    CHECK(right.judged < 512 * 128);
    ran.outputs[0].as<float>().back() += 1;
    CHECK(verdict().elements == 1);
}

// What naive computes on CUDA: rotated queries and keys are rounded to bf16 between its launches.
TEST_CASE("a saturated softmax of rounded queries and keys is right on CUDA alone", "[attention]") {
    const auto parameters = parameters_with(
        {{"N", int64_t{3}}, {"D", int64_t{128}}, {"scale", 1.0}, {"dtype", "bf16"}, {"backward", true}});
    const Family& family = attention_family();
    const auto of_k1 = [](const Arrays& outputs) -> const Array& { return *find(outputs, "dk1"); };
    double farthest = 0;
    int wrong_on_cpu = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const Arrays inputs = generated_inputs(parameters, false, seed);
        Parameters four = parameters;
        four.set("form", "four");
        Arrays rotated = rotated_inputs(inputs);
        for (Array& array : rotated) cpu::round_to(Storage::bf16, array.as<float>().data(), array.count());
        Arrays outputs = run("naive", four, rotated).outputs;
        const Arrays exact = reference_for(parameters, inputs);
        farthest = std::max(farthest, distance(of_k1(outputs), of_k1(exact)));
        for (const char* name : {"dq", "dk"})
            outputs.push_back(*find(exact, name));  // this form does not have them
        for (Array& array : outputs)
            if (array.dtype == Dtype::f64) array = as_floats(array);
        for (const OutputVerdict& verdict :
             judged(family, "naive", parameters, inputs, outputs, Backend::cuda)) {
            INFO(verdict.output << ", inputs " << seed);
            CHECK(verdict.verdict != Verdict::wrong);
        }
        for (const OutputVerdict& verdict : judged(family, "naive", parameters, inputs, outputs))
            wrong_on_cpu += verdict.output == "dk1" && verdict.verdict == Verdict::wrong;
    }
    CHECK(farthest > 0.05);
    CHECK(wrong_on_cpu > 10);
}

TEST_CASE("a window or a mask that is off by one is wrong", "[attention][cpu]") {
    const auto parameters =
        parameters_with({{"N", int64_t{200}}, {"D", int64_t{16}}, {"window", int64_t{50}}, {"form", "four"}});
    const Arrays inputs = generated_inputs(parameters);
    const auto wrong_elements = [&](const Parameters& other) {
        const Ran ran = run("streaming", other, inputs);
        const auto verdicts = judged(attention_family(), "streaming", parameters, inputs, ran.outputs);
        return std::pair(verdicts[0].verdict, verdicts[0].elements);
    };
    CHECK(wrong_elements(parameters) == std::pair(Verdict::right, int64_t{0}));
    Parameters wider = parameters;
    wider.set("window", int64_t{51});
    const auto [verdict, elements] = wrong_elements(wider);
    CHECK(verdict == Verdict::wrong);
    CHECK(elements > 149 * 16 / 2);  // queries from 50 on
}

TEST_CASE("the reference is whole up to 2^30 products, and chosen rows beyond", "[attention][engine]") {
    Runner runner(shared_cache());
    // Z H N^2 D = 2^30, and a little more.
    const int64_t length = GENERATE(4096, 4097);
    Request request;
    request.family = "attention";
    request.variants = {"streaming"};
    request.repeats = 1;
    request.threads = 1;
    request.parameters = {};
    for (const auto& [name, value] : Settings{{"H", int64_t{1}}, {"N", length}, {"D", int64_t{64}}})
        request.parameters.set(name, value);
    const auto outcome = runner.run(request, {});
    REQUIRE(outcome);
    const Result& result = **outcome;
    const Array& o = *find(result.reference, "o");
    const OutputError& error = result.variants.front().errors.front();
    CHECK(*error.rel_l2 < 1e-5);  // roundings of f32
    CHECK(error.nonfinite == 0);
    REQUIRE(error.by_position.size() == static_cast<size_t>(length));
    const auto known = std::count_if(error.by_position.begin(), error.by_position.end(),
                                     [](float value) { return !std::isnan(value); });
    const auto tells = [](const std::string& note) { return contains(note, "chosen rows of 4,097"); };
    const auto notes = std::count_if(result.notes.begin(), result.notes.end(), tells);
    if (length == 4096) {
        CHECK(o.shape == Shape{1, 1, 4096, 64});
        CHECK(known == 4096);
        CHECK(notes == 0);
    } else {
        CHECK(o.shape == Shape{find(result.reference, "rows")->shape[0], 64});
        CHECK(known == o.shape[0]);
        CHECK(notes == 1);
    }
}

TEST_CASE("the reference stops on request", "[attention]") {
    const auto parameters = parameters_with({{"backward", true}});
    std::stop_source stop;
    stop.request_stop();
    for (const auto reference : {attention::reference, attention::reference_of_chosen_rows}) {
        const auto outcome = reference(parameters, generated_inputs(parameters), stop.get_token());
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == Error::Kind::cancelled);
    }
}

}  // namespace
}  // namespace sawtooth
