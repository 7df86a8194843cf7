#include "app/engine/sources/worker_team.h"

#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace sawtooth {
namespace {

// A worker that loses so many parts in a row gets no more.
constexpr int most_losses = 2;

class Team {
  public:
    Team(const TeamTask& task, const std::string& cache_directory)
        : task_(task), cache_directory_(cache_directory), live_(task.commands.size()) {
        for (size_t part = 0; part < task.parts; ++part) open_.insert(part);
        if (open_.empty()) stop_.request_stop();
    }

    std::optional<Error> run(const std::stop_token& stop) {
        {
            const std::stop_callback forward(stop, [this] { stop_.request_stop(); });
            std::vector<std::jthread> threads;
            for (size_t member = 0; member < task_.commands.size(); ++member)
                threads.emplace_back([this, member] { serve(member); });
        }
        if (problem_) return problem_;
        if (finished_ == task_.parts) return {};
        return stop.stop_requested() ? Error::cancelled() : all_are_lost();
    }

  private:
    // The life of one worker, on a thread of its own.
    void serve(size_t member) {
        const std::string& on = task_.commands[member];
        WorkerSource source(cache_directory_, Counts::everything, WorkerSource::Workers::one);
        source.leave_when_stopped();
        for (int losses = 0; losses < most_losses;) {
            // It starts before it takes a part: a command may wait for a machine, and others do the part
            // then.
            if (const auto error = prepare(source.cells(), on)) return leave(member, *error);
            const auto part = next(member);
            if (!part) return;
            const auto error = task_.work(source, on, *part, stop_.get_token());
            losses = take(member, *part, error) ? losses + 1 : 0;
        }
        leave(member,
              Error::failure(fmt::format("worker \"{}\" was lost {} times in a row", on, most_losses)));
    }

    std::optional<Error> prepare(WorkerLink& link, const std::string& on) {
        Request request = task_.base;
        request.on = on;
        if (auto error = link.connect(request, stop_.get_token())) return error;
        // A single worker says itself what it lacks.
        if (request.backend != BackendChoice::cuda || on.empty() || task_.commands.size() < 2) return {};
        const auto devices = link.devices({}, on, request.time_limit_seconds, stop_.get_token());
        if (!devices) return devices.error();
        if (devices->gpus.size() > static_cast<size_t>(request.device)) return {};
        return Error::failure(fmt::format("worker \"{}\" has no GPU {}{}{}", on, request.device,
                                          devices->gpu_reason.empty() ? "" : ": ", devices->gpu_reason));
    }

    // A part for the worker. One that it lost is for others, if there are any, and else its last.
    std::optional<size_t> choice(size_t member) const {
        for (const size_t part : open_) {
            const auto lost = lost_by_.find(part);
            if (lost == lost_by_.end() || lost->second != member) return part;
        }
        return open_.empty() || ready_.size() > 1 ? std::nullopt : std::optional(*open_.begin());
    }

    // Waits for a part, because parts of lost workers come back.
    std::optional<size_t> next(size_t member) {
        std::optional<size_t> chosen;
        std::unique_lock lock(mutex_);
        ready_.insert(member);
        if (!changed_.wait(lock, stop_.get_token(), [&] { return (chosen = choice(member)).has_value(); }) ||
            stop_.stop_requested())
            return {};
        open_.erase(*chosen);
        return chosen;
    }

    // Returns whether the part is lost, for the first time.
    bool take(size_t member, size_t part, const std::optional<TeamTask::PartError>& problem) {
        const std::lock_guard lock(mutex_);
        if (!problem) {
            task_.finished(part);
            finish();
            return false;
        }
        if (stop_.stop_requested()) return false;
        if (problem->another_may && lost_by_.emplace(part, member).second) {
            open_.insert(part);
            ready_.erase(member);
            tell(fmt::format("worker \"{}\" was lost: {}; its {} goes to {}", task_.commands[member],
                             problem->error.text, task_.part_name, live_ > 1 ? "another" : "a new one"));
            changed_.notify_all();
            return true;
        }
        if (problem->another_may && task_.given_up) {
            task_.given_up(part, problem->error);
            finish();
        } else {
            fail(problem->error);
        }
        return false;
    }

    void finish() {
        if (++finished_ == task_.parts) stop_.request_stop();
    }

    void leave(size_t member, const Error& error) {
        const std::lock_guard lock(mutex_);
        --live_;
        ready_.erase(member);
        if (stop_.stop_requested()) return;
        if (error.kind == Error::Kind::usage) return fail(error);
        last_ = error;
        if (live_ > 0)
            tell(fmt::format("{}; {} of {} workers continue", error.text, live_, task_.commands.size()));
        changed_.notify_all();
    }

    void fail(const Error& error) {
        if (!problem_) problem_ = error;
        stop_.request_stop();
    }

    void tell(const std::string& line) {
        if (task_.told) task_.told(line);
    }

    Error all_are_lost() const {
        const std::string text = last_ ? last_->text : "no worker was named";
        if (task_.commands.size() < 2) return Error::failure(text);
        return Error::failure(
            fmt::format("all {} workers are lost, the last one: {}", task_.commands.size(), text));
    }

    const TeamTask& task_;
    const std::string& cache_directory_;
    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::set<size_t> open_;             // the parts that nobody does
    std::map<size_t, size_t> lost_by_;  // the first worker that lost a part
    std::set<size_t> ready_;            // the workers that wait for a part or do one
    size_t finished_ = 0, live_ = 0;
    std::optional<Error> problem_, last_;
};

}  // namespace

std::optional<Error> run_team(const TeamTask& task, const std::string& cache_directory,
                              std::stop_token stop) {
    return Team(task, cache_directory).run(stop);
}

}  // namespace sawtooth
