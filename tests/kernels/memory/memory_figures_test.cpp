// The content of the figures of the memory rules, from results of the engine.

#include <set>

#include "app/engine/run/result_figures.h"
#include "app/engine/run/runner.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/sweep_loop.h"
#include "kernels/figures/zoom.h"
#include "kernels/memory/figures/common.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace figure_facts;
using namespace memory_facts;

Request timed_request(const Settings& settings) {
    Request request;
    request.family = "memory";
    request.repeats = 2;
    request.threads = 1;
    for (const auto& [name, value] : settings) request.parameters.set(name, value);
    return request;
}

Result result_with(const Settings& settings) { return run_in_engine(memory_family(), settings); }

TEST_CASE("a claim does not hold for a variant that did not run", "[memory][figures]") {
    const auto& tries = memory_family().about.tries;
    const auto diverges = std::find_if(tries.begin(), tries.end(), [](const Try& one) {
        return one.words.find("frozen errors diverge") != std::string::npos;
    });
    REQUIRE(diverges != tries.end());
    Result result = run_in_engine(memory_family(), diverges->values);
    CHECK(diverges->holds(result));
    for (VariantResult& variant : result.variants)
        if (variant.name == "exact_chunk") variant.refused = "left out";
    CHECK_FALSE(diverges->holds(result));
}

TEST_CASE("every figure has marks or says what it would show", "[memory][figures]") {
    const std::string rule =
        GENERATE("titans", "delta", "hebbian", "atlas", "atlas_omega", "lattice", "trellis");
    const std::string levels = GENERATE("none", "1,8,64");
    const Result result = result_with({{"rule", rule},
                                       {"length", int64_t{200}},
                                       {"d", int64_t{16}},
                                       {"levels", *memory_family().parameter("levels")->parse(levels)}});
    const auto figures = memory::figures(result, {});
    std::set<std::string> ids;
    for (const Figure& figure : figures) {
        INFO(figure.id);
        CHECK(ids.insert(figure.id).second);
        CHECK(figure.marks.empty() == !figure.missing.empty());
        CHECK_FALSE(figure.title.empty());
    }
    CHECK(figures.front().id == "sawtooth");
    CHECK(ids.count("pulse") == (levels != "none"));
    CHECK(ids.count("gates") == (rule == "lattice"));
    CHECK(ids.count("decay-products") == (rule != "lattice"));
    CHECK(ids.count("state-s") == (rule == "titans" || rule.starts_with("atlas")));
    CHECK(ids.count("state-sv") == (rule == "trellis"));
    // A partial result has no times yet.
    Result partial = result;
    partial.complete = false;
    for (VariantResult& variant : partial.variants) variant.time.reset(), variant.launches.clear();
    for (const Figure& figure : memory::figures(partial, {}))
        CHECK(figure.marks.empty() == !figure.missing.empty());
}

TEST_CASE("the sawtooth: launches of sequential and a strategy on one axis, with idle shares",
          "[memory][figures]") {
    Result result = result_with({{"length", int64_t{200}}, {"d", int64_t{16}}, {"chunk", int64_t{50}}});
    // A launch every 3 us that computes for 2 of them; in chunks three launches of 20 us.
    const auto lay_out_in_time = [&](const char* name, double period, double busy) {
        const auto variant = std::find_if(result.variants.begin(), result.variants.end(),
                                          [&](const VariantResult& row) { return row.name == name; });
        for (size_t i = 0; i < variant->launches.size(); ++i) {
            LaunchRecord& launch = variant->launches[i];
            launch.start_us = period * static_cast<double>(i);
            launch.duration_us = period;
            launch.busy = {{0, launch.start_us, launch.start_us + busy}};
        }
        const double us = period * static_cast<double>(variant->launches.size());
        variant->time = TimeStatistics{us, us, us, std::vector<double>(9, us)};
    };
    lay_out_in_time("sequential", 3, 2);
    lay_out_in_time("chunkwise_gd", 20, 20);
    Figure figure = figure_named(memory::figures(result, {}), "sawtooth");
    REQUIRE(marks_of<Tracks>(figure).size() == 1);
    CHECK(figure.x.shared == time_of_runs);  // not that of Timeline, which zooms alone
    const Tracks tracks = marks_of<Tracks>(figure).front();
    REQUIRE(tracks.tracks.size() == 2);
    CHECK(tracks.tracks[0].label == "sequential");
    CHECK(tracks.tracks[0].spans.size() == 200);
    CHECK(tracks.tracks[1].label == "chunkwise_gd, chunk 50");
    CHECK(tracks.tracks[1].spans.size() == 3);
    const Figure zoom = figure_named(memory::figures(result, {}), "sawtooth-zoom");
    REQUIRE(zoom.zoom);
    CHECK(zoom.zoom->figure == "sawtooth");
    CHECK(zoom.title == "30 typical launches: 90 us, starting at 90 us");
    CHECK(zoom.x.maximum == 180.0);  // 30 teeth of 3 us
    const Tracks zoomed = marks_of<Tracks>(zoom).front();
    REQUIRE(zoomed.tracks.size() == 2);
    CHECK(zoomed.tracks[0].spans.size() == 30);
    CHECK(zoomed.tracks[1].label.starts_with("utilisation "));
    CHECK(
        figure.caption.find("chunkwise_gd is 10x faster than sequential. sequential: 200 launches, idle 33 % "
                            "of the time: each takes 3 us, of which 2 us is work. chunkwise_gd, chunk 50: 3 "
                            "launches, idle 0 % of the time") == 0);
    result.parameters.set("drawn_strategy", "exact_chunk");
    figure = figure_named(memory::figures(result, {}), "sawtooth");
    CHECK(marks_of<Tracks>(figure).front().tracks[1].label == "exact_chunk, chunk 50");
}

