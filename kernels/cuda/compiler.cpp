#include "kernels/cuda/compiler.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>

#include "kernels/cuda/compile_log.h"
#include "kernels/cuda/cubin_cache.h"
#include "kernels/cuda/fingerprint.h"
#include "kernels/cuda/nvrtc.h"

namespace sawtooth::cuda {
namespace {

constexpr const char* quick_option = "--Ofast-compile=max";

std::vector<std::string> options_for(const Source& source, const std::string& architecture,
                                     const CompilerOptions& given, const NvrtcVersion& version) {
    std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17",
                                        "--ptxas-options=-v"};
    if (version.major > 12 || (version.major == 12 && version.minor >= 9)) {
        // If there is a driver, NVRTC has its own cache of compiled kernels and returns an empty log for a
        // hit.
        options.push_back("--no-cache");
        // Without the textures and the runtime functions of CUDA, which no kernel uses and which take longer
        // to parse than a short kernel.
        options.push_back("--minimal");
        if (given.quick) options.push_back(quick_option);
    }
    for (const auto& [name, value] : source.defines) options.push_back("-D" + name + "=" + value);
    if (given.jitter != 0) options.push_back("-DSAWTOOTH_JITTER=" + std::to_string(given.jitter));
    return options;
}

std::string words_of(const Source& source, const std::string& architecture, int jitter) {
    std::string words = source.file + " " + architecture + " " + std::to_string(jitter);
    for (const auto& [name, value] : source.defines) words += " " + name + "=" + value;
    return words;
}

// Must change when the format of cache files changes.
constexpr const char* cache_format = "sawtooth cubin 2";

std::string key_of(const std::vector<SourceText>& texts, const std::vector<std::string>& options,
                   const NvrtcVersion& version) {
    Fingerprint fingerprint;
    fingerprint.add(cache_format);
    fingerprint.add(version.text());
    fingerprint.add(std::to_string(options.size()));
    for (const std::string& option : options) fingerprint.add(option);
    for (const SourceText& source : texts) {
        fingerprint.add(source.name);
        fingerprint.add(source.text);
    }
    return fingerprint.hex();
}

Outcome<Compiled> compile_texts(const std::vector<SourceText>& texts, const std::vector<std::string>& options,
                                std::string key, const std::stop_token& stop) {
    auto translation = translate(texts, options, stop);
    if (!translation) return translation.error();
    CompileLog log = read_compile_log(translation->log, texts[0].name);
    if (translation->cubin.empty())
        return Error::failure(log.first_error.empty() ? texts[0].name + ": NVRTC failed without a message"
                                                      : log.first_error);
    return Compiled{std::move(key), std::move(translation->cubin), std::move(log.kernels),
                    std::move(log.warnings)};
}

}  // namespace

Compiler::Compiler(CompilerOptions options) : options_(std::move(options)) {}

CubinCache Compiler::cache() const {
    return CubinCache(options_.cache_directory.empty() ? "" : options_.cache_directory + "/cubin");
}

Outcome<Compiler::Job> Compiler::job_of(const Source& source, const std::string& architecture) const {
    auto texts = read_with_includes(source.file, options_.kernels_directory);
    if (!texts) return texts.error();
    const auto version = nvrtc_version();
    if (!version) return version.error();
    std::vector<std::string> options = options_for(source, architecture, options_, *version);
    std::string key = key_of(*texts, options, *version);
    return Job{std::move(*texts), std::move(options), std::move(key)};
}

Outcome<Compiled> Compiler::make(const Job& job, const std::string& architecture,
                                 const std::function<void(const std::string& file)>& compiling,
                                 const std::stop_token& stop) const {
    const CubinCache cache = this->cache();
    if (auto kept = cache.find(job.key)) return std::move(*kept);
    const CubinCache::Turn turn = cache.turn(job.key, stop);
    if (auto kept = cache.find(job.key)) return std::move(*kept);
    if (!nvrtc_knows(architecture))
        return Error::failure("NVRTC " + nvrtc_version()->text() + " does not compile for " + architecture +
                              "; set CUDA_HOME to a newer CUDA Toolkit");
    if (compiling) compiling(job.texts.front().name);
    auto made = compile_texts(job.texts, job.options, job.key, stop);
    if (options_.quick && made && !made->log.empty()) {  // which may be about what was not optimised
        std::vector<std::string> options = job.options;
        std::erase(options, quick_option);
        made = compile_texts(job.texts, options, job.key, stop);
    }
    if (made) cache.keep(job.key, *made);
    return made;
}

Outcome<Compiled> Compiler::compile(const Source& source, const std::string& architecture,
                                    const std::function<void(const std::string& file)>& compiling,
                                    const std::stop_token& stop) {
    if (const Compiled* const compiled = known(source, architecture)) return *compiled;
    const auto job = job_of(source, architecture);
    if (!job) return job.error();
    if (const auto compiled = compiled_.find(job->key); compiled != compiled_.end())
        return keep(source, architecture, compiled->second);
    auto made = make(*job, architecture, compiling, stop);
    if (!made) return made.error();
    return keep(source, architecture, std::move(*made));
}

const Compiled* Compiler::known(const Source& source, const std::string& architecture) const {
    if (!options_.kernels_directory.empty()) return nullptr;
    const auto key = keys_.find(words_of(source, architecture, options_.jitter));
    return key == keys_.end() ? nullptr : &compiled_.at(key->second);
}

const Compiled& Compiler::keep(const Source& source, const std::string& architecture, Compiled compiled) {
    keys_[words_of(source, architecture, options_.jitter)] = compiled.key;
    return compiled_[compiled.key] = std::move(compiled);
}

void Compiler::compile_together(const std::vector<Source>& sources, const std::string& architecture,
                                size_t threads,
                                const std::function<void(const std::string& files)>& compiling,
                                const std::stop_token& stop) {
    struct Missing {
        const Source& source;
        Job job;
    };
    std::map<std::string, Missing> missing;  // by key
    for (const Source& source : sources) {
        if (known(source, architecture)) continue;
        auto job = job_of(source, architecture);
        if (!job || compiled_.contains(job->key)) continue;
        if (auto kept = cache().find(job->key)) {
            keep(source, architecture, std::move(*kept));
        } else {
            std::string key = job->key;
            missing.emplace(std::move(key), Missing{source, std::move(*job)});
        }
    }
    if (missing.empty()) return;
    const std::string& first = missing.begin()->second.source.file;
    const std::string others = " and " + std::to_string(missing.size() - 1) + " more";
    if (compiling) compiling(first + (missing.size() > 1 ? others : ""));
    std::mutex mutex;
    auto next = missing.begin();
    const auto work = [&] {
        try {
            std::unique_lock lock(mutex);
            while (next != missing.end() && !stop.stop_requested()) {
                const Missing& one = (next++)->second;
                lock.unlock();
                auto made = make(one.job, architecture, {}, stop);
                lock.lock();
                if (made) keep(one.source, architecture, std::move(*made));
            }
        } catch (const std::exception&) {  // out of memory: compile() says so
        }
    };
    std::vector<std::jthread> workers;
    try {
        for (size_t i = 0; i < std::min(threads, missing.size()); ++i) workers.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: the others go on, or compile() alone does
    }
}

Outcome<std::string> compiler_version() {
    const auto version = nvrtc_version();
    if (!version) return version.error();
    return version->text();
}

bool compiler_knows(std::string_view architecture) { return nvrtc_knows(architecture); }

}  // namespace sawtooth::cuda
