
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "app/engine/files/files.h"
#include "app/engine/files/npz.h"
#include "app/engine/guarded.h"
#include "app/engine/machine/devices.h"
#include "app/engine/machine/memory.h"
#include "app/engine/run/compare.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/run/runner.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/sweep_loop.h"
#include "kernels/families.h"
#include "tests/engine/engine_events.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/presets.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

Array ramp(std::string name, Shape shape) {
    Array array = Array::uninitialised(std::move(name), Dtype::f32, std::move(shape));
    for (size_t i = 0; i < array.as<float>().size(); ++i) array.as<float>()[i] = static_cast<float>(i);
    return array;
}

TEST_CASE("sizes come from arrays unless they were set, and a contradiction is refused", "[engine]") {
    const Arrays given = {ramp("x", {2, 5, 3})};
    Request request = scan_request();
    request.input = "in.npz";
    const auto configuration = configure(request, given);
    REQUIRE(configuration);
    CHECK(configuration->parameters.integer("length") == 5);
    CHECK(configuration->parameters.integer("channels") == 3);

    request.parameters.set("length", int64_t{5});
    CHECK(configure(request, given));
    request.parameters.set("length", int64_t{6});
    const auto refused = configure(request, given);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().exit_code() == 2);
    for (const char* word : {"length", "6", "x", "in.npz", "5"})
        CHECK(refused.error().text.find(word) != std::string::npos);
}

TEST_CASE("contradictory arrays and unknown names are refused with the array", "[engine]") {
    Request request = scan_request({{"op", "linear"}});
    request.input = "in.npz";
    const auto text = [&](const Arrays& given) {
        const auto outcome = configure(request, given);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().exit_code() == 2);
        return outcome.error().text;
    };
    CHECK(text({ramp("x", {2, 5, 3}), ramp("a", {2, 6, 3})}).find("length is 5 in array x") !=
          std::string::npos);
    CHECK(text({ramp("z", {1})}).find("Inputs: x, a, initial, dy") != std::string::npos);
    CHECK(text({ramp("x", {2, 5})}).find("3 dimensions") != std::string::npos);
    CHECK(text({ramp("x", {2, 0, 3})}).find("length") != std::string::npos);
    CHECK(text({ramp("y", {2, 5, 3})}).find("not an input of scan") != std::string::npos);
}

TEST_CASE("arrays that the operator does not use are left out, with a note", "[engine]") {
    const Arrays given = {ramp("x", {2, 5, 3}), ramp("a", {2, 5, 3})};
    const auto configuration = configure(scan_request(), given);
    REQUIRE(configuration);
    CHECK(find(configuration->given, "a") == nullptr);
    REQUIRE(configuration->notes.size() == 1);
    CHECK(configuration->notes[0] == "a of the input file is not used with these settings");
}

TEST_CASE("wrong names and values are refused with the accepted ones", "[engine]") {
    const auto text = [](const Request& request) {
        const auto outcome = configure(request, {});
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().exit_code() == 2);
        return outcome.error().text;
    };
    CHECK(text(scan_request({{"chunk", int64_t{1}}}))
              .find("Parameters: batch (sequences), length (positions)") != std::string::npos);
    CHECK(text(scan_request({{"batch", int64_t{0}}})).find("1 to") != std::string::npos);
    Request request = scan_request();
    request.variants = {"fast"};
    CHECK(text(request).find("sequential, hillis_steele") != std::string::npos);
    request = scan_request();
    request.preset = "huge";
    CHECK(text(request).find("paper") != std::string::npos);
    request = scan_request();
    request.family = "scn";
    CHECK(text(request).find("scan") != std::string::npos);
}

TEST_CASE("every family has kernels, one without a plan has none", "[engine]") {
    CHECK(offered_families() == families());
    Family family = *families().front();
    CHECK(family.has_kernels());
    for (Variant& variant : family.variants) variant.plan_cpu = variant.plan_cuda = nullptr;
    CHECK_FALSE(family.has_kernels());
}

