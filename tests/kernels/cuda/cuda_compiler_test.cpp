#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "kernels/cuda/chips.h"
#include "kernels/cuda/compile_log.h"
#include "kernels/cuda/compiler.h"
#include "kernels/cuda/cubin_cache.h"
#include "kernels/cuda/device_sources.h"
#include "kernels/cuda/fingerprint.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;
namespace fs = std::filesystem;

const char* const doubles = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n";

TEST_CASE("the compile log has registers, shared memory and spills of every kernel", "[cuda]") {
    const auto log = cuda::read_compile_log(
        "kernels/a.cu(3): warning #177-D: variable \"error\" was declared but never referenced\n"
        "  float error;\n"
        "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
        "ptxas info    : (C7508) Potential Performance Loss: setmaxnreg ignored\n"
        "ptxas info    : 24 bytes gmem, 8 bytes cmem[3]\n"
        "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
        "ptxas info    : Function properties for first\n"
        "ptxas         .     608 bytes stack frame, 372 bytes spill stores, 440 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 16 barriers, 608 bytes cumulative stack size, 400 bytes "
        "smem\n"
        "ptxas info    : Compiling entry function '_Z6secondILi3EEvPf' for 'sm_90a'\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 8 registers, 356 bytes cmem[0]\n",
        "kernels/a.cu");
    REQUIRE(log.kernels.size() == 2);
    CHECK(log.kernels.at("first").registers == 32);
    CHECK(log.kernels.at("first").shared_bytes == 400);
    CHECK(log.kernels.at("first").spill_bytes == 812);
    CHECK(log.kernels.at("first").barriers == 16);
    CHECK(log.kernels.at("_Z6secondILi3EEvPf").registers == 8);
    CHECK(log.kernels.at("_Z6secondILi3EEvPf").shared_bytes == 0);
    CHECK(log.kernels.at("_Z6secondILi3EEvPf").spill_bytes == 0);
    CHECK(log.first_error.empty());
    CHECK(std::count(log.warnings.begin(), log.warnings.end(), '\n') == 1);
    CHECK(contains(log.warnings, "C7508"));
}

TEST_CASE("a fingerprint is 128-bit FNV-1a and separates texts", "[cuda]") {
    const auto hash_of = [](std::initializer_list<const char*> texts) {
        cuda::Fingerprint fingerprint;
        for (const char* text : texts) fingerprint.add(text);
        return fingerprint.hex();
    };
    CHECK(hash_of({}) == "6c62272e07bb014262b821756295c58d");
    CHECK(hash_of({"a"}) == "426d56754e03ad9adb79f299c730f21f");
    CHECK(hash_of({"two-sums "}) == "d5f7ccf7fa91c2b599615486025097e7");
    CHECK(hash_of({"ab", "c"}) != hash_of({"a", "bc"}));
}

TEST_CASE("the log of NVRTC is parsed for real kernels", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/two.cu",
                   "extern \"C\" __global__ void plain(float* x) { x[threadIdx.x] *= SCALE; }\n"
                   "extern \"C\" __global__ void __launch_bounds__(1024, 2) heavy(float* x) {\n"
                   "    __shared__ float tile[1000];\n"
                   "    float a[64];\n"
                   "    for (int i = 0; i < 64; ++i) a[i] = x[i * 1024 + threadIdx.x];\n"
                   "    tile[threadIdx.x % 1000] = a[5];\n"
                   "    __syncthreads();\n"
                   "    for (int j = 0; j < 64; ++j) {\n"
                   "        float s = tile[j];\n"
                   "        for (int i = 0; i < 64; ++i) s += a[i] * a[(i * 5 + j) % 64];\n"
                   "        x[j * 1024 + threadIdx.x] = s;\n"
                   "    }\n"
                   "}\n");
    const auto compiled = workshop.compile("kernels/two.cu", {{"SCALE", "3.0f"}});
    REQUIRE(compiled);
    CHECK(compiled->cubin.substr(1, 3) == "ELF");
    CHECK(compiled->kernels.size() == 2);
    CHECK(compiled->kernels.at("plain").registers > 0);
    CHECK(compiled->kernels.at("plain").spill_bytes == 0);
    CHECK(compiled->kernels.at("heavy").registers == 32);
    CHECK(compiled->kernels.at("heavy").shared_bytes == 4000);
    CHECK(compiled->kernels.at("heavy").spill_bytes > 0);
}

