// The family scan in CUDA: its plans on theoretical devices, which need no GPU, and the results of its
// kernels if there is one.

#include <cmath>
#include <cstring>

#include "kernels/cuda/chips.h"
#include "kernels/scan/cuda/tiles.h"
#include "tests/kernels/scan/run_scan.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

// Settings with every value of every tiling parameter, and every operator, dtype and direction, at least
// once.
std::vector<Settings> covering_set() {
    const auto row = [](const char* op, int64_t block_size, int64_t batch, int64_t length, int64_t channels,
                        const char* dtype, const char* direction) {
        return Settings{{"op", op},
                        {"block_size", block_size},
                        {"batch", batch},
                        {"length", length},
                        {"channels", channels},
                        {"dtype", dtype},
                        {"direction", direction}};
    };
    std::vector<Settings> rows = {
        row("linear", 256, 4, 8192, 512, "f32", "forward"),  // a case of bench, four channels per lane
        row("sum", 1024, 64, 65536, 1, "f32", "forward"),    // one channel, look-back between blocks
        row("product", 256, 2, 5000, 16, "f16", "reverse"),
        row("max", 512, 2, 5000, 3, "bf16", "forward"),  // one channel per lane, unused lanes
        row("min", 128, 2, 5000, 34, "f32", "reverse"),  // two channels per lane
        row("complex_sum", 512, 2, 5000, 1, "f32", "forward"),
        row("sum", 256, 2, 4099, 1, "bf16", "reverse"),    // one channel, an odd length
        row("sum", 128, 4096, 8192, 1, "f32", "forward"),  // one channel, many rows
        row("complex_linear", 1024, 4, 8192, 512, "f32", "both"),
        row("complex_linear", 256, 4, 8191, 5, "f32", "reverse"),  // one complex number per lane
        row("complex_linear", 1024, 4, 8192, 1, "f32", "forward"),
        row("logcumsumexp", 1024, 4, 8192, 512, "f32", "both"),
        row("logcumsumexp", 1024, 64, 65536, 1, "f16", "forward"),
        row("sum", 1024, 1, 1 << 28, 1, "f32", "forward"),  // a long row, three tiles per warp
    };
    for (const size_t backward : {0, 2, 3, 4, 8, 9, 10, 11, 12})
        rows[backward].emplace_back("backward", true);
    rows[5].emplace_back("compensated", true);
    return rows;
}

TEST_CASE("no kernel of scan spills registers on Hopper", "[scan][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    for (const Settings& settings : covering_set()) {
        const Parameters parameters = scan_parameters(settings);
        for (const std::string& variant : variant_names()) {
            INFO(variant << " " << to_text(parameters.at("op")) << " D "
                         << to_text(parameters.at("channels")));
            const Plan plan = plan_in_theory(*device, variant, parameters);
            for (const Launch& launch : plan.launches)
                CHECK(faults_of(*launch.info, device->chip(), 0) == "");
        }
    }
}

Settings sized(int64_t batch, int64_t length, int64_t channels, const Settings& more = {}) {
    return with({{"batch", batch}, {"length", length}, {"channels", channels}}, more);
}

TEST_CASE("every CUDA variant is the algorithm of its name", "[scan][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const int64_t length = GENERATE(1, 2, 5, 1000, 4096);
    const int64_t channels = GENERATE(1, 24);
    const auto parameters = scan_parameters(sized(3, length, channels, {{"block_size", int64_t{128}}}));
    const auto levels = static_cast<size_t>(scan::levels_of(length));
    const auto names = [&](const char* variant) {
        return names_of(plan_in_theory(*device, variant, parameters, true, false));
    };
    CHECK(names("sequential") == std::vector<std::string>{"sequential"});
    CHECK(names("lookback") == std::vector<std::string>{"lookback"});
    CHECK(names("three_phase") ==
          std::vector<std::string>{"block_scan", "scan_of_block_sums", "add_block_prefixes"});

    std::vector<std::string> doubling, tree;
    for (size_t step = 0; step < std::max<size_t>(levels, 1); ++step)
        doubling.push_back("double_" + std::to_string(1 << step));
    CHECK(names("hillis_steele") == doubling);
    for (size_t height = 1; height < levels; ++height) tree.push_back("up_sweep_" + std::to_string(height));
    for (size_t height = std::max<size_t>(levels, 1); height >= 1; --height)
        tree.push_back("down_sweep_" + std::to_string(height));
    CHECK(names("blelloch") == tree);
}

