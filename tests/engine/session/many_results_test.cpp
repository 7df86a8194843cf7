// How long a large session takes, printed instead of checked.

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/engine/session/sample_session.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

double resident_mb() {
    std::ifstream file("/proc/self/statm");
    double total = 0, resident = 0;
    file >> total >> resident;
    return resident * 4096 / 1e6;
}

class Stopwatch {
  public:
    double ms() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST_CASE("a session holds a thousand results of memory", "[.session-size]") {
    Request request;
    request.family = "memory";
    request.threads = 2;
    const auto ran = Runner(shared_cache()).run(request, {});
    REQUIRE(ran);
    const Result& result = **ran;
    const auto figures = std::make_shared<const std::vector<Figure>>(figures_of(result, {}));
    constexpr size_t count = 1000;
    Session session;
    const double before = resident_mb();
    const Stopwatch packing;
    for (size_t i = 0; i < count; ++i) session.results.emplace_back(result, figures);
    fmt::print("packed in {:.2f} ms each, {:.0f} MB more in memory\n", packing.ms() / count,
               resident_mb() - before);
    const TemporaryFolder folder;
    const std::string path = folder.file("many.sawtooth");
    const Stopwatch saving;
    REQUIRE_FALSE(write_session(path, session));
    fmt::print("saved in {:.0f} ms: {:.1f} MB\n", saving.ms(),
               static_cast<double>(std::filesystem::file_size(path)) / 1e6);
    session = {};
    const double empty = resident_mb();
    const Stopwatch opening;
    const Session back = read_back(path);
    fmt::print("opened in {:.0f} ms, {:.0f} MB more in memory\n", opening.ms(), resident_mb() - empty);
    const Stopwatch one;
    CHECK(opened(back.results[count / 2]).figures->size() == figures->size());
    fmt::print("a result unpacked in {:.2f} ms\n", one.ms());
}

}  // namespace
}  // namespace sawtooth
