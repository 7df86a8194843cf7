#include "kernels/cuda/compiler.h"

#include "kernels/cuda/compile_log.h"
#include "kernels/cuda/cubin_cache.h"
#include "kernels/cuda/device_sources.h"
#include "kernels/cuda/fingerprint.h"
#include "kernels/cuda/nvrtc.h"

namespace sawtooth::cuda {
namespace {

std::vector<std::string> options_for(const Source& source, const std::string& architecture, int jitter,
                                     const NvrtcVersion& version) {
    std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17",
                                        "--ptxas-options=-v"};
    // With a driver, NVRTC keeps compiled kernels in a cache of its own and returns an empty log for a hit.
    if (version.major > 12 || (version.major == 12 && version.minor >= 9)) options.push_back("--no-cache");
    for (const auto& [name, value] : source.defines) options.push_back("-D" + name + "=" + value);
    if (jitter != 0) options.push_back("-DSAWTOOTH_JITTER=" + std::to_string(jitter));
    return options;
}

// Change this when the content of cache files changes.
constexpr const char* cache_format = "sawtooth cubin 1";

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

Outcome<Compiled> Compiler::compile(const Source& source, const std::string& architecture,
                                    const std::function<void(const std::string& file)>& compiling,
                                    const std::stop_token& stop) {
    const auto texts = read_with_includes(source.file, options_.kernels_directory);
    if (!texts) return texts.error();
    const auto version = nvrtc_version();
    if (!version) return version.error();
    const std::vector<std::string> options = options_for(source, architecture, options_.jitter, *version);
    const std::string key = key_of(*texts, options, *version);
    if (const auto known = compiled_.find(key); known != compiled_.end()) return known->second;

    const CubinCache cache(options_.cache_directory.empty() ? "" : options_.cache_directory + "/cubin");
    std::optional<Compiled> kept = cache.find(key);
    if (!kept) {
        const CubinCache::Turn turn = cache.turn(key, stop);
        kept = cache.find(key);
        if (kept) return compiled_[key] = std::move(*kept);
        if (!nvrtc_knows(architecture))
            return Error::failure("NVRTC " + version->text() + " does not compile for " + architecture +
                                  "; set CUDA_HOME to a newer CUDA Toolkit");
        if (compiling) compiling(source.file);
        auto made = compile_texts(*texts, options, key, stop);
        if (!made) return made.error();
        cache.keep(key, *made);
        kept = std::move(*made);
    }
    return compiled_[key] = std::move(*kept);
}

Outcome<std::string> compiler_version() {
    const auto version = nvrtc_version();
    if (!version) return version.error();
    return version->text();
}

bool compiler_knows(std::string_view architecture) { return nvrtc_knows(architecture); }

}  // namespace sawtooth::cuda