TEST_CASE("the zoom shows typical teeth where the first ones were held up", "[memory][figures]") {
    Result result = result_with({{"length", int64_t{200}}, {"d", int64_t{16}}, {"chunk", int64_t{50}}});
    VariantResult& sequential = *std::find_if(result.variants.begin(), result.variants.end(),
                                              [](const auto& row) { return row.name == "sequential"; });
    for (size_t i = 0; i < sequential.launches.size(); ++i) {
        sequential.launches[i].start_us = 3 * static_cast<double>(i) + (i > 4 ? 4000 : 0);
        sequential.launches[i].duration_us = 2;
        sequential.launches[i].busy.clear();
    }
    const Figure figure = figure_named(memory::figures(result, {}), "sawtooth-zoom");
    const Tracks::Track zoomed = marks_of<Tracks>(figure).front().tracks[0];
    CHECK(figure.zoom->low >= 4000);
    CHECK(figure.zoom->high - figure.zoom->low == Approx(90));
    CHECK(zoomed.spans.size() == 30);
}

TEST_CASE("the drawn boundary's memory is what the strategy hands over there", "[memory][figures]") {
    const std::string strategy = GENERATE("sequential", "chunkwise_gd", "exact_chunk", "tnt");
    const Result result = result_with({{"batch", int64_t{2}},
                                       {"length", int64_t{200}},
                                       {"d", int64_t{16}},
                                       {"chunk", int64_t{48}},
                                       {"C_G", int64_t{32}},
                                       {"drawn_batch", int64_t{1}},
                                       {"drawn_boundary", int64_t{2}},
                                       {"drawn_strategy", strategy}});
    const auto figures = memory::figures(result, {});
    const HeatMap map = marks_of<HeatMap>(figure_named(figures, "state-m")).front();
    const Array& boundaries = *find(find(result, strategy)->outputs, "boundaries");
    const int64_t at = (1 * boundaries.shape[1] + 2) * 16 * 16;
    for (int64_t i = 0; i < 16 * 16; ++i)
        CHECK(map.values[static_cast<size_t>(i)] == boundaries.value(at + i).real());
}

TEST_CASE("the last boundary is drawn where there are fewer, and the first has nothing to run",
          "[memory][figures]") {
    Result result =
        result_with({{"length", int64_t{200}}, {"d", int64_t{16}}, {"drawn_boundary", int64_t{99}}});
    const Figure last = figure_named(memory::figures(result, {}), "state-m");
    CHECK(last.title.find("boundary 4, after the last token") != std::string::npos);
    const Array& m = *find(find(result, "chunkwise_gd")->outputs, "m");
    CHECK(marks_of<HeatMap>(last).front().values.front() == m.value(0).real());
    result.parameters.set("drawn_boundary", int64_t{0});
    CHECK_FALSE(figure_named(memory::figures(result, {}), "state-m").missing.empty());
    result.parameters.set("drawn_boundary", int64_t{1});
    result.parameters.set("drawn_strategy", "lattice_gla");  // a strategy of another rule
    CHECK(figure_named(memory::figures(result, {}), "state-m").missing.find("needs rule lattice") !=
          std::string::npos);
}

