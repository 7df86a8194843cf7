#include "app/engine/store/result_store.h"

#include "tests/kit/catch.h"

using namespace sawtooth;

namespace {

std::shared_ptr<const Result> result_of(int64_t numbers, const Arrays& inputs = {}) {
    auto result = std::make_shared<Result>();
    result->inputs = inputs;
    if (numbers > 0) result->reference = {Array::zeros("y", Dtype::f32, {numbers})};
    return result;
}

}  // namespace

TEST_CASE("the oldest results leave the store, but the newest and the kept ones stay", "[store]") {
    ResultStore store(4000);
    store.add(1, result_of(400));
    store.add(2, result_of(400));
    CHECK(store.find(1));
    store.add(3, result_of(400));
    CHECK_FALSE(store.find(1));
    CHECK(store.find(2));
    store.keep({2});
    store.add(4, result_of(2000));
    CHECK(store.find(2));
    CHECK_FALSE(store.find(3));
    CHECK(store.find(4));  // though it is larger than all that fits
    store.keep({});
    CHECK_FALSE(store.find(2));
    CHECK(store.find(4));
}

TEST_CASE("a result that is added again replaces its earlier form", "[store]") {
    ResultStore store;
    store.add(1, result_of(1));
    store.add(2, result_of(1));
    const auto later = result_of(2);
    store.add(1, later);
    CHECK(store.find(1) == later);
    CHECK(store.find(2));
}

TEST_CASE("arrays that results share count once, and results without arrays are limited in number",
          "[store]") {
    const Arrays inputs = {Array::zeros("x", Dtype::f32, {900})};
    ResultStore store(4000);
    for (ResultId id = 1; id <= 5; ++id) store.add(id, result_of(0, inputs));
    CHECK(store.find(1));
    for (ResultId id = 6; id <= 66; ++id) store.add(id, result_of(0));
    CHECK_FALSE(store.find(2));
    CHECK(store.find(3));
}