TEST_CASE("a given input does not change the generated ones", "[engine]") {
    const auto all = configure(
        scan_request(
            {{"op", "linear"}, {"batch", int64_t{2}}, {"length", int64_t{5}}, {"channels", int64_t{3}}}),
        {});
    Request with_x = scan_request({{"op", "linear"}});
    const auto given = configure(with_x, {ramp("x", {2, 5, 3})});
    REQUIRE(all);
    REQUIRE(given);
    Request seventh;
    seventh.seed = 7;
    const Arrays drawn = *make_inputs(*all, seventh, {}), mixed = *make_inputs(*given, seventh, {});
    CHECK(std::ranges::equal(find(drawn, "a")->as<float>(), find(mixed, "a")->as<float>()));
    CHECK(find(mixed, "x")->as<float>()[4] == 4);
}

TEST_CASE("inputs are rounded to the dtype first", "[engine]") {
    const auto configuration = configure(scan_request({{"dtype", "bf16"}}), {});
    REQUIRE(configuration);
    const Arrays inputs = *make_inputs(*configuration, {}, {});
    for (float value : find(inputs, "x")->as<float>()) {
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        REQUIRE((bits & 0xFFFF) == 0);
    }
}

TEST_CASE("errors are reported in three ways, non-finite values separately", "[engine]") {
    Array output = ramp("y", {1, 3, 2});
    Array reference = Array::uninitialised("y", Dtype::f64, {1, 3, 2});
    for (size_t i = 0; i < 6; ++i) reference.as<double>()[i] = static_cast<double>(i);
    output.as<float>()[3] += 0.5f;
    const OutputError error = compare(output, reference, 1);
    CHECK(*error.max_abs == 0.5);
    CHECK(*error.rel_l2 == Approx(0.5 / std::sqrt(55.0)));
    CHECK(error.nonfinite == 0);
    CHECK(error.by_position == std::vector<float>{0, 0.5f, 0});

    output.as<float>()[2] = NAN;
    const OutputError strange = compare(output, reference, 1);
    CHECK(strange.nonfinite == 1);
    CHECK(strange.first_nonfinite == 2);
    CHECK(*strange.max_abs == 0.5);
    for (size_t i = 0; i < 6; ++i) reference.as<double>()[i] = 0;
    CHECK_FALSE(compare(ramp("y", {1, 3, 2}), reference, 1).rel_l2);
}

TEST_CASE("errors over chosen rows leave the others unknown, but not their non-finite values", "[engine]") {
    // Rows (0, 1) and (1, 2) of [2, 3]: elements 2, 3 and 10, 11.
    Array output = ramp("y", {2, 3, 2});
    Array reference = Array::uninitialised("y", Dtype::f64, {2, 2});
    reference.rows = std::make_shared<const ChosenRows>(ChosenRows{{2, 3}, {1, 5}});
    const auto wanted = {2.0, 3.0, 10.0, 11.0};
    std::copy(wanted.begin(), wanted.end(), reference.as<double>().begin());
    output.as<float>()[11] += 0.5f;
    output.as<float>()[4] = 100;  // this element is in no row
    const OutputError error = compare(output, reference, 1);
    CHECK(*error.max_abs == 0.5);
    CHECK(*error.rel_l2 == Approx(0.5 / std::sqrt(4 + 9 + 100 + 121.0)));
    CHECK(error.nonfinite == 0);
    REQUIRE(error.by_position.size() == 3);
    CHECK(std::isnan(error.by_position[0]));
    CHECK(error.by_position[1] == 0);
    CHECK(error.by_position[2] == 0.5f);

    output.as<float>()[4] = NAN;
    output.as<float>()[3] = INFINITY;
    const OutputError strange = compare(output, reference, 1);
    CHECK(strange.nonfinite == 2);
    CHECK(strange.first_nonfinite == 3);
    CHECK(*strange.max_abs == 0.5);
}