TEST_CASE("a compile error is one line with file, line and first error", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/wrong.cu",
                   "extern \"C\" __global__ void wrong(float* x) {\n    x[0] = nowhere;\n    also();\n}\n");
    workshop.write("kernels/asm.cu", "extern \"C\" __global__ void wrong() { asm(\"bogus;\"); }\n");
    workshop.write("kernels/lost.cu", "\n#include \"kernels/parts/missing.cuh\"\n");
    workshop.write("kernels/parts/deep.cuh", "#pragma once\nint wrong = \"text\";\n");
    workshop.write("kernels/deep.cu", "#include \"kernels/parts/deep.cuh\"\n");
    const auto error_of = [&](const char* name) {
        const auto compiled = workshop.compile(name);
        REQUIRE_FALSE(compiled);
        CHECK(compiled.error().kind == Error::Kind::failure);
        CHECK_FALSE(contains(compiled.error().text, "\n"));
        return compiled.error().text;
    };
    CHECK(error_of("kernels/wrong.cu") == "kernels/wrong.cu(2): error: identifier \"nowhere\" is undefined");
    CHECK(error_of("kernels/asm.cu").starts_with("kernels/asm.cu: ptxas"));
    CHECK(contains(error_of("kernels/asm.cu"), "bogus"));
    CHECK(error_of("kernels/lost.cu").starts_with("kernels/lost.cu(2): "));
    CHECK(contains(error_of("kernels/lost.cu"), "kernels/parts/missing.cuh"));
    CHECK(error_of("kernels/deep.cu").starts_with("kernels/parts/deep.cuh(2): error: "));
    CHECK(error_of("kernels/absent.cu") ==
          "kernels: " + workshop.folder.path() +
              " has no kernels/absent.cu; it must contain the whole folder kernels/ of the source tree");
    CHECK(workshop.compilations == 6);
}

TEST_CASE("an architecture unknown to NVRTC is an error with a remedy", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", doubles);
    const auto compiled = cuda::Compiler(workshop.options()).compile({"kernels/one.cu", {}}, "sm_20");
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().text == "NVRTC " + *cuda::compiler_version() +
                                       " does not compile for sm_20; set CUDA_HOME to a newer CUDA Toolkit");
    CHECK(cuda::compiler_knows("sm_90"));
    CHECK(cuda::compiler_knows("sm_90a"));
    for (const char* wrong : {"sm_9", "sm_900", "sm_90b", "90", ""}) CHECK_FALSE(cuda::compiler_knows(wrong));
}

TEST_CASE("a missing embedded file is a readable error", "[cuda]") {
    const auto compiled = cuda::Compiler({}).compile({"kernels/no_such.cu", {}}, "sm_90a");
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().text == "kernels/no_such.cu is not part of this program");
}

TEST_CASE("embedded device sources equal the source tree", "[cuda]") {
    const fs::path root = SAWTOOTH_SOURCE_DIR;
    size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root / "kernels"))
        files += entry.path().extension() == ".cu" || entry.path().extension() == ".cuh";
    CHECK(cuda::embedded_sources().size() == files);
    for (const cuda::EmbeddedSource& source : cuda::embedded_sources()) {
        INFO(source.name);
        CHECK(content_of((root / source.name).string()) == source.text);
    }
}

