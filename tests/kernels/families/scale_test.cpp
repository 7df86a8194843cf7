// The example family, tests/scale, works everywhere without further code.

#include <algorithm>

#include "app/cli/command_line.h"
#include "app/engine/run/runner.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/sweep_loop.h"
#include "app/engine/sources/worker_link.h"
#include "app/gui/state/headless.h"
#include "tests/engine/run_worker.h"
#include "tests/gui/user.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/scale/family.h"

namespace sawtooth {
namespace {

Request request_of_scale() {
    Request request;
    request.family = "scale";
    request.repeats = 1;
    request.threads = 1;
    request.parameters.set("length", int64_t{1000});
    request.parameters.set("a", 3.0);
    return request;
}

TEST_CASE("the example of a family is run by the engine", "[scale]") {
    Runner runner(shared_cache());
    const auto result = runner.run(request_of_scale(), {});
    REQUIRE(result);
    check_right(**result);
    const Array &x = *find((*result)->inputs, "x"), &y = *find((*result)->variants[0].outputs, "y");
    REQUIRE(y.count() == 2000);
    for (size_t i = 0; i < 2000; ++i) CHECK(y.as<float>()[i] == 3 * x.as<float>()[i]);
}

TEST_CASE("the example of a family is run by a worker, with its figures", "[scale]") {
    Request request = request_of_scale();
    request.on = worker_command();
    WorkerLink link("");
    const auto seen = link.run(1, request, View{}, {});
    REQUIRE(seen);
    check_right(*seen->result);
    const auto drawn = [&](const char* id) {
        return std::any_of(seen->figures->begin(), seen->figures->end(),
                           [&](const Figure& figure) { return figure.id == id; });
    };
    CHECK(drawn("output-y"));
    CHECK(drawn("error-y"));
}

TEST_CASE("the example of a family is swept over its tiling parameter", "[scale]") {
    const std::vector<Value> sizes = scale_family().parameter("block_size")->choices;
    LocalSource source(shared_cache());
    const auto swept = run_sweep(source, {"", request_of_scale(), {{"block_size", sizes}}}, {});
    REQUIRE(swept);
    REQUIRE(swept->cells.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        const Result& result = *swept->cells[i].result;
        const int64_t size = std::get<int64_t>(sizes[i]);
        CHECK(result.variants[0].launches[0].info->grid.x == (2000 + size - 1) / size);
        CHECK(*result.variants[0].errors[0].max_abs < 1e-6);
    }
}

TEST_CASE("the example of a family is chosen in the window, and its plots appear", "[scale][window]") {
    WindowOptions options;
    options.theme = "dark";
    options.cache_directory = shared_cache();
    options.request.family = "scan";
    options.request.repeats = 1;
    auto session = Headless::open(options);
    REQUIRE(session);
    LabState& lab = (*session)->lab();
    (*session)->wait_until_done();
    User user(lab);
    user.play([](ImGuiTestContext* ctx) {
        ctx->SetRef("//top bar");
        ctx->ComboClick("##family/Scale");
    });
    (*session)->wait_until_done();
    CHECK(lab.family == &scale_family());
    REQUIRE(lab.result);
    CHECK(lab.result->request.family == "scale");
    REQUIRE(lab.figures);
    CHECK(std::any_of(lab.figures->begin(), lab.figures->end(),
                      [](const Figure& figure) { return figure.place == Place::outputs; }));
    user.frames(3);
}

TEST_CASE("the example of a family has a page in the report", "[scale]") {
    const TemporaryFolder folder;
    const std::string target = folder.file("report"), cache = shared_cache();
    std::vector<std::string> words = {"sawtooth", "report", target,        "scale", "--repeat",
                                      "1",        "--json", "--cache-dir", cache};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    CHECK(run_command_line(static_cast<int>(arguments.size()), arguments.data(), {}) == 0);
    const std::string page = content_of(target + "/index.html");
    CHECK(contains(page, "Scale"));
    CHECK(contains(page, "<svg"));
    CHECK(contains(page, "block_size"));
}

}  // namespace
}  // namespace sawtooth
