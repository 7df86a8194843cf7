// What a sweep measures, in which order, and when a search ends, with invented times.

#include "app/engine/run/sweep_steps.h"

#include <map>

#include "kernels/figures/sweep_cells.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

Sweep over(size_t count, bool search) {
    Sweep sweep;
    sweep.search = search;
    sweep.axes = {{"chunk", {}}};
    for (size_t i = 0; i < count; ++i) sweep.axes.front().values.emplace_back(static_cast<int64_t>(i));
    return sweep;
}

// Answers every step with times that are a function of cell, variant and sample number.
struct InventedMachine {
    using Time = std::function<double(size_t cell, const std::string& variant, int sample)>;
    Time time;
    std::vector<std::string> variants = {"fused"};
    std::map<size_t, Verdict> verdicts = {};  // of the cells given here; all others are right
    std::map<size_t, int> samples = {};
    int repeats = 0;  // sum over all variants
    std::vector<size_t> order = {};

    SweepResult run(const Sweep& sweep) {
        SweepSteps steps(sweep);
        while (const auto step = steps.next()) steps.take(answer(*step));
        return steps.result();
    }

    SweepCell answer(const SweepSteps::Step& step) {
        order.push_back(step.cell);
        auto result = std::make_shared<Result>();
        result->request = step.sweep.request(step.cell);
        result->in_turns = true;
        const auto& wanted = step.sweep.base.variants.empty() ? variants : step.sweep.base.variants;
        for (const std::string& name : wanted) {
            VariantResult variant;
            variant.name = name;
            variant.index = name == "fused" ? 0 : 1;
            const auto verdict = verdicts.find(step.cell);
            variant.verdicts = {
                {.output = "y", .verdict = verdict == verdicts.end() ? Verdict::right : verdict->second}};
            TimeStatistics measured;
            for (int i = 0; i < step.sweep.base.repeats; ++i)
                measured.samples.push_back(time(step.cell, name, samples[step.cell] + i));
            measured.median = measured.q1 = measured.q3 = measured.samples.front();
            variant.time = measured;
            result->variants.push_back(variant);
            repeats += step.sweep.base.repeats;
        }
        samples[step.cell] += step.sweep.base.repeats;
        return {step.sweep.cell(step.cell), "", result};
    }
};

size_t samples_in(const SweepResult& sweep, size_t cell, const std::string& variant = "fused") {
    return find(*sweep.cells[cell].result, variant)->time->samples.size();
}

TEST_CASE("a sweep measures every cell once, with all repeats", "[engine]") {
    InventedMachine machine{[](size_t, const std::string&, int) { return 10.0; }};
    const SweepResult result = machine.run(over(5, false));
    CHECK(machine.order == std::vector<size_t>{0, 1, 2, 3, 4});
    CHECK(result.complete);
    CHECK(samples_in(result, 3) == 9);
}

TEST_CASE("a search leaves what is told to be slower, and joins the samples of the others", "[engine]") {
    // Cell 7 is the fastest, and 8 is a tenth slower; a slow wave disturbs all of them alike.
    InventedMachine machine{[](size_t cell, const std::string&, int sample) {
        const double wave = 1 + 0.3 * ((sample / 3) % 4);
        return wave * (cell == 7 ? 10 : cell == 8 ? 11 : 40);
    }};
    const SweepResult result = machine.run(over(25, true));
    REQUIRE(result.complete);
    REQUIRE(result.cells.size() == 25);
    CHECK(samples_in(result, 0) == least_repeats_to_tell);
    CHECK(samples_in(result, 7) > 25);
    CHECK(samples_in(result, 7) == samples_in(result, 8));
    CHECK(machine.repeats <= 25 * 9 + 3 * 9 * 3);
    const BestCells best = best_cells(result, "fused");
    CHECK(best.cells == std::vector<size_t>{7});
    CHECK(best.left_out.empty());
    CHECK(best_words(result, best).find("fused: chunk 7, ") == 0);
    CHECK(best_words(result, best).find("faster than 6, 1.1x faster than 8") != std::string::npos);
}

TEST_CASE("a search ends with those that take the same time", "[engine]") {
    InventedMachine machine{[](size_t cell, const std::string&, int) { return cell < 2 ? 10.0 : 40.0; }};
    const SweepResult result = machine.run(over(6, true));
    const BestCells best = best_cells(result, "fused");
    CHECK(best.cells == std::vector<size_t>{0, 1});
    CHECK(fastest_words(result, best) == "chunk 0 or 1 (they take the same time)");
    CHECK(samples_in(result, 0) == least_repeats_to_tell);  // known at once
}