TEST_CASE("a run returns outputs, errors, times and launches of every variant", "[engine]") {
    Runner runner(shared_cache());
    const auto outcome = runner.run(scan_request(), {}, [&](const Progress& progress, auto) {
        CHECK(progress.fraction >= 0);
        CHECK(progress.fraction <= 1);
    });
    REQUIRE(outcome);
    const Result& result = **outcome;
    CHECK(result.complete);
    REQUIRE(result.variants.size() == find_family("scan")->variants.size());
    for (const VariantResult& variant : result.variants) {
        CHECK(variant.time->samples.size() == 2);
        CHECK_FALSE(variant.launches.empty());
        REQUIRE(variant.errors.size() == 1);
        CHECK(*variant.errors[0].rel_l2 < 1e-5);
        CHECK(variant.errors[0].by_position.size() == 4096);
        CHECK(variant.memory_bytes > 0);
    }
    REQUIRE(result.ceilings);
    CHECK(result.ceilings->copy_bytes_per_second > 0);
    REQUIRE(result.copy);
    CHECK(result.copy->bytes == result.work.bytes);
    CHECK(result.copy->time.median > 0);
    CHECK(result.in_turns);
    CHECK(result.copy->time.samples.size() == 2);
    // The limits are cached with date and processor: another runner finds them in the folder.
    Runner other(shared_cache());
    const auto machine = other.machine(result.request, **find_offered_family("scan"));
    REQUIRE(machine);
    const auto kept = other.ceilings(*machine, {});
    REQUIRE(kept);
    CHECK(kept->copy_bytes_per_second == result.ceilings->copy_bytes_per_second);
}

TEST_CASE("outputs come before times, times before verdicts, and nothing changes on the way", "[engine]") {
    Runner runner(shared_cache());
    // The family memory stores boundaries in the displayed run but not in timed runs.
    Request request;
    request.family = GENERATE("scan", "memory");
    request.repeats = 2;
    request.parameters.set("length", int64_t{200});
    std::vector<std::shared_ptr<const Result>> shown;
    const auto outcome = runner.run(request, {}, [&](const Progress&, auto partial) {
        if (partial) shown.push_back(partial);
    });
    REQUIRE(outcome);
    REQUIRE(shown.size() == 2);
    const Result &first = *shown[0], &last = **outcome;
    CHECK_FALSE(first.timed);
    CHECK_FALSE(first.complete);
    CHECK(shown[1]->timed);
    CHECK_FALSE(shown[1]->complete);
    for (const VariantResult& variant : last.variants)
        CHECK((!variant.ran() || variant.verdict() == Verdict::right));
    CHECK(first.parameters == last.parameters);
    REQUIRE(first.variants.size() == last.variants.size());
    for (size_t v = 0; v < first.variants.size(); ++v) {
        const VariantResult &early = first.variants[v], &timed = last.variants[v];
        INFO(early.name);
        CHECK(early.refused == timed.refused);
        if (!early.ran()) continue;
        CHECK_FALSE(early.time);
        CHECK(early.launches.empty());
        CHECK(timed.time);
        CHECK(timed.launches.size() == static_cast<size_t>(early.launch_count));
        REQUIRE(early.outputs.size() == timed.outputs.size());
        CHECK(same_bits(early.outputs, timed.outputs));
        REQUIRE_FALSE(early.errors.empty());
        CHECK(early.errors[0].rel_l2 == timed.errors[0].rel_l2);
    }
    CHECK(first.hops.front().name == "request checked");
    CHECK(find(first, "sequential"));
    const auto has_hop = [&](const std::string& name) {
        return std::any_of(first.hops.begin(), first.hops.end(),
                           [&](const Hop& hop) { return hop.name == name && hop.ms >= 0; });
    };
    for (const char* hop : {"inputs", "reference", "plans", "sequential"}) CHECK(has_hop(hop));
}

TEST_CASE("a run can be stopped between its outputs and its times", "[engine]") {
    Runner runner(shared_cache());
    std::stop_source source;
    const auto outcome = runner.run(scan_request(), source.get_token(), [&](const Progress&, auto partial) {
        if (partial) source.request_stop();
    });
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == Error::Kind::cancelled);
}

TEST_CASE("the reference is cached while the inputs are the same", "[engine]") {
    Runner runner(shared_cache());
    const auto reference_of = [&](const Request& request) {
        return (*runner.run(request, {}))->reference[0].data;
    };
    const auto first = reference_of(scan_request());
    CHECK(reference_of(scan_request({{"block_size", int64_t{128}}, {"compensated", true}})) == first);
    CHECK(reference_of(scan_request({{"length", int64_t{100}}})) != first);
}

