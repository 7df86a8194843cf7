#include "app/engine/sources/local_source.h"

#include <utility>

#include "app/engine/recordings/recordings.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/run/stopwatch.h"
#include "app/engine/wire/checked.h"

namespace sawtooth {
namespace {

Error gone() { return Error::failure("the result is no longer available; run it again"); }

Figures shared_figures(std::vector<Figure> figures) {
    return std::make_shared<const std::vector<Figure>>(std::move(figures));
}

}  // namespace

void LocalSource::on_deaf(const OnDeaf& deaf) {
    live_.on_deaf(deaf);
    cells_.on_deaf(deaf);
}

Outcome<Source::Seen> LocalSource::run(ResultId id, const Request& request, const std::optional<View>& view,
                                       std::stop_token stop, const OnNews& news) {
    std::optional<RecordedRun> recorded;
    if (!request.recording.empty()) {
        auto prepared = recording_.prepare(request);
        if (!prepared) return prepared.error();
        recorded = std::move(*prepared);
    }
    const auto seen = [&](std::shared_ptr<const Result> result,
                          const std::string& why_none = "") -> Outcome<Seen> {
        if (recorded) {
            auto shown = recorded->shown(result.get(), why_none);
            if (!shown) return shown.error();
            result = std::move(*shown);
        }
        store_.add(id, result);
        Stopwatch clock;
        Seen seen{result, shared_figures(view ? figures_of(*result, *view) : std::vector<Figure>())};
        clock.done("figures");
        seen.figures_ms = clock.hops().front().ms;
        return seen;
    };
    if (recorded && !recorded->live()) return seen(nullptr);
    const Request& live = recorded ? *recorded->live() : request;
    const auto ran = live_.run(live, std::move(stop), [&](const Progress& progress, auto partial) {
        if (!news) return;
        news(progress, nullptr);
        if (!partial) return;
        if (const auto now = seen(partial)) news(progress, &*now);
    });
    if (ran) return seen(*ran);
    // Recorded times are shown also where this CPU cannot compute the outputs.
    if (recorded && ran.error().kind != Error::Kind::cancelled)
        if (auto shown = seen(nullptr, ran.error().text)) return shown;
    return ran.error();
}

Outcome<SweepCell> LocalSource::cell(const Sweep& sweep, size_t index, std::stop_token stop,
                                     const OnProgress& progress) {
    if (!sweep.base.recording.empty()) return recorded_cell(sweep, index, recording_);
    auto cell = cells_.sweep_cell(sweep, index, std::move(stop), progress);
    if (cell && cells_.broken()) return Error::failure(cell->refused);
    return cell;
}

Outcome<Figures> LocalSource::look(ResultId id, const View& view, const Parameters& figure_parameters,
                                   std::stop_token) {
    const auto result = store_.find(id);
    if (!result) return gone();
    const auto family = find_offered_family(result->request.family);
    if (!family) return family.error();
    if (const auto error = check_look(**family, view, figure_parameters)) return *error;
    const auto looked_at = with_figure_parameters(*result, figure_parameters);
    store_.add(id, looked_at);
    return shared_figures(figures_of(*looked_at, view));
}

Outcome<std::shared_ptr<const Result>> LocalSource::whole(ResultId id, std::stop_token) {
    const auto result = store_.find(id);
    if (!result) return gone();
    return result;
}

}  // namespace sawtooth