TEST_CASE("a file comes with all its includes, each once", "[cuda]") {
    Workshop workshop;
    workshop.write(
        "kernels/top.cu",
        "#include \"kernels/parts/a.cuh\"\n  #  include \"kernels/parts/b.cuh\"\n"
        "#include <nothing>\n#include \"kernels/../outside.cuh\"\n// #include \"kernels/parts/c.cuh\"\n");
    workshop.write("kernels/parts/a.cuh", "#include \"kernels/parts/b.cuh\"\n");
    workshop.write("kernels/parts/b.cuh",
                   "#include \"kernels/parts/a.cuh\"\n#include \"kernels/parts/gone.cuh\"\n");
    workshop.write("kernels/parts/c.cuh", "");
    const auto texts = cuda::read_with_includes("kernels/top.cu", workshop.folder.path());
    REQUIRE(texts);
    REQUIRE(texts->size() == 3);
    CHECK((*texts)[0].name == "kernels/top.cu");
    CHECK((*texts)[1].name == "kernels/parts/a.cuh");
    CHECK((*texts)[2].name == "kernels/parts/b.cuh");
}

TEST_CASE("a cubin is cached, and recompiled when a source, an include or a macro changes", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/parts/scale.cuh", "constexpr float scale = 2;\n");
    workshop.write("kernels/one.cu",
                   "#include \"kernels/parts/scale.cuh\"\n"
                   "extern \"C\" __global__ void one(float* x) { x[threadIdx.x] = scale * x[0] + SHIFT; }\n");
    const auto first = workshop.compile("kernels/one.cu", {{"SHIFT", "1"}});
    REQUIRE(first);
    CHECK(workshop.compilations == 1);

    const auto again = workshop.compile("kernels/one.cu", {{"SHIFT", "1"}});
    REQUIRE(again);
    CHECK(workshop.compilations == 1);
    CHECK(again->cubin == first->cubin);
    CHECK(again->kernels.at("one").registers == first->kernels.at("one").registers);

    const auto other_macro = workshop.compile("kernels/one.cu", {{"SHIFT", "5"}});
    REQUIRE(other_macro);
    CHECK(workshop.compilations == 2);
    CHECK(other_macro->cubin != first->cubin);

    workshop.write("kernels/parts/scale.cuh", "constexpr float scale = 7;\n");
    const auto other_include = workshop.compile("kernels/one.cu", {{"SHIFT", "1"}});
    REQUIRE(other_include);
    CHECK(workshop.compilations == 3);
    CHECK(other_include->cubin != first->cubin);
    CHECK(workshop.kept().size() == 3);
}

TEST_CASE("kernels compiled together are found one by one, and one that fails says so then", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", "extern \"C\" __global__ void one(float* x) { x[0] = SHIFT; }\n");
    workshop.write("kernels/bad.cu", "extern \"C\" __global__ void bad(float* x) { x[0] = nothing; }\n");
    const std::vector<cuda::Source> sources = {{"kernels/one.cu", {{"SHIFT", 1}}},
                                               {"kernels/one.cu", {{"SHIFT", 2}}},
                                               {"kernels/one.cu", {{"SHIFT", 1}}},
                                               {"kernels/bad.cu", {}},
                                               {"kernels/gone.cu", {}}};
    cuda::Compiler compiler(workshop.options());
    std::vector<std::string> said;
    const auto compiling = [&](const std::string& files) { said.push_back(files); };
    compiler.compile_together(sources, "sm_90a", 4, compiling);
    REQUIRE(said.size() == 1);
    CHECK(said.front().ends_with(".cu and 2 more"));
    CHECK(workshop.kept().size() == 2);
    for (size_t i = 0; i < 3; ++i) CHECK(compiler.compile(sources[i], "sm_90a", compiling));
    CHECK(said.size() == 1);
    const auto failed = compiler.compile(sources[3], "sm_90a", compiling);
    REQUIRE(!failed);
    CHECK(contains(failed.error().text, "kernels/bad.cu(1): error: identifier \"nothing\" is undefined"));
    CHECK(said.size() == 2);

    compiler.compile_together({sources.begin(), sources.begin() + 3}, "sm_90a", 4, compiling);
    CHECK(said.size() == 2);
}