TEST_CASE("errors by token have the boundaries of chunks, as long as they can be told apart",
          "[memory][figures]") {
    const auto rules = [](int64_t chunk) {
        const Result result = result_with({{"length", int64_t{300}}, {"d", int64_t{8}}, {"chunk", chunk}});
        return marks_of<Rule>(figure_named(memory::figures(result, {}), "error-y"));
    };
    REQUIRE(rules(100).size() == 2);
    CHECK(rules(100).front().at == 100);
    CHECK(rules(1).empty());
}

TEST_CASE("the table marks what is exact", "[memory][figures]") {
    const Result result = result_with({{"length", int64_t{20}}, {"d", int64_t{4}}});
    const Matrix table =
        marks_of<Matrix>(figure_named(memory::figures(result, {}), "rules-and-strategies")).front();
    REQUIRE(table.cells.size() == 7 * 8);
    const auto text = [&](size_t rule, size_t strategy) { return table.texts[strategy * 7 + rule]; };
    CHECK(text(1, 7) == "exact");                // delta, exact_chunk
    CHECK(text(0, 7).empty());                   // titans
    CHECK(text(0, 2) == "at chunk 1");           // chunkwise_gd
    CHECK(text(2, 2) == "exact");                // hebbian
    CHECK(text(0, 4) == "in locals");            // tnt
    CHECK(text(6, 5) == "never");                // trellis, lattice_gla
    CHECK(table.column_labels[1] == "[delta]");  // the current one
}

TEST_CASE("the pulse is a grid with the levels that fire together below", "[memory][figures]") {
    const Result result = result_with(
        {{"length", int64_t{130}}, {"d", int64_t{4}}, {"levels", std::vector<int64_t>{1, 8, 64}}});
    const auto figures = memory::figures(result, {});
    const HeatMap map = marks_of<HeatMap>(figure_named(figures, "pulse")).front();
    REQUIRE(map.rows == 4);
    REQUIRE(map.columns == 130);
    const auto value = [&](int64_t row, int64_t token) {
        return map.values[static_cast<size_t>(row * 130 + token)];
    };
    CHECK(value(0, 3) == 1);
    CHECK(value(1, 8) == 1);
    CHECK(value(1, 9) == 0);
    CHECK(value(3, 64) == 3);
    CHECK(value(3, 16) == 2);
    CHECK(value(3, 5) == 1);
    // With fewer columns than tokens, no firing is lost.
    View narrow;
    narrow.columns = 10;
    const HeatMap reduced = marks_of<HeatMap>(figure_named(memory::figures(result, narrow), "pulse")).front();
    CHECK(reduced.columns == 10);
    CHECK(reduced.values[3 * 10 + 0] == 3);
    CHECK(marks_of<Line>(figure_named(figures, "levels")).size() == 6);
}

// A sweep of the family, with few cells and repeats.
SweepResult sweep_of(const std::string& id, const Settings& settings, const std::vector<Value>& chunks) {
    LocalSource source(shared_cache());
    const Request request = timed_request(settings);
    for (Sweep& sweep : figure_sweeps(request, parameters_with(settings), Backend::cpu)) {
        if (sweep.id != id) continue;
        for (SweepAxis& axis : sweep.axes)
            if (axis.parameter == "chunk") axis.values = chunks;
        const auto done = run_sweep(source, sweep, {});
        REQUIRE(done);
        return *done;
    }
    FAIL("no sweep " << id);
    return {};
}
std::vector<Figure> swept(const std::string& id, const Settings& settings, const std::vector<Value>& chunks) {
    return figures_of(sweep_of(id, settings, chunks));
}

