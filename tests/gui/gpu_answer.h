#pragma once

#include <functional>

#include "kernels/figures/figures.h"
#include "profiling/figures.h"
#include "tests/gui/fake_engine.h"
#include "tests/kit/gpu_result.h"

namespace sawtooth {

// Answers with a result of a GPU and all of its figures.
inline void answer_from_gpu(FakeEngine& engine, const std::function<void(Result&)>& change = {}) {
    const auto result = gpu_result(engine.requests.back(), "NVIDIA H100 80GB HBM3, sm_90a");
    if (change) change(*result);
    std::vector<Figure> figures = FakeEngine::figures("of the result");
    std::erase_if(figures, [](const Figure& figure) {
        return figure.place == Place::times || figure.place == Place::timeline;
    });
    for (const Figure& figure : {times_figure(*result), timeline_figure(*result), occupancy_figure(*result)})
        figures.push_back(figure);
    engine.answer(engine.run_ticket, result, std::move(figures));
}

}  // namespace sawtooth
