#include "app/engine/wire/messages.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/engine/identity.h"
#include "app/engine/wire/checked.h"
#include "app/engine/wire/wire.h"
#include "tests/engine/full_messages.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

using namespace sawtooth;

namespace {

template <class Message>
Outcome<Message> decoded_as(const std::string& bytes) {
    if constexpr (std::is_same_v<Message, ToWorker>)
        return decode_to_worker(bytes);
    else
        return decode_from_worker(bytes);
}

// Checks that a message which is decoded and encoded again has the same bytes. The compiler checks that every
// field is encoded.
template <class Message>
Message there_and_back(const Message& message) {
    const std::string bytes = encode(message);
    const auto back = decoded_as<Message>(bytes);
    REQUIRE(back);
    CHECK(back->index() == message.index());
    CHECK(encode(*back) == bytes);
    return *back;
}

}  // namespace

TEST_CASE("every message to a worker survives encoding", "[messages]") {
    there_and_back(ToWorker(Hello{"0.1.0", 1, 2, "a GPU"}));
    const auto part = there_and_back(ToWorker(FilePart{true, {0, 255, 7}}));
    CHECK(std::get<FilePart>(part).bytes == Bytes{0, 255, 7});
    View view;
    view.visible["position"] = {-1.5, inf};
    view.columns = 640;
    const auto run = there_and_back(ToWorker(RunJob{18446744073709551615u, 5, full_request(), true, view}));
    CHECK(std::get<RunJob>(run).job == 18446744073709551615u);
    CHECK(std::get<RunJob>(run).request == full_request());
    CHECK(std::get<RunJob>(run).view == view);
    CHECK(std::holds_alternative<double>(std::get<RunJob>(run).request.parameters.at("rate")));
    CHECK_FALSE(std::get<RunJob>(there_and_back(ToWorker(RunJob{1, 5, {}, false, {}}))).view);
    const Sweep sweep{"own", full_request(), {{"length", {int64_t{1}, 2.5, std::string("auto")}, {"chunk"}}}};
    const auto cell = there_and_back(ToWorker(CellJob{2, sweep, true, 3}));
    CHECK(std::get<CellJob>(cell).sweep == sweep);
    CHECK(std::get<CellJob>(cell).cell == 3);
    const CheckRequest check{full_request(), 2.5, true, 60, 9, 3, 12, 40, {"lookback"}};
    const auto checks = there_and_back(ToWorker(CheckJob{6, check}));
    CHECK(std::get<CheckJob>(checks).request.base == full_request());
    CHECK(std::get<CheckJob>(checks).request.seconds == 2.5);
    CHECK(std::get<CheckJob>(checks).request.only_first);
    CHECK(std::get<CheckJob>(checks).request.patience == 60);
    CHECK(std::get<CheckJob>(checks).request.part == 3);
    CHECK(std::get<CheckJob>(checks).request.leave_out == check.leave_out);
    const auto look = there_and_back(ToWorker(LookJob{4, 3, view, full_request().parameters}));
    CHECK(std::get<LookJob>(look).figure_parameters == full_request().parameters);
    CHECK(std::get<FetchJob>(there_and_back(ToWorker(FetchJob{5, 3, 2, 1}))).array == 2);
    CHECK(std::get<CancelJob>(there_and_back(ToWorker(CancelJob{6}))).job == 6);
    CHECK(std::get<KeepResults>(there_and_back(ToWorker(KeepResults{{3, 1}}))).ids ==
          std::vector<ResultId>{3, 1});
    const auto bench = there_and_back(ToWorker(BenchJob{7, {"scan", "btp"}, full_request()}));
    CHECK(std::get<BenchJob>(bench).families == std::vector<std::string>{"scan", "btp"});
    CHECK(std::get<DevicesJob>(there_and_back(ToWorker(DevicesJob{8, false, true}))).measures_limits);
}