TEST_CASE("the automatic block size of a GPU is the length of its tiles", "[scan][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const auto blocks = [&](const char* op) {
        const auto parameters = scan_parameters(sized(4, 8192, 512, {{"op", op}}));
        return plan_in_theory(*device, "three_phase", parameters, true, false).launches[0].info->grid.x;
    };
    CHECK(blocks("sum") == 4 * 8192 / 512);
    CHECK(blocks("linear") == 4 * 8192 / 256);
}

TEST_CASE("the block size is the length of a tile on CUDA", "[scan][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const int64_t block_size = GENERATE(128, 256, 512, 1024);
    const auto grid = [&](const char* variant, int64_t batch, int64_t channels) {
        const auto parameters =
            scan_parameters(sized(batch, 8192, channels, {{"block_size", block_size}, {"op", "linear"}}));
        return plan_in_theory(*device, variant, parameters, true, false).launches[0].info->grid;
    };
    const int64_t tiles = 8192 / block_size;
    CHECK(grid("lookback", 4, 512).x % (4 * tiles) == 0);
    CHECK(grid("three_phase", 4, 512).x == 4 * tiles);
    CHECK(grid("hillis_steele", 4, 512).x == 4 * tiles);
    CHECK(grid("blelloch", 4, 512).x == 4 * tiles / 2);
    CHECK(grid("lookback", 1, 1).x == (tiles + 7) / 8);  // eight warps, one tile each
}

TEST_CASE("warps of a long row scan three tiles each if a state is one float", "[scan][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const auto chunks = [&](const char* op, int64_t batch, int64_t length) {
        const auto parameters = scan_parameters(sized(batch, length, 1, {{"op", op}}));
        return plan_in_theory(*device, "lookback", parameters, true, false).launches[0].info->grid.x;
    };
    constexpr int64_t row = 1 << 24, tiles = row / 1024;
    CHECK(chunks("sum", 1, row) == (tiles + 11) / 12);
    CHECK(chunks("sum", 4, row / 4) == 4 * ((tiles / 4 + 11) / 12));
    CHECK(chunks("linear", 1, row) == tiles / 8);
    CHECK(chunks("sum", 1, row / 32) == tiles / 32 / 8);  // too short to fill every SM
    CHECK(chunks("sum", 1, row + 1) == tiles / 8 + 1);    // single words
}

TEST_CASE("enough rows to keep every SM busy need no look-back", "[scan][cuda]") {
    const Chip chip = *cuda::chip_of("sm_90a");
    scan::Job job;
    job.length = 8192;
    job.channels = 1;
    job.block_size = 1024;
    job.batch = 64;
    CHECK_FALSE(scan::walks_rows(job, chip));
    job.batch = 8 * chip.multiprocessors;
    CHECK(scan::walks_rows(job, chip));
    job.batch = 1;
    job.length = 1024;  // a single tile
    CHECK(scan::walks_rows(job, chip));
}

