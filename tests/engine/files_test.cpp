#include "app/engine/files/files.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

#include "tests/engine/short_disk.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

using namespace sawtooth;

namespace {

bool mentions(const Error& error, const std::string& words) {
    return error.text.find(words) != std::string::npos;
}

// Whether an attempt succeeds for a user who is not root: root, who may write everywhere, becomes nobody.
bool works_without_rights(const std::function<std::optional<Error>()>& attempt) {
    const pid_t process = ::fork();
    if (process == 0) {
        const bool is_another = ::geteuid() != 0 || ::setuid(65534) == 0;
        ::_exit(is_another && !attempt() ? 0 : 1);
    }
    int status = -1;
    ::waitpid(process, &status, 0);
    return status == 0;
}

}  // namespace

TEST_CASE("a written file has its content and leaves no temporary file", "[files]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.txt");
    CHECK_FALSE(write_file(path, "one"));
    CHECK_FALSE(write_file(path, "two\n"));
    CHECK(content_of(path) == "two\n");
    CHECK(folder.names() == std::vector<std::string>{"a.txt"});
}

TEST_CASE("a missing folder is a failure that names it and is not created", "[files]") {
    const TemporaryFolder folder;
    const auto problem = write_file(folder.file("no/a.txt"), "x");
    REQUIRE(problem);
    CHECK(problem->exit_code() == 1);
    CHECK(mentions(*problem, folder.file("no")));
    CHECK(folder.names().empty());
    CHECK(check_writable(folder.file("no/a.txt")));
}

TEST_CASE("a folder cannot be written as a file", "[files]") {
    const TemporaryFolder folder;
    CHECK(check_writable(folder.path()));
    CHECK(write_file(folder.path(), "x"));
}

TEST_CASE("a full disk leaves the file unchanged and no temporary file", "[files]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.txt");
    REQUIRE_FALSE(write_file(path, "before"));
    {
        const ShortDisk disk(1000);
        const auto problem = write_file(path, std::string(5000, 'x'));
        REQUIRE(problem);
        CHECK(mentions(*problem, path));
    }
    CHECK(content_of(path) == "before");
    CHECK(folder.names().size() == 1);
}

TEST_CASE("a device is written to and stays a device", "[files]") {
    const auto problem = write_file("/dev/full", "x");
    REQUIRE(problem);
    CHECK(mentions(*problem, "/dev/full"));
    CHECK_FALSE(write_file("/dev/null", "x"));
    struct stat status {};
    REQUIRE(::stat("/dev/null", &status) == 0);
    CHECK(S_ISCHR(status.st_mode));
}

TEST_CASE("a folder or file without permission is a failure", "[files]") {
    const TemporaryFolder folder;
    ::chmod(folder.path().c_str(), 0777);
    if (!works_without_rights([&] { return write_file(folder.file("a.txt"), "x"); }))
        return say_skipped("another user cannot write here");
    put(folder.file("read-only"), "x");
    ::chmod(folder.file("read-only").c_str(), 0444);
    CHECK_FALSE(works_without_rights([&] { return write_file(folder.file("read-only"), "y"); }));
    ::chmod(folder.path().c_str(), 0555);
    CHECK_FALSE(works_without_rights([&] { return check_writable(folder.file("b.txt")); }));
    CHECK_FALSE(works_without_rights([&] { return write_file(folder.file("b.txt"), "y"); }));
}

TEST_CASE("writing through a link keeps the link, whether or not its target exists", "[files]") {
    const bool exists = GENERATE(true, false);
    const TemporaryFolder folder;
    if (exists) put(folder.file("target"), "x");
    std::filesystem::create_symlink("target", folder.file("link"));
    CHECK_FALSE(write_file(folder.file("link"), "y"));
    CHECK(std::filesystem::is_symlink(folder.file("link")));
    CHECK(content_of(folder.file("target")) == "y");
}

TEST_CASE("a file that is replaced keeps its permissions", "[files]") {
    const TemporaryFolder folder;
    for (const mode_t mode : {0600, 0640, 0666}) {
        put(folder.file("a"), "x");
        ::chmod(folder.file("a").c_str(), mode);
        CHECK_FALSE(write_file(folder.file("a"), "y"));
        struct stat status {};
        REQUIRE(::stat(folder.file("a").c_str(), &status) == 0);
        CHECK((status.st_mode & 07777) == mode);
    }
}

TEST_CASE("temporary files of processes that are gone are removed by the next write", "[files]") {
    const TemporaryFolder folder;
    char host[65] = {};
    REQUIRE(::gethostname(host, sizeof host - 1) == 0);
    const pid_t gone = ::fork();
    if (gone == 0) ::_exit(0);
    ::waitpid(gone, nullptr, 0);
    const auto left = [&](const std::string& of_host, pid_t process, const char* ending) {
        const std::string name = ".f.npz." + of_host + "." + std::to_string(process) + "-0.tmp" + ending;
        put(folder.file(name), "x");
        return name;
    };
    left(host, gone, "");
    left(host, gone, ".abcd");  // a temporary file of libzip
    const std::set<std::string> kept = {left(host, ::getpid(), ""), left("elsewhere", gone, ""), "a"};
    put(folder.file(".own-1.tmp"), "x");
    CHECK_FALSE(write_file(folder.file("a"), "y"));
    const auto names = folder.names();
    std::set<std::string> there(names.begin(), names.end());
    CHECK(there.erase(".own-1.tmp") == 1);
    CHECK(there == kept);
}

TEST_CASE("only regular files are read: a pipe does not hang", "[files]") {
    const TemporaryFolder folder;
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    const auto read = read_file(folder.file("pipe"), 100);
    REQUIRE_FALSE(read);
    CHECK(mentions(read.error(), "not a regular file"));
}

TEST_CASE("without HOME the cache is in the home of the system, never in a shared folder", "[files]") {
    const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
    const std::string cache = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
    ::unsetenv("HOME");
    ::unsetenv("XDG_CACHE_HOME");
    CHECK_FALSE(cache_directory().starts_with("/tmp"));
    if (!home.empty()) ::setenv("HOME", home.c_str(), 1);
    if (!cache.empty()) ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
}

TEST_CASE("reading stops at the limit", "[files]") {
    const TemporaryFolder folder;
    put(folder.file("a"), std::string(100, 'x'));
    CHECK(read_file(folder.file("a"), 100));
    CHECK_FALSE(read_file(folder.file("a"), 99));
    CHECK_FALSE(read_file("/dev/zero", 1 << 20));
    CHECK_FALSE(read_file(folder.path(), 100));
    CHECK_FALSE(read_file(folder.file("b"), 100));
}

TEST_CASE("the cache and configuration folders follow the environment", "[files]") {
    const TemporaryFolder folder;
    const char* before = std::getenv("XDG_CACHE_HOME");
    const std::string kept = before ? before : "";
    ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
    CHECK(cache_directory() == folder.file("sawtooth"));
    CHECK(std::filesystem::is_directory(folder.file("sawtooth")));
    if (before)
        ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
    else
        ::unsetenv("XDG_CACHE_HOME");
}

TEST_CASE("a missing asset is not found", "[files]") { CHECK_FALSE(find_asset("no/such/asset")); }