TEST_CASE("memory is checked before it is allocated and refused with both sizes", "[engine]") {
    Runner runner(shared_cache());
    Request request = scan_request({{"batch", int64_t{4096}}, {"length", int64_t{1} << 26}});
    request.memory_limit_bytes = 1 << 30;
    const auto outcome = runner.run(request, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().exit_code() == 1);
    CHECK(outcome.error().text.find("1 GiB") != std::string::npos);
    CHECK(outcome.error().text.find("TiB") != std::string::npos);
    CHECK(free_memory_bytes() > 0);
}

TEST_CASE("a time limit ends a run with an error that names it", "[engine]") {
    Runner runner(shared_cache());
    Request request = scan_request({{"length", int64_t{1} << 18}, {"channels", int64_t{64}}});
    request.time_limit_seconds = 0.001;
    const auto outcome = runner.run(request, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().exit_code() == 1);
    CHECK(outcome.error().text.find("0.001 s") != std::string::npos);
}

TEST_CASE("a stopped run is cancelled", "[engine]") {
    Runner runner(shared_cache());
    std::stop_source source;
    const auto outcome = runner.run(scan_request(), source.get_token(), [&](const Progress& progress, auto) {
        if (progress.fraction > 0.1) source.request_stop();
    });
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().exit_code() == 130);
}

TEST_CASE("an input that changed on disk is read again, and an output can be an input", "[engine]") {
    const TemporaryFolder folder;
    Runner runner(shared_cache());
    Request request = scan_request();
    request.input = folder.path() + "/in.npz";
    REQUIRE_FALSE(write_npz(request.input, {ramp("x", {1, 4, 1}), ramp("lookback/y", {1, 4, 1})}));
    CHECK((*runner.run(request, {}))->parameters.integer("length") == 4);
    REQUIRE_FALSE(write_npz(request.input, {ramp("x", {1, 9, 1})}));
    CHECK((*runner.run(request, {}))->parameters.integer("length") == 9);
    request.input = folder.path() + "/absent.npz";
    const auto outcome = runner.run(request, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().exit_code() == 2);
}

TEST_CASE("refused cells are results with their reason", "[engine]") {
    LocalSource source(shared_cache());
    const Sweep sweep{
        "", scan_request({{"compensated", true}, {"length", int64_t{64}}}), {{"op", {"sum", "max"}}}};
    const auto outcome = run_sweep(source, sweep, {});
    REQUIRE(outcome);
    REQUIRE(outcome->cells.size() == 2);
    CHECK(outcome->cells[0].result);
    CHECK(outcome->cells[0].result->variants[0].outputs.empty());
    CHECK(outcome->cells[1].refused.find("compensated") != std::string::npos);

    // A run needs every variant that it names; of a cell the others are measured.
    Request rules;
    rules.family = "memory";
    rules.variants = {"chunkwise_gd", "exact_chunk"};
    rules.repeats = 1;
    rules.parameters.set("length", int64_t{64});
    const auto both = run_sweep(source, {"", rules, {{"rule", {"delta", "atlas"}}}}, {});
    REQUIRE(both);
    REQUIRE((both->cells[0].result && both->cells[1].result));
    CHECK(find(*both->cells[1].result, "chunkwise_gd")->ran());
    CHECK(contains(find(*both->cells[1].result, "exact_chunk")->refused, "rule"));
    rules.parameters.set("rule", "atlas");
    CHECK(contains(Runner(shared_cache()).run(rules, {}).error().text, "exact_chunk cannot run this"));

    Sweep wrong = sweep;
    wrong.axes[0].parameter = "nothing";
    CHECK(run_sweep(source, wrong, {}).error().exit_code() == 2);
    wrong.axes = {{"batch", {int64_t{1}}}, {"length", {int64_t{1}}}, {"channels", {int64_t{1}}}};
    CHECK(run_sweep(source, wrong, {}).error().text.find("one or two") != std::string::npos);
}

