#include "kernels/cuda/nvrtc.h"

#include <nvrtc.h>

#include <algorithm>
#include <semaphore>

#include "kernels/core/in_parallel.h"
#include "kernels/cuda/library.h"

namespace sawtooth::cuda {
namespace {

// The names of all calls in use.
#define SAWTOOTH_NVRTC_CALLS(X)  \
    X(nvrtcVersion)              \
    X(nvrtcGetErrorString)       \
    X(nvrtcGetNumSupportedArchs) \
    X(nvrtcGetSupportedArchs)    \
    X(nvrtcCreateProgram)        \
    X(nvrtcCompileProgram)       \
    X(nvrtcDestroyProgram)       \
    X(nvrtcGetProgramLogSize)    \
    X(nvrtcGetProgramLog)        \
    X(nvrtcGetCUBINSize)         \
    X(nvrtcGetCUBIN)

struct Nvrtc {
#define SAWTOOTH_MEMBER(name) decltype(&::name) name = nullptr;
    SAWTOOTH_NVRTC_CALLS(SAWTOOTH_MEMBER)
#undef SAWTOOTH_MEMBER
    decltype(&::nvrtcSetFlowCallback) nvrtcSetFlowCallback = nullptr;  // from CUDA 12.8 on
    NvrtcVersion version;
};

constexpr const char* nvrtc_remedy =
    "install the CUDA Toolkit 12 or 13 and set CUDA_HOME to its folder if it is not in /usr/local";

Outcome<Nvrtc> open_nvrtc() {
    const auto library = open_library({"nvrtc",
                                       "NVRTC, the compiler of CUDA kernels (libnvrtc.so)",
                                       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                                       true,
                                       nvrtc_remedy});
    if (!library) return library.error();
    Nvrtc nvrtc;
#define SAWTOOTH_LOAD(name)                                                      \
    nvrtc.name = reinterpret_cast<decltype(nvrtc.name)>(library->symbol(#name)); \
    if (!nvrtc.name) return Error::failure(library->path() + " has no " #name ": " + nvrtc_remedy);
    SAWTOOTH_NVRTC_CALLS(SAWTOOTH_LOAD)
#undef SAWTOOTH_LOAD
    nvrtc.nvrtcSetFlowCallback =
        reinterpret_cast<decltype(nvrtc.nvrtcSetFlowCallback)>(library->symbol("nvrtcSetFlowCallback"));
    nvrtc.nvrtcVersion(&nvrtc.version.major, &nvrtc.version.minor);
    if (nvrtc.version.major < 12)
        return Error::failure("NVRTC " + nvrtc.version.text() + " (" + library->path() +
                              ") is too old: " + nvrtc_remedy);
    library->open_beside("libnvrtc-builtins.so." + nvrtc.version.text());
    return nvrtc;
}

const Outcome<Nvrtc>& nvrtc() {
    static const Outcome<Nvrtc> opened = open_nvrtc();
    return opened;
}

// An NVRTC program, destroyed with this object.
class Program {
  public:
    Program(const Nvrtc& calls, const std::vector<SourceText>& texts) : calls_(calls) {
        std::vector<const char*> names, headers;
        for (size_t i = 1; i < texts.size(); ++i) {
            names.push_back(texts[i].name.c_str());
            headers.push_back(texts[i].text.c_str());
        }
        created_ = calls.nvrtcCreateProgram(&program_, texts[0].text.c_str(), texts[0].name.c_str(),
                                            static_cast<int>(names.size()), headers.data(), names.data());
    }
    ~Program() {
        if (program_) calls_.nvrtcDestroyProgram(&program_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    nvrtcResult created() const { return created_; }
    // `stop` must live until this returns.
    nvrtcResult compile(const std::vector<std::string>& options, const std::stop_token& stop) {
        if (calls_.nvrtcSetFlowCallback)
            calls_.nvrtcSetFlowCallback(
                program_,
                [](void* token, void*) {
                    return static_cast<const std::stop_token*>(token)->stop_requested() ? 1 : 0;
                },
                const_cast<std::stop_token*>(&stop));  // the callback only reads it
        std::vector<const char*> words;
        for (const std::string& option : options) words.push_back(option.c_str());
        return calls_.nvrtcCompileProgram(program_, static_cast<int>(words.size()), words.data());
    }
    std::string log() {
        size_t bytes = 0;
        if (calls_.nvrtcGetProgramLogSize(program_, &bytes) != NVRTC_SUCCESS || bytes == 0) return "";
        std::string text(bytes, '\0');
        calls_.nvrtcGetProgramLog(program_, text.data());
        text.pop_back();  // the terminating zero
        return text;
    }
    std::string cubin() {
        size_t bytes = 0;
        if (calls_.nvrtcGetCUBINSize(program_, &bytes) != NVRTC_SUCCESS) return "";
        std::string code(bytes, '\0');
        calls_.nvrtcGetCUBIN(program_, code.data());
        return code;
    }

  private:
    const Nvrtc& calls_;
    nvrtcProgram program_ = nullptr;
    nvrtcResult created_;
};

// A slot to compile in. A compilation takes a core and up to hundreds of MiB, so there is one per core at a
// time.
class CompilationSlot {
  public:
    CompilationSlot() { cores().acquire(); }
    ~CompilationSlot() { cores().release(); }
    CompilationSlot(const CompilationSlot&) = delete;
    CompilationSlot& operator=(const CompilationSlot&) = delete;

  private:
    static std::counting_semaphore<>& cores() {
        static std::counting_semaphore<> free(core_count());
        return free;
    }
};

Error failed(const char* call, nvrtcResult result) {
    return Error::failure(std::string(call) + ": " + (*nvrtc()).nvrtcGetErrorString(result));
}

}  // namespace

Outcome<NvrtcVersion> nvrtc_version() {
    if (!nvrtc()) return nvrtc().error();
    return nvrtc()->version;
}

bool nvrtc_knows(std::string_view architecture) {
    int count = 0;
    if (!nvrtc() || nvrtc()->nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS) return false;
    std::vector<int> numbers(static_cast<size_t>(count));
    nvrtc()->nvrtcGetSupportedArchs(numbers.data());
    for (int number : numbers) {
        const std::string name = "sm_" + std::to_string(number);
        const std::string_view rest = architecture.substr(std::min(name.size(), architecture.size()));
        if (architecture.starts_with(name) && (rest.empty() || rest == "a" || rest == "f")) return true;
    }
    return false;
}

Outcome<Translation> translate(const std::vector<SourceText>& texts, const std::vector<std::string>& options,
                               const std::stop_token& stop) {
    if (!nvrtc()) return nvrtc().error();
    const CompilationSlot slot;
    if (stop.stop_requested()) return Error::cancelled();
    Program program(*nvrtc(), texts);
    if (program.created() != NVRTC_SUCCESS) return failed("nvrtcCreateProgram", program.created());
    const nvrtcResult result = program.compile(options, stop);
    if (stop.stop_requested()) return Error::cancelled();
    Translation translation{"", program.log()};
    if (result == NVRTC_SUCCESS)
        translation.cubin = program.cubin();
    else if (translation.log.empty())
        return failed("nvrtcCompileProgram", result);
    return translation;
}

}  // namespace sawtooth::cuda