TEST_CASE("a tile of columns fits in registers and shared memory of every chip", "[scan][cuda]") {
    scan::Job job;
    job.length = 8192;
    job.batch = GENERATE(1, 1024);  // few columns, and many
    for (const Chip& chip : cuda::known_chips())
        for (const scan::Operator op :
             {scan::Operator::sum, scan::Operator::linear, scan::Operator::complex_linear})
            for (const Storage storage : {Storage::f32, Storage::bf16})
                for (const int64_t block_size : {128, 256, 512, 1024})
                    for (const int64_t channels : {2, 3, 4, 5, 6, 16, 17, 33, 64, 70, 512}) {
                        job.op = op;
                        const bool is_complex = op == scan::Operator::complex_linear;
                        if (is_complex && storage != Storage::f32) continue;
                        job.in = {{"x", {}, bytes_of(storage), storage}};
                        job.block_size = block_size;
                        job.channels = channels;
                        const scan::ColumnTile tile = scan::column_tile(job, chip);
                        INFO(chip.architecture << " block " << block_size << " D " << channels);
                        const int64_t rows = block_size * tile.units / 32 / tile.warps;
                        CHECK(rows * 32 * tile.warps == block_size * tile.units);
                        CHECK(channels % tile.vector == 0);
                        CHECK(tile.units <= 32);
                        CHECK(tile.warps <= 16);
                        CHECK(tile.width() <= 32 * tile.warps);  // one look-back lane per channel
                        CHECK(tile.shared_rows < rows);
                        CHECK(tile.shared_bytes < chip.shared_bytes_per_block);
                        const int64_t words = tile.vector * (storage == Storage::bf16 ? 2
                                                             : is_complex             ? 8
                                                                                      : 4);
                        CHECK((tile.shared_rows == 0 || words >= 4));
                        CHECK(words <= 16);
                        const int64_t planes = op == scan::Operator::sum ? 1 : 2;
                        CHECK((rows - tile.shared_rows) * planes * std::max<int64_t>(words / 4, 1) <= 64);
                    }
}

TEST_CASE(
    "many columns keep their rows in registers where eight warps hold them, and look back at two tiles "
    "unless all tiles run at once",
    "[scan][cuda]") {
    const auto tile = [](int64_t batch, int64_t channels, int64_t length = 8192) {
        scan::Job job;
        job.op = scan::Operator::linear;
        job.in = {{"a", {}, 4, Storage::f32}};
        job.batch = batch;
        job.length = length;
        job.channels = channels;
        job.block_size = 256;
        return scan::column_tile(job, *cuda::chip_of("sm_90a"));
    };
    CHECK(tile(4, 512).warps == 8);
    CHECK(tile(4, 512).shared_rows == 0);
    CHECK(tile(4, 512).ahead == 2);
    CHECK(tile(4, 256, 2048).ahead == 4);  // 256 thread blocks of 8 warps on 132 SMs
    CHECK(tile(4, 256, 2049).ahead == 2);  // 288
    CHECK(tile(4, 256, 1024).ahead == 2);
    CHECK(tile(4, 64).warps == 4);
    CHECK(tile(4, 64).shared_rows == 8);
    CHECK(tile(4, 64).ahead == 4);
}

TEST_CASE("the largest shapes have grids that a GPU accepts", "[scan][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const auto settings = GENERATE(sized(65536, 3, 1), sized(65536, 1, 4096), sized(1, 1 << 28, 1),
                                   sized(1, 1, 65536), sized(1, 1 << 28, 3));
    for (const std::string& variant : variant_names())
        CHECK_FALSE(
            plan_in_theory(*device, variant, scan_parameters(settings), true, false).launches.empty());
}

void check_variants(const Settings& settings, bool with_initial) {
    const Parameters parameters = scan_parameters(settings);
    check_variants(parameters, generated_inputs(parameters, with_initial), Backend::cuda);
}

// Lengths below and around a tile of 128, and of several tiles and a short one. Rows whose length is a
// multiple of 4 are read four values at a time.
const std::vector<int64_t> lengths_around_128 = {1, 3, 127, 128, 129, 1000, 1001};

TEST_CASE("every CUDA variant is right in every operator and direction", "[scan][cuda][gpu]") {
    if (!gpu()) return;
    const std::string op =
        GENERATE("sum", "product", "max", "min", "linear", "complex_sum", "complex_linear", "logcumsumexp");
    // The cases have one channel, one channel per lane with unused lanes, and four channels per lane.
    const auto [channels, direction] = GENERATE(table<int64_t, const char*>(
        {{1, "forward"}, {1, "reverse"}, {3, "reverse"}, {16, "both"}, {32, "forward"}}));
    for (int64_t length : lengths_around_128) {
        check_variants(sized(2, length, channels,
                             {{"op", op},
                              {"direction", direction},
                              {"block_size", int64_t{128}},
                              {"distribution", "uniform"}}),
                       true);
    }
}

