// Figures of results whose arrays have no data: those that need none are the same, the others say what they
// need.

#include <map>

#include "app/engine/run/result_figures.h"
#include "app/engine/store/result_store.h"
#include "app/engine/wire/messages.h"
#include "kernels/families.h"
#include "tests/engine/run_engine.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

Result without_data(Result result) {
    for (Array* array : arrays_of(result)) array->data = nullptr;
    return result;
}

std::string bytes_of(const Figure& figure) {
    return encode(FromWorker(FiguresMade{0, std::make_shared<const std::vector<Figure>>(1, figure)}));
}

// Small settings of a family, forward and backward where it has both.
std::vector<Settings> small_settings(const Family& family) {
    Settings small;
    for (const auto& [name, value] : Settings{{"length", int64_t{64}},
                                              {"sequence_length", int64_t{16}},
                                              {"L", int64_t{64}},
                                              {"N", int64_t{64}},
                                              {"batch", int64_t{2}},
                                              {"levels", std::string("8,16")}})
        if (const Parameter* const row = family.parameter(name); row && !row->check(value))
            small.emplace_back(name, value);
    std::vector<Settings> all = {small};
    for (const char* name : {"backward", "pass"})
        if (const Parameter* const row = family.parameter(name))
            for (const Value& choice : row->type == Type::boolean ? std::vector<Value>{true} : row->choices)
                all.push_back(with(small, {{name, choice}}));
    return all;
}

std::map<std::string, Figure> by_id(const std::vector<Figure>& figures) {
    std::map<std::string, Figure> all;
    for (const Figure& figure : figures) all[figure.id] = figure;
    return all;
}

TEST_CASE("figures of a result without the data of its arrays are the same, or say that they need it",
          "[session][figures]") {
    for (const Family* family : offered_families())
        for (const Settings& settings : small_settings(*family)) {
            const Result result = run_in_engine(*family, settings);
            const auto whole = by_id(figures_of(result, {})),
                       bare = by_id(figures_of(without_data(result), {}));
            int same = 0;
            for (const auto& [id, figure] : whole) {
                INFO(family->name << ": " << id);
                REQUIRE(bare.contains(id));
                const Figure& left = bare.at(id);
                CHECK(left.place == figure.place);
                same += bytes_of(left) == bytes_of(figure);
                if (bytes_of(left) == bytes_of(figure)) continue;
                if (left.marks.empty()) CHECK(contains(left.missing, "Needs the arrays of the run"));
                if (!left.marks.empty()) CHECK(id.starts_with("error-"));
            }
            CHECK(bare.size() == whole.size());
            CHECK(same >= 5);  // times, repeats, timeline, occupancy and roofline
        }
}

TEST_CASE("figures of a result that lists no arrays are made", "[session][figures]") {
    for (const Family* family : offered_families()) {
        Result result = without_data(run_in_engine(*family, small_settings(*family).front()));
        result.inputs.clear();
        result.reference.clear();
        for (VariantResult& variant : result.variants) variant.outputs.clear();
        INFO(family->name);
        CHECK(figures_of(result, {}).size() >= 5);
    }
}

}  // namespace
}  // namespace sawtooth