TEST_CASE("an embedded kernel is compiled once by one compiler", "[cuda]") {
    if (without_compiler()) return;
    const cuda::Source source = {"kernels/scan/cuda/sequential.cu",
                                 {{"OP", "sum"},
                                  {"X", "f32"},
                                  {"Y", "f32"},
                                  {"BLOCK_SIZE", 128},
                                  {"FLIPPED", false},
                                  {"THREADS", 32},
                                  {"SHARED_BYTES", 0}}};
    cuda::Compiler compiler({});  // without a cache
    int compilations = 0;
    const auto compiling = [&](const std::string&) { ++compilations; };
    compiler.compile_together({source}, "sm_90a", 2, compiling);
    const auto compiled = compiler.compile(source, "sm_90a", compiling);
    REQUIRE(compiled);
    CHECK(compilations == 1);
    REQUIRE(compiler.compile(source, "sm_80", compiling));
    compiler.set_jitter(1);
    REQUIRE(compiler.compile(source, "sm_90a", compiling));
    CHECK(compilations == 3);
}

TEST_CASE("a compilation that is stopped is cancelled and keeps nothing", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", doubles);
    cuda::Compiler compiler({"", workshop.folder.path()});
    std::stop_source source;
    const auto stopped = compiler.compile(
        {"kernels/one.cu", {}}, "sm_80", [&](const std::string&) { source.request_stop(); },
        source.get_token());
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().kind == Error::Kind::cancelled);
    CHECK(compiler.compile({"kernels/one.cu", {}}, "sm_80"));
}

TEST_CASE("a compiler compiles a source once, also without a cache folder", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", doubles);
    cuda::Compiler compiler({"", workshop.folder.path()});
    int compilations = 0;
    for (int i = 0; i < 3; ++i)
        CHECK(compiler.compile({"kernels/one.cu", {}}, "sm_80", [&](const std::string& file) {
            CHECK(file == "kernels/one.cu");
            ++compilations;
        }));
    CHECK(compilations == 1);
    CHECK(compiler.compile({"kernels/one.cu", {}}, "sm_89", [&](const std::string&) { ++compilations; }));
    CHECK(compilations == 2);
}

TEST_CASE("a damaged cached cubin is recompiled and replaced", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", doubles);
    const auto whole = workshop.compile("kernels/one.cu");
    REQUIRE(whole);
    REQUIRE(workshop.kept().size() == 1);
    const std::string path = workshop.kept()[0];
    const std::string content = content_of(path);
    std::vector<std::string> damaged = {"", "short", content.substr(0, content.size() / 2), content + "x",
                                        std::string(1000, '\0')};
    for (size_t at : {size_t{3}, size_t{40}, content.size() - 1}) {
        damaged.push_back(content);
        damaged.back()[at] ^= 1;
    }
    for (const std::string& text : damaged) {
        put(path, text);
        const int before = workshop.compilations;
        const auto compiled = workshop.compile("kernels/one.cu");
        REQUIRE(compiled);
        CHECK(workshop.compilations == before + 1);
        CHECK(compiled->cubin == whole->cubin);
        CHECK(content_of(path) == content);
    }
}

TEST_CASE("a cache folder that is not writable costs only time", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", doubles);
    workshop.write("cache", "a file, not a folder");
    CHECK(workshop.compile("kernels/one.cu"));
    CHECK(workshop.compile("kernels/one.cu"));
    CHECK(workshop.compilations == 2);
}

TEST_CASE("the cache keeps its size limit and drops the least recently used file", "[cuda]") {
    TemporaryFolder folder;
    const cuda::CubinCache cache(folder.file("cubin"), 10000);
    const auto compiled = [](const std::string& key) {
        return cuda::Compiled{key, std::string(3000, 'c'), {{"kernel", {32, 16, 0}}}, "a warning"};
    };
    const auto age = [&](const std::string& key, int hours) {
        fs::last_write_time(folder.file("cubin/" + key),
                            fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    for (const char* key : {"first", "second", "third"}) cache.keep(key, compiled(key));
    age("first", 3), age("second", 2), age("third", 1);
    CHECK(cache.find("first"));  // marks the file as just used
    cache.keep("fourth", compiled("fourth"));
    CHECK(cache.find("first"));
    CHECK_FALSE(cache.find("second"));
    CHECK(cache.find("third"));
    const auto fourth = cache.find("fourth");
    REQUIRE(fourth);
    CHECK(fourth->log == "a warning");
    CHECK(fourth->kernels.at("kernel").registers == 32);
    // A file under the name of another is ignored.
    fs::copy_file(folder.file("cubin/fourth"), folder.file("cubin/fifth"));
    CHECK_FALSE(cache.find("fifth"));
}

TEST_CASE("who needs a kernel that is being compiled waits for it", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", doubles);
    std::atomic<int> compilations = 0, right = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                cuda::Compiler compiler({workshop.folder.file("cache"), workshop.folder.path()});
                const auto count = [&](const std::string&) { ++compilations; };
                right += compiler.compile({"kernels/one.cu", {}}, "sm_80", count) ? 1 : 0;
            });
    }
    CHECK(compilations == 1);
    CHECK(right == 4);
    CHECK(fs::is_empty(workshop.folder.file("cache/cubin-locks")));
}