TEST_CASE("a variant that refuses a chip says why in its own words", "[engine][cuda]") {
    if (!theory("sm_89")) return;
    Runner runner(shared_cache());
    Request request;
    request.family = "attention";
    request.variants = {"streaming"};
    request.arch = "sm_89";
    for (const auto& [name, value] :
         Settings{{"N", 16}, {"H", 1}, {"BLOCK_M", 128}, {"BLOCK_N", 128}, {"stages", 3}, {"D", 128}})
        request.parameters.set(name, value);
    const auto result = runner.run(request, {});
    REQUIRE(result);
    std::string notes;
    for (const std::string& note : (*result)->notes) notes += note + "\n";
    INFO(notes);
    CHECK(notes.find("streaming skipped for sm_89: BLOCK_M = 128") != std::string::npos);
    CHECK(notes.find("needs 382976 bytes of shared memory") != std::string::npos);
    CHECK(notes.find("compile") == std::string::npos);
}

TEST_CASE("an exception becomes a failure", "[engine]") {
    const auto text = [](auto act) {
        return guarded([&]() -> Outcome<int> {
                   act();
                   return 1;
               })
            .error()
            .text;
    };
    CHECK(text([] { throw std::bad_alloc(); }).find("out of memory") == 0);
    CHECK(text([] { throw std::system_error(EAGAIN, std::generic_category()); }).find("refused a resource") !=
          std::string::npos);
    CHECK(text([] { throw std::length_error("too long"); }) == "internal error: too long");
    CHECK(*guarded([]() -> Outcome<int> { return 1; }) == 1);
}

TEST_CASE("every figure sweep is found again by the settings of its base", "[engine]") {
    for (const Family* family : offered_families())
        for (const std::string& preset : preset_names(*family)) {
            Request request;
            request.family = family->name;
            request.preset = preset;
            const auto configuration = configure(request, {});
            REQUIRE(configuration);
            for (const Sweep& sweep : figure_sweeps(request, configuration->parameters, Backend::cpu)) {
                INFO(family->name << " " << preset << " " << sweep.id);
                const auto again = family->sweeps(sweep.base.parameters);
                CHECK(std::any_of(again.begin(), again.end(),
                                  [&](const FigureSweep& own) { return own.id == sweep.id; }));
            }
        }
}

TEST_CASE("figures of a sweep have a sentence until there is a cell with a result", "[engine]") {
    for (const Family* family : offered_families()) {
        Request request;
        request.family = family->name;
        const auto configuration = configure(request, {});
        REQUIRE(configuration);
        for (const Sweep& sweep : figure_sweeps(request, configuration->parameters, Backend::cpu)) {
            SweepResult result;
            result.sweep = sweep;
            for (const char* const state : {"not begun", "refused"}) {
                for (const Figure& figure : figures_of(result)) {
                    INFO(family->name << " " << sweep.id << " " << figure.id << ", " << state);
                    for (const SweepAxis& axis : sweep.axes) CHECK_FALSE(figure.sizes.has(axis.parameter));
                    if (!figure.marks.empty() && std::holds_alternative<HeatMap>(figure.marks[0]))
                        continue;  // its cells tell why they have no value
                    CHECK(figure.marks.empty());
                    CHECK_FALSE(figure.missing.empty());
                }
                result.cells.resize(sweep.cells());
                for (size_t i = 0; i < result.cells.size(); ++i)
                    result.cells[i] = {.values = sweep.cell(i), .refused = "out of memory", .result = {}};
                result.complete = true;
            }
        }
    }
}

TEST_CASE("every figure sweep of a family makes figures from its cells", "[engine]") {
    LocalSource source(shared_cache());
    const auto seen = source.run(1, scan_request({{"length", int64_t{256}}}), {}, {}, {});
    REQUIRE(seen);
    const auto sweeps = figure_sweeps(scan_request(), seen->result->parameters, Backend::cpu);
    CHECK(sweeps.size() == 3);
    for (Sweep sweep : sweeps) {
        sweep.axes[0].values.resize(2);
        const auto swept = run_sweep(source, sweep, {});
        REQUIRE(swept);
        for (const Figure& figure : figures_of(*swept)) {
            INFO(figure.id);
            CHECK(figure.missing.empty());
            CHECK_FALSE(figure.marks.empty());
            CHECK_FALSE(figure.y.growing);
        }
        SweepResult running = *swept;
        running.complete = false;
        for (const Figure& figure : figures_of(running)) CHECK(figure.y.growing);
    }
}

}  // namespace
}  // namespace sawtooth