TEST_CASE("every CUDA tile is right", "[scan][cuda][gpu]") {
    if (!gpu()) return;
    const std::string op = GENERATE("sum", "linear", "complex_linear", "logcumsumexp");
    const auto [block_size, channels] = GENERATE(table<int64_t, int64_t>({{128, 512},
                                                                          {128, 70},
                                                                          {256, 2},
                                                                          {256, 512},
                                                                          {512, 5},
                                                                          {512, 512},
                                                                          {1024, 1},
                                                                          {1024, 7},
                                                                          {1024, 33},
                                                                          {1024, 512}}));
    for (int64_t length : {block_size - 1, block_size, block_size + 1, 9 * block_size + 36}) {
        check_variants(sized(3, length, channels, {{"op", op}, {"block_size", block_size}}), true);
    }
}

TEST_CASE("CUDA gradients of every operator are right", "[scan][cuda][gpu]") {
    if (!gpu()) return;
    const std::string op =
        GENERATE("sum", "product", "max", "min", "linear", "complex_sum", "complex_linear", "logcumsumexp");
    const std::string direction = GENERATE("forward", "reverse", "both");
    const int64_t channels = GENERATE(1, 7, 32);
    const bool with_initial = GENERATE(false, true);
    for (int64_t length : {1, 2, 300}) {
        check_variants(
            sized(2, length, channels,
                  {{"op", op}, {"direction", direction}, {"block_size", int64_t{128}}, {"backward", true}}),
            with_initial);
    }
    if (op.starts_with("complex")) return;
    const std::string dtype = "bf16";
    check_variants(
        sized(2, 300, channels, {{"op", op}, {"direction", direction}, {"dtype", dtype}, {"backward", true}}),
        with_initial);
}

TEST_CASE("long and many sequences are right on CUDA", "[scan][cuda][gpu]") {
    if (!gpu()) return;
    const std::string op = GENERATE("sum", "linear", "complex_linear", "logcumsumexp");
    const bool compensated = GENERATE(false, true);
    if (compensated && op != "sum") return;
    const Settings more = {{"op", op}, {"compensated", compensated}};
    // The shapes have hundreds of tiles that look back, groups of chunks of a row, odd lengths, one warp per
    // row, and the largest number of rows.
    for (const Settings& settings :
         {sized(1, 65536, 3, more), sized(1, 1 << 21, 1, with(more, {{"block_size", int64_t{128}}})),
          sized(1, 1 << 21, 1, more), sized(1, 1000003, 1, more), sized(3, 100000, 2, more),
          sized(2000, 1500, 1, more), sized(2000, 1501, 1, more), sized(65536, 3, 1, more),
          sized(65536, 5, 2, more), sized(8, 20000, 64, more)}) {
        check_variants(settings, false);
    }
}

TEST_CASE("compensated CUDA sums keep cancelled terms", "[scan][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const int64_t channels = GENERATE(1, 4);
    const std::string op = GENERATE("sum", "complex_sum");
    const auto largest_error = [&](bool compensated, const std::string& variant) {
        const auto parameters = scan_parameters(
            sized(1, 16384, channels,
                  {{"op", op}, {"distribution", "badly_conditioned"}, {"compensated", compensated}}));
        const Arrays inputs = generated_inputs(parameters);
        const Arrays reference = reference_for(parameters, inputs);
        const Arrays outputs = run_on_device(*device, scan_family(), variant, parameters, inputs);
        double largest = 0;
        for (int64_t i = 0; i < outputs[0].count(); ++i)
            largest = std::max(largest, std::abs(outputs[0].value(i) - reference[0].value(i)));
        return largest;
    };
    CHECK(largest_error(false, "sequential") > 0.5);
    for (const std::string& variant : variant_names()) {
        INFO(variant);
        CHECK(largest_error(true, variant) < 0.002);
    }
}