TEST_CASE("the trade-off: a curve per variant, points that set the chunk, the usual range marked",
          "[memory][figures]") {
    const auto figures = swept("chunk", {{"rule", "titans"}, {"length", int64_t{256}}, {"d", int64_t{16}}},
                               {int64_t{1}, int64_t{16}, int64_t{128}, int64_t{256}});
    const Figure& error = figure_named(figures, "error-against-chunk");
    const auto lines = marks_of<Line>(error);
    CHECK(lines.size() == 4);  // tnt has its own axis
    const Line& gd = line_named(lines, "chunkwise_gd");
    CHECK(gd.x == std::vector<double>{1, 16, 128, 256});
    CHECK(gd.y[0] < 1e-5);
    CHECK(gd.y[1] > 1e-3);
    CHECK(gd.y[3] > gd.y[1]);
    REQUIRE(marks_of<Band>(error).size() == 1);
    CHECK(marks_of<Band>(error).front().label == "usual for titans: 64 to 512");
    CHECK(gd.sets.parameter == "chunk");
    CHECK(gd.sets.values == gd.x);
    CHECK(line_named(lines, "sequential").sets.values.empty());
    CHECK(error.x.scale == Scale::log2);
    CHECK(error.y.scale == Scale::log10);

    const Figure& shards = figure_named(figures, "error-against-C-G");
    const Line tnt = line_named(marks_of<Line>(shards), "tnt");
    CHECK(tnt.x == std::vector<double>{16, 128, 256});  // C_G follows chunk; C_L is 16
    CHECK(tnt.sets.parameter == "C_G");
    CHECK(marks_of<Band>(shards).front().label == "usual for tnt: 128 to 2048");
    CHECK(marks_of<Line>(shards).size() == 3);

    const Line both = line_named(marks_of<Line>(figure_named(figures, "time-against-error")), "chunkwise_gd");
    CHECK(both.x == gd.y);
    CHECK(both.sets.values == gd.x);
    CHECK(both.y ==
          line_named(marks_of<Line>(figure_named(figures, "time-against-chunk")), "chunkwise_gd").y);

    const Figure& prediction = figure_named(figures, "prediction");
    const auto guesses = marks_of<Line>(prediction);
    const Line& guess = line_named(guesses, "chunkwise_gd, predicted");
    CHECK(guess.ink.dashed);
    for (const double us : guess.y) CHECK(us > 0);
    CHECK(prediction.caption.find("chunkwise_gd: the model picks chunk ") != std::string::npos);

    const Figure& utilisation = figure_named(figures, "utilisation-against-chunk");
    CHECK(marks_of<Band>(utilisation).front().low.front() == 5);
    CHECK_FALSE(utilisation.caption.empty());
    CHECK(has_figure(figures, "throughput-against-chunk"));
    const auto steps = marks_of<Line>(figure_named(figures, "steps-against-chunk"));
    CHECK(line_named(steps, "chunkwise_gd").y == std::vector<double>{256, 16, 2, 1});
    CHECK(line_named(steps, "sequential").y.back() == 256);
}

TEST_CASE("equal ends of a measured utilisation are said once", "[memory][figures]") {
    SweepResult sweep =
        sweep_of("chunk", {{"length", int64_t{256}}, {"d", int64_t{16}}}, {int64_t{16}, int64_t{64}});
    const auto caption = [&](double first_busy, double last_busy) {
        for (SweepCell& cell : sweep.cells) {
            Result changed = *cell.result;
            changed.variants.resize(1);  // sequential
            LaunchRecord launch = changed.variants[0].launches.at(0);
            launch.start_us = 0;
            launch.duration_us = 100;
            launch.busy = {{0, 0, &cell == &sweep.cells.front() ? first_busy : last_busy}};
            changed.variants[0].launches = {launch};
            changed.processors = 1;
            cell.result = std::make_shared<const Result>(std::move(changed));
        }
        return figure_named(figures_of(sweep), "utilisation-against-chunk").caption;
    };
    CHECK(caption(10, 20).ends_with("for one launch per token: 5 to 15 %; here 10 to 20 %."));
    CHECK(caption(10, 10.2).ends_with("here 10 %."));
}

TEST_CASE("a point that diverged is named in words, once a strategy", "[memory][figures]") {
    const auto figures = swept("chunk", {{"rule", "trellis"}, {"length", int64_t{1024}}, {"d", int64_t{32}}},
                               {int64_t{1}, int64_t{64}, int64_t{128}});
    const auto notes = marks_of<Note>(figure_named(figures, "error-against-chunk"));
    REQUIRE(notes.size() == 1);
    CHECK(notes.front().x == 64);
    CHECK(notes.front().text.find("chunkwise_gd diverged") == 0);
}