TEST_CASE("a result survives encoding, with arrays but without their data", "[messages]") {
    const auto figures = std::make_shared<const std::vector<Figure>>(all_marks());
    const auto back = there_and_back(FromWorker(Shown{7, full_result(), figures}));
    const Result& result = *std::get<Shown>(back).result;
    CHECK(result.request == full_request());
    CHECK(result.inputs[0].shape == Shape{2, 0, 3});
    CHECK_FALSE(result.inputs[0].data);
    CHECK(result.reference[0].dtype == Dtype::f64);
    CHECK(std::isinf(result.work.operations));
    REQUIRE(result.variants.size() == 2);
    const VariantResult& variant = result.variants[0];
    CHECK(variant.outputs[0].name == "y");
    CHECK_FALSE(variant.errors[0].rel_l2);
    CHECK(std::isnan(variant.errors[0].by_position[1]));
    CHECK(variant.errors[0].by_position[2] == -INFINITY);
    CHECK(variant.time->samples == std::vector<double>{9, 10, 12.1});
    REQUIRE(variant.launches.size() == 3);
    CHECK(variant.launches[0].info == variant.launches[2].info);  // the info is still shared
    CHECK(variant.launches[1].info->name == "columns");
    CHECK(variant.launches[0].info->resources->shared_bytes == 1024);
    CHECK(variant.launches[2].busy[1].worker == 3);
    CHECK(std::isnan(variant.launches[2].busy[1].end_us));
    CHECK(variant.launches[0].counters.at("rate") == -inf);
    CHECK(variant.compiled[0].occupancy.limiter == "warps");
    CHECK(variant.compiled[0].threads == 64);
    CHECK(std::isnan(variant.tracks[0].values[1]));
    CHECK_FALSE(variant.metrics[1].value);
    CHECK(result.ceilings->gpu->launch_programmatic_us == 4);
    CHECK(result.clocks->throttled == "power");
    CHECK(result.complete);
}

TEST_CASE("figures survive encoding with every kind of mark, also non-finite values", "[messages]") {
    const auto made = std::make_shared<const std::vector<Figure>>(all_marks());
    const auto back = there_and_back(FromWorker(FiguresMade{7, made}));
    const Figure& figure = std::get<FiguresMade>(back).figures->front();
    REQUIRE(figure.marks.size() == std::variant_size_v<Mark>);
    for (size_t i = 0; i < figure.marks.size(); ++i) CHECK(figure.marks[i].index() == i);
    CHECK(std::isnan(std::get<Line>(figure.marks[0]).y[0]));
    CHECK_FALSE(std::get<Line>(figure.marks[0]).joined);
    CHECK(std::get<Line>(figure.marks[0]).y[1] == -inf);
    const HeatMap& heat = std::get<HeatMap>(figure.marks[3]);
    CHECK(heat.texts == std::vector<std::string>{"one", "refused"});
    CHECK(heat.framed.at(0).label == "best");
    CHECK(heat.sets_x.values == std::vector<double>{16, 32});
    CHECK(std::get<Tree>(figure.marks[6]).edges.at(0).text == "2 KiB");
    CHECK(std::get<Matrix>(figure.marks[4]).cells == std::vector<int>{0, -1});
    CHECK(figure.x.scale == Scale::log2);
    CHECK_FALSE(figure.x.maximum);
    CHECK(*figure.y.maximum == inf);
    CHECK(std::get<FiguresMade>(back).figures->back().missing == "how to get it");
}

TEST_CASE("the other messages of a worker survive encoding", "[messages]") {
    there_and_back(FromWorker(Hello{"0.1.0", 1, 2, "a GPU"}));
    there_and_back(FromWorker(Alive{}));
    const auto said = there_and_back(FromWorker(Said{1, {0.5, "lookback", true}}));
    CHECK(std::get<Said>(said).progress.excused);
    const auto cell = there_and_back(FromWorker(CellDone{2, {{int64_t{1}, true}, "refused", full_result()}}));
    CHECK(std::get<CellDone>(cell).cell.values == std::vector<Value>{int64_t{1}, true});
    there_and_back(FromWorker(CellDone{2, {{}, "refused", nullptr}}));
    there_and_back(FromWorker(ArrayPart{3, {1, 2, 3}}));
    const auto failed = there_and_back(FromWorker(Failed{4, Error::usage("what"), true}));
    CHECK(std::get<Failed>(failed).error.exit_code() == 2);
    CHECK(std::get<Failed>(failed).ending);
}

