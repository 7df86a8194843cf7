#include "app/cli/families_in_team.h"

#include <utility>

#include "app/engine/sources/worker_team.h"

namespace sawtooth::cli {

FamiliesDone families_in_team(const Settings& settings, const std::vector<std::string>& families,
                              const std::stop_token& stop, ProgressBar& bar, const FamilyWork& work) {
    FamiliesDone done;
    TeamTask task;
    task.commands = settings.workers;
    task.base = settings.request;
    task.parts = families.size();
    task.part_name = "family";
    task.work = [&](WorkerSource& source, const std::string& on, size_t part,
                    std::stop_token stop_team) -> std::optional<TeamTask::PartError> {
        Request request = settings.request;
        request.on = on;
        const std::optional<Error> error = work(source, request, part, std::move(stop_team));
        // A sweep goes on after it lost a worker, without that cell.
        if (const auto loss = source.cells().take_loss())
            return TeamTask::PartError{error.value_or(Error::failure(*loss)), true};
        if (error) return TeamTask::PartError{*error};
        return {};
    };
    task.finished = [&](size_t part) {
        done.indices.insert(part);
        bar.show(static_cast<double>(done.indices.size()) / static_cast<double>(families.size()),
                 families[part]);
    };
    task.told = [&](const std::string& line) { note_beside(bar, line); };
    done.error = run_team(task, settings.cache_directory, stop);
    return done;
}

}  // namespace sawtooth::cli
