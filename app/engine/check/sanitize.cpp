#include "app/engine/check/sanitize.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "app/engine/check/resume.h"
#include "app/engine/files/descriptor.h"
#include "app/engine/files/files.h"
#include "app/engine/sources/worker_link.h"

namespace sawtooth {
namespace {

constexpr const char* tools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
// A tool makes kernels ten to a hundred times slower.
constexpr int64_t requests_of_variant = 3;
constexpr double patience = 120;
constexpr int64_t most_sanitizers = 8;
constexpr int64_t longest_log = 1 << 20;

std::optional<std::string> find_sanitizer() {
    std::vector<std::string> folders;
    if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::string(home) + "/bin");
    folders.emplace_back("/usr/local/cuda/bin");
    std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
    for (size_t start = 0; start <= path.size();) {
        const size_t end = std::min(path.find(':', start), path.size());
        if (end > start) folders.push_back(path.substr(start, end - start));
        start = end + 1;
    }
    for (const std::string& folder : folders)
        if (folder.starts_with('/') && ::access((folder + "/compute-sanitizer").c_str(), X_OK) == 0)
            return folder + "/compute-sanitizer";
    return {};
}

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

// A file that is removed together with this object.
class TemporaryFile {
  public:
    TemporaryFile() {
        std::error_code ignored;
        path_ = (std::filesystem::temp_directory_path(ignored) / "sawtooth-sanitizer-XXXXXX").string();
        file_ = Descriptor(::mkostemp(path_.data(), O_CLOEXEC));
    }
    ~TemporaryFile() { ::unlink(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
    Descriptor file_;
};

// One variant to run under one tool.
struct Task {
    std::string variant, tool;
};

class Sanitizing {
  public:
    Sanitizing(std::string sanitizer, const std::string& cache_directory, const CheckRequest& request,
               std::stop_token stop, const OnCheck& news)
        : sanitizer_(std::move(sanitizer)),
          cache_directory_(cache_directory),
          request_(request),
          stop_(std::move(stop)),
          news_(news) {}

    Outcome<CheckReport> run(const Family& family) {
        const auto& chosen = request_.base.variants;
        for (const char* tool : tools)
            for (const Variant& variant : family.variants)
                if (variant.plan_cuda &&
                    (chosen.empty() || std::find(chosen.begin(), chosen.end(), variant.name) != chosen.end()))
                    tasks_.push_back({variant.name, tool});
        report_.family = family.name;
        report_.size = static_cast<int64_t>(tasks_.size()) * requests_of_variant;
        {
            std::vector<std::jthread> threads;
            for (int64_t i = 0; i < std::min<int64_t>(most_sanitizers, static_cast<int64_t>(tasks_.size()));
                 ++i)
                threads.emplace_back([this] { work(); });
        }
        if (problem_) return *problem_;
        if (stop_.stop_requested()) return Error::cancelled();
        report_.complete = true;
        report_.trying.reset();
        if (news_) news_(report_);
        return report_;
    }

  private:
    double seconds_since_start() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

    void work() {
        while (!stop_.stop_requested()) {
            Task task;
            {
                const std::lock_guard lock(mutex_);
                if (problem_ || next_ >= tasks_.size()) return;
                task = tasks_[next_++];
            }
            take(task);
        }
    }

    void take(const Task& task) {
        const TemporaryFile log;
        CheckRequest own = request_;
        own.base.variants = {task.variant};
        own.most = requests_of_variant;
        own.patience = patience;
        own.only_first = true;  // the tool of another worker would write over the log
        own.base.on = (task.tool == "initcheck" ? "SAWTOOTH_UNFILLED=1 " : "") + quoted(sanitizer_) +
                      " --tool " + task.tool + " --log-file " + quoted(log.path()) + " " +
                      quoted(std::filesystem::read_symlink("/proc/self/exe").string()) + " worker" +
                      (cache_directory_.empty() ? "" : " --cache-dir " + quoted(cache_directory_));
        WorkerLink link(cache_directory_);
        Outcome<CheckReport> report = link.check(own, stop_);
        link.finish(patience);  // the tool completes its log when the worker exits
        const auto text = read_file(log.path(), longest_log);
        const std::string found = text ? first_report(*text) : text.error().text;
        const std::lock_guard lock(mutex_);
        if (!report) {
            if (!problem_) problem_ = report.error();
            return;
        }
        add(task, without_lost_once(*report), found);
        if (news_) news_(report_);
    }

    void add(const Task& task, const CheckReport& report, const std::string& found) {
        report_.device = report.device;
        report_.tried += report.tried;
        report_.judged += report.judged;
        report_.cannot_judge += report.cannot_judge;
        report_.given_up += report.given_up;
        report_.seconds = seconds_since_start();
        for (Finding finding : report.findings) {
            finding.request.on = request_.base.on;
            finding.seconds = report_.seconds;
            if (!finding.problem.empty()) finding.problem = task.tool + ": " + finding.problem;
            report_.findings.push_back(std::move(finding));
        }
        if (found.empty()) return;
        Finding finding;  // a tool does not tell which of the Requests it was
        finding.number = -1;
        finding.seconds = report_.seconds;
        finding.variant = task.variant;
        finding.request = request_.base;
        finding.request.variants = {task.variant};
        finding.problem = task.tool + ": " + found;
        report_.findings.push_back(std::move(finding));
    }

    const std::string sanitizer_, cache_directory_;
    const CheckRequest& request_;
    const std::stop_token stop_;
    const OnCheck& news_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::vector<Task> tasks_;
    std::mutex mutex_;
    size_t next_ = 0;
    CheckReport report_;
    std::optional<Error> problem_;
};

}  // namespace

// Every line of the log starts with "=========". The lines of a report are indented by one space, and those
// that name the place in the kernel by more.
std::string first_report(const std::string& log) {
    constexpr std::string_view mark = "========= ";
    std::string words;
    for (size_t start = 0; start < log.size();) {
        const size_t end = std::min(log.find('\n', start), log.size());
        std::string_view line(log.data() + start, end - start);
        start = end + 1;
        if (!line.starts_with(mark)) continue;
        line.remove_prefix(mark.size());
        // A worker that a faulty launch ended says itself why it returned an error.
        const bool heads = line.starts_with("COMPUTE-SANITIZER") || line.find("SUMMARY") != line.npos ||
                           line.starts_with("Target application returned an error");
        if (heads || line.empty()) continue;
        if (!words.empty() && line.front() != ' ') break;  // the next report begins
        const size_t text = line.find_first_not_of(' ');
        if (text == line.npos) continue;
        words += (words.empty() ? "" : " ") + std::string(line.substr(text));
        if (words.size() > 200) break;
    }
    const bool is_whole = log.find("SUMMARY") != std::string::npos;
    return words.empty() && !is_whole ? "the tool did not finish its report" : words;
}

Outcome<std::vector<CheckReport>> sanitize(const std::string& cache_directory,
                                           const std::vector<CheckRequest>& requests, std::stop_token stop,
                                           const OnCheck& news) {
    if (const auto problem = gpu_problem()) return *problem;
    const auto sanitizer = find_sanitizer();
    if (!sanitizer)
        return Error::failure(
            "--sanitize: compute-sanitizer was not found in CUDA_HOME/bin, /usr/local/cuda/bin or PATH: "
            "install it with the CUDA Toolkit");
    std::vector<CheckReport> reports;
    for (const CheckRequest& request : requests) {
        const auto family = find_offered_family(request.base.family);
        if (!family) return family.error();
        const auto report = Sanitizing(*sanitizer, cache_directory, request, stop, news).run(**family);
        if (!report) return report.error();
        reports.push_back(*report);
    }
    return reports;
}

}  // namespace sawtooth