TEST_CASE("both readouts of one strategy stand in one plot, the boundary's dotted", "[memory][figures]") {
    const auto figures = swept("readout", {{"length", int64_t{256}}, {"d", int64_t{16}}}, {});
    const Figure& figure = figure_named(figures, "error-readouts");
    const auto lines = marks_of<Line>(figure);
    REQUIRE(lines.size() == 2);
    const Line &evolving = line_named(lines, "chunkwise_gd, evolving"),
               &boundary = line_named(lines, "chunkwise_gd, boundary");
    CHECK_FALSE(evolving.ink.dashed);
    CHECK(boundary.ink.dashed);
    CHECK(boundary.ink.index == evolving.ink.index);
    REQUIRE(boundary.y.size() == 256);
    // The boundary ages within a chunk of 64; the next chunk has a new one.
    CHECK(boundary.y[100] > evolving.y[100]);
    CHECK(figure.caption.find("boundary (dotted)") != std::string::npos);
    CHECK(figure.x.shared == "token");
    const auto& rows = memory_family().story;
    CHECK(rows.back().figures == std::vector<std::string>{"output-y", "error-y", "error-readouts"});
}

TEST_CASE("every way to launch is drawn with its idle share, on a GPU", "[memory][figures]") {
    const Parameters parameters = memory_family().defaults();
    const auto has_ways = [&](Backend backend) {
        const auto sweeps = figure_sweeps(timed_request({}), parameters, backend);
        return std::any_of(sweeps.begin(), sweeps.end(),
                           [](const Sweep& sweep) { return sweep.id == "launch"; });
    };
    CHECK(has_ways(Backend::cuda));
    CHECK_FALSE(has_ways(Backend::cpu));
    // The CPU ignores the way to launch, so it has results to draw.
    const auto figures = memory::launch_figures([&] {
        LocalSource source(shared_cache());
        Request request = timed_request({{"length", int64_t{100}}, {"d", int64_t{8}}});
        request.variants = {"sequential"};
        return *run_sweep(source, {"launch", request, {{"launch", {"sync", "stream"}}}}, {});
    }());
    const Figure& figure = figures.front();
    const auto tracks = marks_of<Tracks>(figure).front().tracks;
    REQUIRE(tracks.size() == 4);
    CHECK(tracks[0].label == "sync");
    CHECK(tracks[2].label == "stream");
    CHECK(figure.caption.find("Idle: sync ") == 0);
    CHECK(figure.caption.ends_with(" %."));
    CHECK(figure.x.in_sight);
}

TEST_CASE("usual chunks of tnt are those of the defaults, and its curves have their own figures",
          "[memory][figures]") {
    const Parameters defaults = memory_family().defaults();
    const memory::Strategy& tnt = memory::strategy_named("tnt");
    CHECK(defaults.integer("C_G") >= tnt.least_chunk);
    CHECK(defaults.integer("C_G") <= tnt.most_chunk);
    const auto figures =
        swept("chunk", {{"length", int64_t{256}}, {"d", int64_t{16}}}, {int64_t{16}, int64_t{128}});
    for (const StoryRow& row : memory::story())
        for (const std::string& id : row.figures) {
            if (!has_figure(figures, id)) continue;
            INFO(id);
            for (const Line& line : marks_of<Line>(figure_named(figures, id))) {
                CHECK(line.label.find("tnt") == std::string::npos);
                CHECK((line.sets.parameter.empty() || line.sets.parameter == "chunk"));
            }
        }
}

TEST_CASE("points appear as the sweep makes them", "[memory][figures]") {
    SweepResult empty;
    empty.sweep = figure_sweeps(timed_request({}), memory_family().defaults(), Backend::cpu).front();
    for (const Figure& figure : figures_of(empty)) {
        INFO(figure.id);
        CHECK_FALSE(figure.missing.empty());
    }
}

TEST_CASE("frozen errors stay bounded in a wide memory and grow in a narrow one", "[memory][figures]") {
    const auto figures = swept("growth", {{"length", int64_t{1024}}}, {int64_t{16}, int64_t{512}});
    const auto lines = marks_of<Line>(figure_named(figures, "error-growth"));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].label == "chunkwise_gd, d 64");
    CHECK(lines[1].label == "chunkwise_gd, d 4");
    CHECK(lines[1].ink.dashed);
    CHECK(lines[1].sets.values == lines[1].x);
    CHECK(lines[0].y[1] < 1);
    CHECK(lines[1].y[1] > lines[0].y[1]);
}

}  // namespace
}  // namespace sawtooth