TEST_CASE("a report of bench survives encoding", "[messages]") {
    BenchRow row;
    row.family = "scan";
    row.name = "one row";
    row.variant = "lookback";
    row.limit_name = "copy";
    row.time = TimeStatistics{2, 1, 3, {1, 2, 3}};
    row.ratio = Spread{1.25, 1, 1.5};
    row.bound = Bound{Bound::By::steps, std::nullopt, 0.5, 12};
    row.costs = {{"rows", "scans", 3, 1e6, {2, 1, 3, {}}, 1.5}};
    row.counted = "rows, memory: DRAM at 83 % of its peak";
    row.verdict = Verdict::right;
    BenchReport report{"a GPU", "2030-01-02", "1.0", {row}, {"a note"}, 9, Cache::hot};
    report.ended = Error::cancelled();
    const auto answer = there_and_back(FromWorker(BenchDone{9, report}));
    const BenchReport& back = std::get<BenchDone>(answer).report;
    REQUIRE(back.rows.size() == 1);
    CHECK(back.rows[0].ratio->q3 == 1.5);
    CHECK(back.rows[0].bound->by == Bound::By::steps);
    CHECK(back.rows[0].costs.at(0).over_copy == 1.5);
    CHECK(back.rows[0].counted == row.counted);
    CHECK(back.cache == Cache::hot);
    CHECK(back.ended->exit_code() == 130);
    CHECK(checked_bench(back));
    BenchReport wrong = back;
    wrong.rows[0].variant = "../x";
    CHECK_FALSE(checked_bench(wrong));
    wrong = back;
    wrong.rows[0].time->median = NAN;
    CHECK_FALSE(checked_bench(wrong));
}

TEST_CASE("a report of a check survives encoding", "[messages]") {
    CheckReport report;
    report.family = "scan";
    report.tried = 7;
    report.trying = full_request();
    Finding finding;
    finding.variant = "lookback";
    finding.request = full_request();
    finding.verdict = {"y", Verdict::wrong, 65, 1, 0.5, JudgedElement{{0, 64}, NAN, -inf, 1e-7, "here"}};
    finding.figures = {Figure{}};
    report.findings = {finding};
    const auto answer = there_and_back(FromWorker(Checked{9, report}));
    const CheckReport& back = std::get<Checked>(answer).report;
    CHECK(back.tried == 7);
    CHECK(*back.trying == full_request());
    REQUIRE(back.findings.size() == 1);
    CHECK(back.findings[0].verdict.worst->want == -inf);
    CHECK(back.findings[0].figures.size() == 1);
}

TEST_CASE("another format is refused with both versions, another build is not", "[messages]") {
    CHECK_FALSE(version_refusal(hello_from("")));
    CHECK_FALSE(version_refusal({"9.8.7+other", wire_format, 1, ""}));
    const auto refusal = version_refusal({"9.8.7", 99, 1, ""});
    REQUIRE(refusal);
    for (const char* word : {"9.8.7", build_identity(), "99"}) CHECK(contains(*refusal, word));
    CHECK(other_build(hello_from("")).empty());
    CHECK(contains(other_build({"9.8.7", wire_format, 1, ""}), "it is sawtooth 9.8.7"));
}

TEST_CASE("a message of another build of this format is read as far as both know its fields", "[messages]") {
    const auto change = [](const auto& changed) {
        auto tree =
            nlohmann::json::from_msgpack(encode(FromWorker(CellDone{2, {{int64_t{1}}, "", full_result()}})));
        changed(tree["CellDone"]["cell"]["result"]);
        std::string bytes;
        nlohmann::json::to_msgpack(tree, bytes);
        return std::get<CellDone>(*decode_from_worker(bytes)).cell.result;
    };
    const auto newer = change([](nlohmann::json& result) {
        result["temperature"] = {{"celsius", {1, 2.5, nullptr, {{"deep", nlohmann::json::binary({1, 2})}}}}};
        result["variants"][0]["unit"] = "ms";
    });
    CHECK(newer->device == "a GPU");
    CHECK(newer->variants.at(0).launches.size() == 3);
    const auto older = change([](nlohmann::json& result) {
        for (const char* name : {"clocks", "in_turns", "processors", "notes"}) result.erase(name);
        result["request"].erase("repeats");
    });
    CHECK_FALSE(older->clocks);
    CHECK(older->notes.empty());
    CHECK(older->request.repeats == Request().repeats);
    CHECK(older->variants.at(0).launches.size() == 3);
}

TEST_CASE("the arrays of a result have one order", "[messages]") {
    Result result;
    for (const char* name : {"a", "b"}) result.inputs.push_back(Array::zeros(name, Dtype::f32, {1}));
    result.variants.resize(2);
    result.variants[1].outputs.push_back(Array::zeros("c", Dtype::f32, {1}));
    result.reference.push_back(Array::zeros("d", Dtype::f64, {1}));
    std::string names;
    for (const Array* array : arrays_of(result)) names += array->name;
    CHECK(names == "abcd");
}
