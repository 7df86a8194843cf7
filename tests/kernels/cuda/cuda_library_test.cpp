#include "kernels/cuda/library.h"

#include <cstdlib>

#include "kernels/cuda/compiler.h"
#include "kernels/cuda/device.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

// Sets an environment variable during its lifetime.
class Environment {
  public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* const before = std::getenv(name)) before_ = before;
        ::setenv(name, value.c_str(), 1);
    }
    ~Environment() {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    const char* name_;
    std::optional<std::string> before_;
};

cuda::LibraryWanted wanted(std::string file, bool in_toolkit = true) {
    return {"word", "the library", {std::move(file)}, in_toolkit, "install it"};
}

// Returns the path of a library that every system has; "" if it is not in a usual place.
std::string library_of_mathematics() {
    for (const char* folder : {"/lib/x86_64-linux-gnu", "/lib64", "/usr/lib", "/lib/aarch64-linux-gnu"})
        if (const std::string path = std::string(folder) + "/libm.so.6"; std::filesystem::exists(path))
            return path;
    return "";
}

TEST_CASE("a missing library is an error with a remedy", "[cuda]") {
    const auto library = cuda::open_library(wanted("libsawtooth_none.so.9"));
    REQUIRE_FALSE(library);
    CHECK(library.error().text == "the library was not found: install it");
}

TEST_CASE("a library and its symbols are found in the loader's paths", "[cuda]") {
    const auto library = cuda::open_library(wanted("libm.so.6", false));
    REQUIRE(library);
    CHECK(library->symbol("cos") != nullptr);
    CHECK(library->symbol("no_such_symbol") == nullptr);
}

TEST_CASE("SAWTOOTH_WITHOUT hides the libraries that it names", "[cuda]") {
    for (const char* list : {"word", "other,word", "word,other"}) {
        const Environment hidden("SAWTOOTH_WITHOUT", list);
        const auto library = cuda::open_library(wanted("libm.so.6"));
        INFO(list);
        REQUIRE_FALSE(library);
        CHECK(library.error().text == "the library is hidden by SAWTOOTH_WITHOUT: install it");
    }
    const Environment other("SAWTOOTH_WITHOUT", "words,wor");
    CHECK(cuda::open_library(wanted("libm.so.6")));
}

TEST_CASE("a library is found in the folders of a toolkit", "[cuda]") {
    namespace fs = std::filesystem;
    const std::string math = library_of_mathematics();
    if (math.empty()) return say_skipped("no libm.so.6 where it usually is");
    for (const char* part : {"lib64", "targets/x86_64-linux/lib", "lib", "extras/CUPTI/lib64"}) {
        TemporaryFolder toolkit;
        fs::create_directories(toolkit.file(part));
        fs::copy_file(math, toolkit.file(std::string(part) + "/libsawtooth_test.so"));
        const Environment home("CUDA_HOME", toolkit.path());
        const auto library = cuda::open_library(wanted("libsawtooth_test.so"));
        INFO(part);
        REQUIRE(library);
        CHECK(library->path() == toolkit.file(std::string(part) + "/libsawtooth_test.so"));
        CHECK_FALSE(cuda::open_library(wanted("libsawtooth_test.so", false)));
    }
}

TEST_CASE("a damaged library is an error with the loader's message", "[cuda]") {
    TemporaryFolder toolkit;
    std::filesystem::create_directories(toolkit.file("lib64"));
    put(toolkit.file("lib64/libsawtooth_test.so"), "no library");
    const Environment home("CUDA_HOME", toolkit.path());
    const auto library = cuda::open_library(wanted("libsawtooth_test.so"));
    REQUIRE_FALSE(library);
    CHECK(library.error().text.starts_with("the library could not be opened ("));
    CHECK(contains(library.error().text, "libsawtooth_test.so"));
    CHECK(library.error().text.ends_with("): install it"));
}

TEST_CASE("child: without NVRTC nothing compiles and it is said why", "[.child]") {
    const auto version = cuda::compiler_version();
    REQUIRE_FALSE(version);
    CHECK(version.error().text ==
          "NVRTC, the compiler of CUDA kernels (libnvrtc.so) is hidden by SAWTOOTH_WITHOUT: install the CUDA "
          "Toolkit 12 or 13 and set CUDA_HOME to its folder if it is not in /usr/local");
    const auto device = cuda::Device::theory("sm_90a", {});
    REQUIRE(device);
    const auto kernel = (*device)->kernel({"kernels/cuda/convert.cu", {}}, "narrow_f16");
    REQUIRE_FALSE(kernel);
    CHECK(kernel.error().text == version.error().text);
}

TEST_CASE("child: without a driver there is no device and it is said why", "[.child]") {
    const auto found = cuda::find_driver();
    REQUIRE_FALSE(found);
    CHECK(found.error().text ==
          "the CUDA driver (libcuda.so.1) is hidden by SAWTOOTH_WITHOUT: install NVIDIA's driver for CUDA 12 "
          "or newer on a machine with an NVIDIA GPU, or use the CPU");
    const auto device = cuda::Device::open(0, {});
    REQUIRE_FALSE(device);
    CHECK(device.error().text == found.error().text);
    Queue queue;
    cuda::launch(queue, {"kernel", {}, nullptr}, {1, 1, 1}, {1, 1, 1}, 0, nullptr);
    CHECK(queue.error == "kernel: " + found.error().text);
}

TEST_CASE("child: a driver that lacks calls is too old", "[.child]") {
    const auto found = cuda::find_driver();
    REQUIRE_FALSE(found);
    CHECK(found.error().text.starts_with("the CUDA driver is too old (no cuInit): install NVIDIA's driver"));
    CHECK_FALSE(cuda::Device::open(0, {}));
}

TEST_CASE("an old driver is an error with a remedy", "[cuda]") {
    const std::string math = library_of_mathematics();
    if (math.empty()) return say_skipped("no libm.so.6 where it usually is");
    // This library has none of the calls.
    TemporaryFolder folder;
    std::filesystem::create_symlink(math, folder.file("libcuda.so.1"));
    const std::string output =
        ChildProcess("LD_LIBRARY_PATH='" + folder.path() + "'", "child: a driver that lacks calls is too old")
            .output();
    INFO(output);
    CHECK(output.ends_with("exit 0"));
}

TEST_CASE("a hidden NVRTC and a hidden driver are errors with a remedy", "[cuda]") {
    ChildProcess nvrtc("SAWTOOTH_WITHOUT=nvrtc", "child: without NVRTC nothing compiles and it is said why");
    ChildProcess driver("SAWTOOTH_WITHOUT=cupti,driver",
                        "child: without a driver there is no device and it is said why");
    for (ChildProcess* child : {&nvrtc, &driver}) {
        const std::string output = child->output();
        INFO(output);
        CHECK(output.ends_with("exit 0"));
    }
}

}  // namespace
