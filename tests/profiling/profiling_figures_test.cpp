// The figures of profiling for results of a GPU, made from invented ones.

#include "profiling/figures.h"

#include "tests/kit/catch.h"
#include "tests/kit/gpu_result.h"
#include "tests/kit/workshop.h"
#include "viz/figure_csv.h"

namespace {

using namespace sawtooth;

Request scan_on_gpu() {
    Request request;
    request.family = "scan";
    request.backend = BackendChoice::cuda;
    return request;
}

const Bars& bars_of(const Figure& figure) { return std::get<Bars>(figure.marks.at(0)); }
const std::vector<Tracks::Track>& tracks_of(const Figure& figure) {
    return std::get<Tracks>(figure.marks.at(0)).tracks;
}

TEST_CASE("the achieved occupancy is a tick on the theoretical bar, with what limits it", "[profiling]") {
    const auto result = gpu_result(scan_on_gpu(), "a GPU");
    result->variants.resize(1);
    const Figure figure = occupancy_figure(*result);
    CHECK(figure.id == "occupancy");
    CHECK(figure.missing.empty());
    CHECK(*figure.x.minimum == 0);
    CHECK(*figure.x.maximum == 100);
    REQUIRE(figure.y.categories.size() == 6);  // three kinds of launch, each with a bar and a line of words
    REQUIRE(bars_of(figure).bars.size() == 6);
    CHECK(figure.y.categories[0] == "sequential: upsweep");
    CHECK(figure.y.categories[1].empty());
    const Bar& theory = bars_of(figure).bars[0];
    CHECK(theory.segments.at(0).length == Approx(75));
    CHECK(theory.text == "62 %, at most 75 %");
    REQUIRE(theory.tick);
    CHECK(theory.tick->length == Approx(62));
    CHECK(contains(figure.caption, "Tick: achieved."));
    CHECK(theory.launches == std::vector<std::string>{"upsweep"});
    CHECK(bars_of(figure).bars[1].segments.empty());
    CHECK(bars_of(figure).bars[1].text == "limited by registers");
    CHECK(bars_of(figure).bars[1].launches == theory.launches);
    CHECK(contains(to_csv(figure), "bar tick,achieved,62,"));

    LaunchRecord& launch = result->variants[0].launches[0];
    launch.occupancy = {0, {}, "does not fit"};
    CHECK(bars_of(occupancy_figure(*result)).bars[1].text == "does not fit");
}

TEST_CASE("a grid that is too small for the GPU is told as the reason of low occupancy", "[profiling]") {
    const auto result = gpu_result(scan_on_gpu(), "a GPU");
    result->variants.resize(1);
    result->processors = 132;
    VariantResult& variant = result->variants[0];
    variant.launches.resize(1);
    const auto words = [&](std::vector<int64_t> blocks, int hold) {
        variant.launches.resize(1);
        variant.launches.resize(blocks.size(), variant.launches.front());
        for (size_t i = 0; i < blocks.size(); ++i) {
            LaunchInfo info = *variant.launches[i].info;
            info.grid = {blocks[i], 1, 1};
            variant.launches[i].info = std::make_shared<const LaunchInfo>(info);
            variant.launches[i].occupancy.blocks = hold;
        }
        return bars_of(occupancy_figure(*result)).bars.back().text;
    };
    CHECK(words({16}, 4) == "16 of 132 SMs have work");
    CHECK(words({1, 16}, 4) == "1 to 16 of 132 SMs have work");
    CHECK(words({160}, 4) == "160 blocks, room for 528");
    CHECK(words({528}, 4) == "limited by registers");
    CHECK(words({160}, 0) == "limited by registers");
}

TEST_CASE("with a chosen chip its theoretical occupancy is drawn", "[profiling]") {
    Request request = scan_on_gpu();
    request.backend = BackendChoice::cpu;
    request.arch = "sm_89";
    const auto result = gpu_result(request, "a processor");
    add_compiled(*result, "sm_89");
    for (VariantResult& variant : result->variants) variant.launches.clear();
    const Figure figure = occupancy_figure(*result);
    CHECK(contains(figure.title, "sm_89"));
    CHECK_FALSE(contains(figure.caption, "achieved"));  // nothing ran on that chip
    REQUIRE_FALSE(bars_of(figure).bars.empty());
    for (const Bar& bar : bars_of(figure).bars)
        CHECK(bar.text == (bar.segments.empty() ? "limited by shared memory" : "50 %"));
}

TEST_CASE("launches whose names differ only in a number share a bar", "[profiling]") {
    const auto result = gpu_result(scan_on_gpu(), "a GPU");
    result->variants.resize(1);
    VariantResult& variant = result->variants[0];
    variant.launches = {gpu_launch("up_1", 0, 1, 32), gpu_launch("up_2", 1, 1, 32),
                        gpu_launch("up_12", 2, 1, 32)};
    variant.launches[1].occupancy.achieved = 0.32;
    variant.launches[2].occupancy.achieved.reset();
    const Figure figure = occupancy_figure(*result);
    REQUIRE(bars_of(figure).bars.size() == 2);
    CHECK(bars_of(figure).bars[0].launches == std::vector<std::string>{"up_1", "up_2", "up_12"});
    CHECK(figure.y.categories[0] == "sequential");
    CHECK(bars_of(figure).bars[0].text == "47 %, at most 75 %");  // the mean of the counted launches
    variant.launches[2].occupancy.theoretical = 0.5;
    CHECK(occupancy_figure(*result).y.categories[2] == "sequential: up_12");
}

TEST_CASE(
    "without a GPU the figure of occupancy shows the utilisation of the workers, and names the way to "
    "theory",
    "[profiling]") {
    Request request = scan_on_gpu();
    request.backend = BackendChoice::cpu;
    const auto result = gpu_result(request, "a processor");
    result->backend = Backend::cpu;
    result->processors = 4;
    result->variants.resize(2);
    for (VariantResult& variant : result->variants) {
        LaunchRecord launch = gpu_launch("tiles", 0, 10, 32);
        launch.busy = {{0, 0, 10}, {1, 0, 5}};
        variant.launches = {launch};
    }
    const Figure figure = occupancy_figure(*result);
    CHECK(figure.place == Place::occupancy);
    CHECK(contains(figure.caption, "--arch"));
    REQUIRE(bars_of(figure).bars.size() == 2);
    CHECK(bars_of(figure).bars[0].segments.at(0).length == Approx(37.5));
    CHECK(bars_of(figure).bars[0].text == "38 %");
    result->request.arch = "sm_90a";
    CHECK_FALSE(contains(occupancy_figure(*result).title, "workers"));
}

TEST_CASE("without compiled kernels the occupancy figure says how to get it", "[profiling]") {
    const auto result = gpu_result(scan_on_gpu(), "a processor");
    for (VariantResult& variant : result->variants) variant.launches.clear();
    const Figure figure = occupancy_figure(*result);
    CHECK(figure.marks.empty());
    CHECK(contains(figure.missing, "--arch"));
}

TEST_CASE("the timeline of a GPU has launches, their gaps and sampled tracks on one axis", "[profiling]") {
    const auto result = gpu_result(scan_on_gpu(), "a GPU");
    result->variants.resize(1);
    const VariantResult& variant = result->variants[0];
    const Figure figure = timeline_figure(*result);
    CHECK(figure.x.shared == "time");
    CHECK(contains(figure.title, "GPU"));
    const auto& tracks = tracks_of(figure);
    REQUIRE(tracks.size() == 2 + variant.tracks.size());
    CHECK(tracks[0].label == "sequential");
    CHECK(tracks[0].spans.size() == variant.launches.size());
    // Launches of 9, 3 and 9 us with two gaps of 2 us: 4 of 25 us are idle.
    CHECK(tracks[1].label == "utilisation 84 %");
    CHECK(tracks[1].unit == "%");
    CHECK(tracks[2].label == variant.tracks[0].name);
    CHECK(tracks[2].unit == "%");
    CHECK(tracks[2].x.size() == 2 * variant.tracks[0].values.size());
    CHECK(tracks[2].x[1] == Approx(1));
    for (const Tracks::Track& track : tracks) CHECK(track.ink.role == Ink::Role::variant);
}

TEST_CASE("the timeline of the CPU shows the utilisation of its workers", "[profiling]") {
    Result result;
    result.processors = 2;
    VariantResult variant;
    variant.name = "sequential";
    LaunchInfo info;
    info.name = "scan";
    LaunchRecord launch;
    launch.info = std::make_shared<const LaunchInfo>(info);
    launch.duration_us = 10;
    launch.busy = {{0, 0, 10}, {1, 0, 5}};
    variant.launches = {launch};
    result.variants = {variant};
    const Figure figure = timeline_figure(result);
    CHECK(figure.title == "Launches");
    REQUIRE(tracks_of(figure).size() == 2);
    CHECK(tracks_of(figure)[1].unit == "%");
    CHECK(tracks_of(figure)[1].label == "utilisation 75 %");
    CHECK(*std::max_element(tracks_of(figure)[1].y.begin(), tracks_of(figure)[1].y.end()) == 100);
}

}  // namespace