TEST_CASE("child: compile twenty kernels", "[.child]") {
    const std::string folder = std::getenv("SAWTOOTH_TEST_FOLDER");
    for (int i = 0; i < 20; ++i)
        REQUIRE(cuda::Compiler({folder + "/cache", folder})
                    .compile({"kernels/one.cu", {{"NUMBER", std::to_string(i)}}}, "sm_80"));
}

TEST_CASE("two processes share a cache", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    workshop.write("kernels/one.cu", "extern \"C\" __global__ void one(float* x) { x[NUMBER] = NUMBER; }\n");
    const std::string environment = "SAWTOOTH_TEST_FOLDER='" + workshop.folder.path() + "'";
    ChildProcess one(environment, "child: compile twenty kernels");
    ChildProcess other(environment, "child: compile twenty kernels");
    for (ChildProcess* child : {&one, &other}) {
        const std::string output = child->output();
        INFO(output);
        CHECK(output.ends_with("exit 0"));
    }
    CHECK(workshop.kept().size() == 20);
    for (const fs::path& path : workshop.kept())
        CHECK(cuda::CubinCache(workshop.folder.file("cache/cubin")).find(path.filename()));
}

TEST_CASE("the kernels that convert f32 compile for every chip and spill nothing", "[cuda]") {
    if (without_compiler()) return;
    cuda::Compiler compiler({});
    for (const Chip& chip : cuda::known_chips()) {
        if (!cuda::compiler_knows(chip.architecture)) continue;
        INFO(chip.architecture);
        const auto compiled = compiler.compile({"kernels/cuda/convert.cu", {}}, chip.architecture);
        if (!compiled) FAIL(compiled.error().text);
        CHECK(compiled->kernels.size() == 4);
        CHECK(compiled->log.empty());
        for (const auto& [name, resources] : compiled->kernels) {
            INFO(name);
            CHECK(resources.registers > 0);
            CHECK(resources.spill_bytes == 0);
        }
    }
}

TEST_CASE("conversions of f16 and bf16 pairs compile for every chip", "[cuda]") {
    if (without_compiler()) return;
    Workshop workshop;
    fs::create_directories(workshop.folder.file("kernels/cuda/device"));
    for (const char* name : {"types.cuh", "half.cuh"})
        fs::copy_file(std::string(SAWTOOTH_SOURCE_DIR "/kernels/cuda/device/") + name,
                      workshop.folder.file(std::string("kernels/cuda/device/") + name));
    workshop.write("kernels/pairs.cu",
                   "#include \"kernels/cuda/device/half.cuh\"\n"
                   "extern \"C\" __global__ void pairs(const float* x, uint32_t* y) {\n"
                   "    y[0] = sawtooth::device::f32_to_f16x2(x[0], x[1]);\n"
                   "    y[1] = sawtooth::device::f32_to_bf16x2(x[0], x[1]);\n"
                   "}\n");
    for (const Chip& chip : cuda::known_chips()) {
        if (!cuda::compiler_knows(chip.architecture)) continue;
        INFO(chip.architecture);
        CHECK(cuda::Compiler(workshop.options()).compile({"kernels/pairs.cu", {}}, chip.architecture));
    }
}

}  // namespace