TEST_CASE("NaN and infinities stay in their column on CUDA and do not reach back", "[scan][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const std::string op = GENERATE("sum", "max", "min", "linear", "logcumsumexp");
    const std::string direction = GENERATE("forward", "reverse");
    const bool compensated = op == "sum" && GENERATE(false, true);
    const int64_t channels = GENERATE(1, 16);
    const auto parameters = scan_parameters(sized(
        2, 400, channels,
        {{"op", op}, {"direction", direction}, {"block_size", int64_t{128}}, {"compensated", compensated}}));
    for (const float strange : {NAN, INFINITY, -INFINITY}) {
        Arrays inputs = generated_inputs(parameters);
        const int64_t at = (400 + 200) * channels + channels / 2;  // second sequence, position 200
        find(inputs, "x")->as<float>()[static_cast<size_t>(at)] = strange;
        const Arrays reference = reference_for(parameters, inputs);
        for (const std::string& variant : variant_names()) {
            const Arrays outputs = run_on_device(*device, scan_family(), variant, parameters, inputs);
            INFO(variant << " " << op << " " << direction << " " << strange << " D " << channels);
            CHECK(differing_in_kind(outputs[0], reference[0]) == 0);
        }
    }
}

TEST_CASE("an infinite first gate multiplies the state 0 before it on CUDA", "[scan][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const int64_t length = GENERATE(1, 2, 300), channels = GENERATE(1, 16);
    const auto parameters = scan_parameters(sized(1, length, channels, {{"op", "linear"}}));
    Arrays inputs = generated_inputs(parameters);
    find(inputs, "a")->as<float>()[0] = INFINITY;
    const Arrays reference = reference_for(parameters, inputs);
    REQUIRE(std::isnan(reference[0].as<double>()[0]));
    for (const std::string& variant : variant_names()) {
        const Arrays outputs = run_on_device(*device, scan_family(), variant, parameters, inputs);
        INFO(variant << " length " << length << " channels " << channels);
        CHECK(differing_in_kind(outputs[0], reference[0]) == 0);
    }
}

TEST_CASE("a hundred runs of look-back give the same bits", "[scan][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const std::string op = GENERATE("sum", "linear", "complex_linear", "logcumsumexp");
    const auto [batch, length, channels] =
        GENERATE(table<int64_t, int64_t, int64_t>({{2, 20000, 64}, {2, 1 << 20, 1}, {1, 50000, 3}}));
    const auto parameters =
        scan_parameters(sized(batch, length, channels, {{"op", op}, {"block_size", int64_t{128}}}));
    const Arrays inputs = generated_inputs(parameters);
    run_on_device(*device, scan_family(), "lookback", parameters, inputs, 100);
}

TEST_CASE("an example small enough to check by eye, on CUDA", "[scan][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const auto parameters = scan_parameters(sized(1, 4, 1, {{"op", "linear"}}));
    // y = 0.5 * 8 + 1 = 5, 2 * 5 + 2 = 12, 0 * 12 + 3 = 3, 1 * 3 + 4 = 7
    const Arrays inputs = {floats("a", {1, 4, 1}, {0.5f, 2, 0, 1}), floats("x", {1, 4, 1}, {1, 2, 3, 4}),
                           floats("initial", {1, 1}, {8})};
    const std::vector<float> expected = {5, 12, 3, 7};
    for (const std::string& variant : variant_names()) {
        const Arrays outputs = run_on_device(*device, scan_family(), variant, parameters, inputs);
        INFO(variant);
        CHECK(std::equal(expected.begin(), expected.end(), outputs[0].as<float>().begin()));
    }
}

TEST_CASE("on CUDA the first of equal values gets the gradient of a maximum", "[scan][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const float value = GENERATE(0.0f, INFINITY, NAN);
    const auto parameters = scan_parameters(sized(1, 300, 1, {{"op", "max"}, {"backward", true}}));
    Arrays inputs = generated_inputs(parameters);
    fill(*find(inputs, "x"), value);
    fill(*find(inputs, "dy"), 1);
    find(inputs, "dy")->as<float>()[200] = INFINITY;  // stays where it belongs
    for (const std::string& variant : variant_names()) {
        const Arrays outputs = run_on_device(*device, scan_family(), variant, parameters, inputs);
        INFO(variant << " of " << value);
        CHECK(find(outputs, "dx")->value(0).real() == INFINITY);
        CHECK(find(outputs, "dx")->value(150).real() == 0);
    }
}

}  // namespace
}  // namespace sawtooth