TEST_CASE("a search among cells that cannot be told halves them and says how many it left out", "[engine]") {
    // Times differ by a tenth but vary by more than that.
    InventedMachine machine{[](size_t cell, const std::string&, int sample) {
        return (10 + 0.1 * static_cast<double>(cell)) * (1 + 0.4 * ((sample * 7 + cell * 5) % 11) / 10);
    }};
    const SweepResult result = machine.run(over(16, true));
    REQUIRE(result.complete);
    const BestCells best = best_cells(result, "fused");
    CHECK(best.cells.size() <= 6);
    CHECK_FALSE(best.left_out.empty());
    CHECK(best_words(result, best).find(" more with longer medians were not measured again") !=
          std::string::npos);
    CHECK(machine.repeats <= 16 * 9 + 3 * 9 * 3);
}

TEST_CASE("a search with more repeats than an int holds measures no less", "[engine]") {
    InventedMachine machine{[](size_t cell, const std::string&, int sample) {
        return (10 + 0.1 * static_cast<double>(cell)) * (1 + 0.4 * ((sample * 7 + cell * 5) % 11) / 10);
    }};
    Sweep sweep = over(25, true);
    sweep.base.repeats = 100'000'000;
    const SweepResult result = machine.run(sweep);
    CHECK(machine.repeats > 25 * 9 + 3 * 9 * 3);
}

TEST_CASE("a variant with a time in one cell of several has no fastest cell", "[engine]") {
    InventedMachine machine{[](size_t, const std::string&, int) { return 10.0; }};
    SweepResult result = machine.run(over(5, false));
    REQUIRE(best_cells(result).size() == 1);
    for (size_t cell = 0; cell < 4; ++cell)
        result.cells[cell] = {result.cells[cell].values, "not recorded", nullptr};
    CHECK(best_cells(result).empty());
    const SweepResult alone = machine.run(over(1, false));
    CHECK(best_cells(alone).size() == 1);
}

TEST_CASE("only right results are searched", "[engine]") {
    InventedMachine machine{
        [](size_t cell, const std::string&, int) { return cell == 1 ? 1.0 : 10.0 + 20 * cell; }};
    machine.verdicts = {{1, Verdict::wrong}, {2, Verdict::cannot_judge}};
    const SweepResult result = machine.run(over(4, true));
    CHECK(best_cells(result, "fused").cells == std::vector<size_t>{0});
    CHECK(samples_in(result, 1) == least_repeats_to_tell);
}

TEST_CASE("every variant is searched, in the cells where it may be the fastest", "[engine]") {
    InventedMachine machine{[](size_t cell, const std::string& variant, int sample) {
        const size_t best = variant == "fused" ? 1 : 6;
        return (cell == best ? 10 : cell == best + 1 ? 10.3 : 50) * (1 + 0.2 * ((sample / 3) % 3));
    }};
    machine.variants = {"fused", "unfused"};
    const SweepResult result = machine.run(over(9, true));
    CHECK(best_cells(result).size() == 2);
    CHECK(samples_in(result, 1, "fused") > 9);
    CHECK(samples_in(result, 1, "unfused") == least_repeats_to_tell);
    CHECK_FALSE(result.cells[1].result->in_turns);
    CHECK(samples_in(result, 6, "unfused") > 9);
}

TEST_CASE("a cell whose worker ends in a later visit keeps what it had", "[engine]") {
    InventedMachine machine{[](size_t cell, const std::string&, int) { return cell == 0 ? 10.0 : 10.6; }};
    SweepSteps steps(over(3, true));
    int later = 0;
    while (const auto step = steps.next()) {
        SweepCell cell = machine.answer(*step);
        if (steps.result().cells.size() == 3 && step->cell == 2 && ++later == 1) {
            cell.result.reset();
            cell.refused = "the worker ended";
        }
        steps.take(std::move(cell));
    }
    CHECK(later == 1);
    CHECK(samples_in(steps.result(), 2) == least_repeats_to_tell);
}

TEST_CASE("a sweep whose cells are all refused ends", "[engine]") {
    SweepSteps steps(over(3, true));
    while (const auto step = steps.next()) steps.take({step->sweep.cell(step->cell), "no", nullptr});
    CHECK(steps.result().complete);
    CHECK(best_cells(steps.result()).empty());
}

TEST_CASE("cells of a sweep are told in its words", "[engine]") {
    Sweep sweep;
    sweep.axes = {{"chunk", {int64_t{64}, int64_t{128}}, {"C_G"}}, {"d", {int64_t{4}}}};
    CHECK(cell_words(sweep, sweep.cell(1)) == "chunk and C_G 128, d 4");
}

}  // namespace
}  // namespace sawtooth
