#include "app/gui/state/file_writer.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "app/engine/guarded.h"

namespace sawtooth {

void FileWriter::add(const std::string& path, Write write, Done done) {
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(waiting_, [&](const Job& job) { return job.path == path; });
        waiting_.push_back({path, std::move(write), std::move(done)});
    }
    changed_.notify_one();
    if (thread_.joinable()) return;
    try {
        thread_ = std::jthread([this](const std::stop_token& stop) { write_until(stop); });
    } catch (const std::system_error&) {  // there are no more threads: writes on this one
        std::stop_source stopped;
        stopped.request_stop();
        write_until(stopped.get_token());
    }
}

void FileWriter::take_written(LabState& lab) {
    std::vector<Written> taken;
    {
        const std::lock_guard lock(mutex_);
        taken.swap(written_);
    }
    for (const Written& one : taken) one.done(lab, one.problem);
}

void FileWriter::finish(LabState& lab) {
    thread_ = {};  // its end completes the waiting writes
    take_written(lab);
}

void FileWriter::write_until(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
        Job job = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        std::optional<Error> problem = guarded(job.write);
        lock.lock();
        written_.push_back({std::move(job.done), std::move(problem)});
        lock.unlock();
        if (wake_) wake_();
        lock.lock();
    }
}

}  // namespace sawtooth
