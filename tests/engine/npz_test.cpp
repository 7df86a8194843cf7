#include "app/engine/files/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/core/random.h"
#include "tests/engine/short_disk.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

using namespace sawtooth;

namespace {

struct Member {
    std::string name, content;
    bool deflated = false;
};

void make_archive(const std::string& path, const std::vector<Member>& members) {
    std::filesystem::remove(path);
    zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, nullptr);
    REQUIRE(archive);
    for (const Member& member : members) {
        zip_source_t* source = zip_source_buffer(archive, member.content.data(), member.content.size(), 0);
        const auto index = zip_file_add(archive, member.name.c_str(), source, ZIP_FL_ENC_UTF_8);
        REQUIRE(index >= 0);
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                                 member.deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    REQUIRE(zip_close(archive) == 0);
}

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
    std::string text = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
    for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
        text += static_cast<char>(dictionary.size() >> (8 * byte) & 0xFF);
    return text + dictionary + data;
}

std::string dictionary(const std::string& dtype, const std::string& shape, bool fortran = false) {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", dtype,
                       fortran ? "True" : "False", shape);
}

template <class T>
std::string bytes_of_values(const std::vector<T>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

Outcome<Arrays> arrays_in(const std::string& path) {
    auto file = read_npz(path);
    if (!file) return file.error();
    return std::move(file->arrays);
}

// Reads an archive with a single array x whose file has this content.
Outcome<Arrays> read_one(const std::string& content, bool deflated = false) {
    const TemporaryFolder folder;
    make_archive(folder.file("a.npz"), {{"x.npy", content, deflated}});
    return arrays_in(folder.file("a.npz"));
}

// Checks for a one-line usage error that names the array and contains these words.
void check_refused(const Outcome<Arrays>& outcome, const std::string& words,
                   const std::string& array = "array x") {
    INFO(words);
    REQUIRE_FALSE(outcome);
    INFO(outcome.error().text);
    CHECK(outcome.error().kind == Error::Kind::usage);
    CHECK(outcome.error().text.find('\n') == std::string::npos);
    CHECK(outcome.error().text.find("a.npz: " + array) != std::string::npos);
    CHECK(outcome.error().text.find(words) != std::string::npos);
}

Array random_array(Random& random, std::string name) {
    constexpr Dtype dtypes[] = {Dtype::f32, Dtype::complex64, Dtype::int32};
    Shape shape;
    for (uint64_t left = random.next() % 5; left > 0; --left)
        shape.push_back(static_cast<int64_t>(random.next() % 7));
    Array array = Array::uninitialised(std::move(name), dtypes[random.next() % 3], shape);
    for (std::byte& byte : array.as<std::byte>()) byte = static_cast<std::byte>(random.next());
    return array;
}

bool same(const Array& one, const Array& other) {
    return one.name == other.name && one.dtype == other.dtype && one.shape == other.shape &&
           std::memcmp(one.data.get(), other.data.get(), static_cast<size_t>(one.bytes())) == 0;
}

}  // namespace

TEST_CASE("arrays of any shape survive saving bit by bit", "[npz]") {
    const TemporaryFolder folder;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed, "npz");
        Arrays arrays;
        for (uint64_t i = 0; i <= random.next() % 4; ++i)
            arrays.push_back(random_array(random, fmt::format("x{}", i)));
        REQUIRE_FALSE(write_npz(folder.file("a.npz"), arrays));
        const auto read = arrays_in(folder.file("a.npz"));
        REQUIRE(read);
        REQUIRE(read->size() == arrays.size());
        for (size_t i = 0; i < arrays.size(); ++i) CHECK(same(arrays[i], (*read)[i]));
    }
}

TEST_CASE("numbers of float64 that become infinite are noted", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    const double infinite = std::numeric_limits<double>::infinity();
    const auto values = bytes_of_values<double>({0.1, 1e300, -1e39, infinite});
    make_archive(path, {{"a.npy", npy(dictionary("<f8", "(4,)"), values), false}});
    const auto read = read_npz(path);
    REQUIRE(read);
    REQUIRE(read->notes.size() == 1);
    CHECK(contains(read->notes[0], "array a: 2 numbers are beyond the range of float32 and became infinite"));
}

TEST_CASE("wide arrays are narrowed and small ones widened", "[npz]") {
    SECTION("f8 is rounded to the nearest f32") {
        const auto read = read_one(npy(dictionary("<f8", "(3,)"), bytes_of_values<double>({0.1, 1e300, -2})));
        REQUIRE(read);
        CHECK(read->front().dtype == Dtype::f32);
        CHECK(read->front().as<float>()[0] == 0.1f);
        CHECK(std::isinf(read->front().as<float>()[1]));
    }
    SECTION("f2 keeps subnormal numbers, infinities and NaN") {
        const auto read = read_one(
            npy(dictionary("<f2", "(4,)"), bytes_of_values<uint16_t>({0x3C00, 0x0001, 0xFC00, 0x7E00})));
        REQUIRE(read);
        const auto values = read->front().as<float>();
        CHECK(values[0] == 1);
        CHECK(values[1] == std::ldexp(1.0f, -24));
        CHECK(values[2] == -std::numeric_limits<float>::infinity());
        CHECK(std::isnan(values[3]));
    }
    SECTION("c16 becomes complex64") {
        const auto read = read_one(npy(dictionary("<c16", "(1,)"), bytes_of_values<double>({0.1, -3})));
        REQUIRE(read);
        CHECK(read->front().as<std::complex<float>>()[0] == std::complex<float>(0.1f, -3));
    }
    SECTION("booleans become 0 and 1") {
        const auto read = read_one(npy(dictionary("|b1", "(2,)"), std::string("\0\1", 2)));
        REQUIRE(read);
        CHECK(read->front().as<int32_t>()[1] == 1);
    }
    SECTION("i8 fits or is refused with the element") {
        CHECK(read_one(npy(dictionary("<i8", "(2,)"), bytes_of_values<int64_t>({-2147483648, 2147483647}))));
        check_refused(read_one(npy(dictionary("<i8", "(2,)"), bytes_of_values<int64_t>({0, 2147483648}))),
                      "element 1 = 2147483648 does not fit");
    }
}

TEST_CASE("Fortran order is converted", "[npz]") {
    // [2, 3] with rows 0 1 2 and 3 4 5, the first index fastest
    const auto read =
        read_one(npy(dictionary("<i4", "(2, 3)", true), bytes_of_values<int32_t>({0, 3, 1, 4, 2, 5})));
    REQUIRE(read);
    for (int32_t i = 0; i < 6; ++i) CHECK(read->front().as<int32_t>()[static_cast<size_t>(i)] == i);
    const auto half =
        read_one(npy(dictionary("<f2", "(1, 2, 1)", true), bytes_of_values<uint16_t>({0x3C00, 0x4000})));
    REQUIRE(half);
    CHECK(half->front().as<float>()[1] == 2);
}

TEST_CASE("scalars, empty axes, later versions, spaces and deflated members are read", "[npz]") {
    const std::string one = bytes_of_values<float>({1});
    CHECK(read_one(npy(dictionary("<f4", "()"), one))->front().shape.empty());
    CHECK(read_one(npy(dictionary("<f4", "(3, 0, 2)"), ""))->front().shape == Shape{3, 0, 2});
    for (const int version : {1, 2, 3}) CHECK(read_one(npy(dictionary("<f4", "(1,)"), one, version)));
    CHECK(read_one(npy("{ \"shape\":( 1L , ) ,'descr' : '<f4','fortran_order':False}   \n", one)));
    const std::vector<float> many(10000, 3);
    const auto read = read_one(npy(dictionary("<f4", "(10000,)"), bytes_of_values(many)), true);
    REQUIRE(read);
    CHECK(read->front().as<float>()[9999] == 3);
}

TEST_CASE("malformed arrays are refused with a reason", "[npz]") {
    const std::string data(16, '\0');
    check_refused(read_one(npy(dictionary("|O", "(2,)"), data)), "object");
    check_refused(read_one(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }", data)),
                  "structured");
    check_refused(read_one(npy(dictionary(">f4", "(4,)"), data)), "dtype >f4");
    check_refused(read_one(npy(dictionary("<u4", "(4,)"), data)), "dtype <u4");
    check_refused(read_one(npy(dictionary("<f4", "(5,)"), data)), "shape [5]");
    check_refused(read_one(npy(dictionary("<f4", "(3,)"), data)), "shape [3]");
    check_refused(read_one(npy(dictionary("<f4", "(-1, -4)"), data)), "negative");
    check_refused(read_one(npy(dictionary("<f4", "(4294967296, 4294967296, 4)"), data)),
                  "larger than any memory");
    check_refused(read_one(npy(dictionary("<f4", "(0, 4294967296, 4294967296)"), "")),
                  "larger than any memory");
    check_refused(read_one(npy(dictionary("<f4", "(1152921504606846976,)"), data)), "shape");
    check_refused(read_one(npy(dictionary("<f4", "(99999999999999999999,)"), data)), "header");
    check_refused(read_one(npy("{'descr': '<f4', 'shape': (4,)}", data)), "header");
    check_refused(read_one(npy("__import__('os')", data)), "header");
    check_refused(read_one(npy("", data)), "header");
    check_refused(read_one(npy(dictionary("<f4", "(4,)"), data, 4)), "version 4.0");
    check_refused(read_one(npy(dictionary("<f4", "(4,)") + std::string(70000, ' '), data, 2)), "header of");
    check_refused(read_one(""), "truncated");
    check_refused(read_one("\x93NUM"), "truncated");
    check_refused(read_one("PK and other things that are no array"), "not an .npy array");
    std::string deep;
    for (int i = 0; i < 33; ++i) deep += "1,";
    check_refused(read_one(npy(dictionary("<f4", "(" + deep + ")"), bytes_of_values<float>({1}))),
                  "33 dimensions");
}

TEST_CASE("names that leave the archive are refused and names with folders skipped", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    const std::string good = npy(dictionary("<f4", "(1,)"), bytes_of_values<float>({1}));
    make_archive(path, {{"../x.npy", good}});
    check_refused(arrays_in(path), "leads out", "array ../x.npy");
    make_archive(path, {{"/x.npy", good}});
    check_refused(arrays_in(path), "leads out", "array /x.npy");
    make_archive(path, {{"notes.txt", good}});
    check_refused(arrays_in(path), "not an .npy array", "array notes.txt");
    make_archive(path, {{"sequential/y.npy", "not even an array"}, {"x.npy", good}});
    const auto read = read_npz(path);
    REQUIRE(read);
    CHECK(read->arrays.size() == 1);
    CHECK(read->skipped == std::vector<std::string>{"sequential/y.npy"});
}

TEST_CASE("a file that is not an archive is refused", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    const auto check = [&](const std::string& words) {
        const auto read = arrays_in(path);
        REQUIRE_FALSE(read);
        INFO(read.error().text);
        CHECK(read.error().kind == Error::Kind::usage);
        CHECK(read.error().text.find(path) == 0);
        CHECK(read.error().text.find(words) != std::string::npos);
    };
    check("No such file");
    put(path, "");
    check("expected an .npz file");
    put(path, "hello, this is a text");
    check("expected an .npz file");
    put(path, std::string("PK\5\6") + std::string(18, '\0'));
    check("contains no arrays");
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    check("not a regular file");
}

TEST_CASE("an array that occurs twice is refused", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    const std::string good = npy(dictionary("<f4", "(1,)"), bytes_of_values<float>({1}));
    make_archive(path, {{"x.npy", good}, {"y.npy", good}});
    std::string content = content_of(path);
    for (size_t at = content.find("y.npy"); at != std::string::npos; at = content.find("y.npy"))
        content[at] = 'x';
    put(path, content);
    CHECK_FALSE(arrays_in(path));
}

TEST_CASE("false declared sizes take no memory", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    // A header and the directory claim 4 TB, which neither the file nor its compressed bytes can hold.
    const std::string member = npy(dictionary("<f4", "(1000000000,)"), std::string(64, '\0'));
    make_archive(path, {{"x.npy", member}});
    std::string content = content_of(path);
    const uint32_t real = static_cast<uint32_t>(member.size());
    const uint32_t declared = 4000000000u;
    const std::string from(reinterpret_cast<const char*>(&real), 4),
        to(reinterpret_cast<const char*>(&declared), 4);
    for (size_t at = content.find(from); at != std::string::npos; at = content.find(from))
        content.replace(at, 4, to);
    put(path, content);
    CHECK_FALSE(arrays_in(path));
}

TEST_CASE("a file truncated anywhere is refused", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    for (const bool deflated : {false, true}) {
        make_archive(path, {{"x.npy", npy(dictionary("<f4", "(50,)"), std::string(200, '\1')), deflated}});
        const std::string whole = content_of(path);
        for (size_t length = 0; length < whole.size(); ++length) {
            put(path, whole.substr(0, length));
            CHECK_FALSE(arrays_in(path));
        }
    }
}

TEST_CASE("a damaged byte never crashes the program nor goes unnoticed in the data", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    for (const bool deflated : {false, true}) {
        make_archive(path, {{"x.npy", npy(dictionary("<f4", "(50,)"), std::string(200, '\1')), deflated}});
        const std::string whole = content_of(path);
        const auto good = arrays_in(path);
        REQUIRE(good);
        for (size_t at = 0; at < whole.size(); ++at)
            for (const char bits : {'\x01', '\x80', '\xFF'}) {
                std::string damaged = whole;
                damaged[at] = static_cast<char>(damaged[at] ^ bits);
                put(path, damaged);
                const auto read = arrays_in(path);
                // Times and flags do not affect data; a changed name is another name.
                if (read && !read->empty() && read->front().name == "x")
                    CHECK(same(good->front(), read->front()));
            }
    }
}

TEST_CASE("a full disk or a missing folder leaves no archive", "[npz]") {
    const TemporaryFolder folder;
    const Arrays arrays{Array::zeros("x", Dtype::f32, {10000})};
    {
        const ShortDisk disk(5000);
        const auto problem = write_npz(folder.file("a.npz"), arrays);
        REQUIRE(problem);
        CHECK(problem->exit_code() == 1);
        CHECK(problem->text.find(folder.file("a.npz")) == 0);
    }
    CHECK(folder.names().empty());
    CHECK(write_npz(folder.file("no/a.npz"), arrays));
    CHECK(write_npz("/dev/full", arrays));
}

TEST_CASE("an array without values, as of a recorded result, is refused and leaves no file", "[npz]") {
    const TemporaryFolder folder;
    Array y;
    y.name = "scan/y";
    y.shape = {2, 3};
    const auto problem = write_npz(folder.file("a.npz"), {y});
    REQUIRE(problem);
    CHECK(contains(problem->text, "a.npz: not written: there are no values of scan/y here"));
    CHECK(folder.names().empty());
}

TEST_CASE("equal arrays give equal files", "[npz]") {
    const TemporaryFolder folder;
    const Arrays arrays{Array::zeros("x", Dtype::f32, {3}),
                        Array::zeros("reference/y", Dtype::complex128, {2, 2})};
    REQUIRE_FALSE(write_npz(folder.file("a.npz"), arrays));
    REQUIRE_FALSE(write_npz(folder.file("b.npz"), arrays));
    CHECK(content_of(folder.file("a.npz")) == content_of(folder.file("b.npz")));
}

TEST_CASE("memory and shapes are checked before any data is read", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    // The file has 64 MiB of zeros in 64 KiB; the second array is damaged, which is only found by reading it.
    const std::string zeros = npy(dictionary("<f4", "(16777216,)"), std::string(64 << 20, '\0'));
    make_archive(path, {{"x.npy", zeros, true}, {"y.npy", zeros, true}});
    ReadLimits limits;
    limits.memory_bytes = 1 << 20;
    const auto too_large = read_npz(path, limits);
    REQUIRE_FALSE(too_large);
    CHECK(too_large.error().exit_code() == 1);
    CHECK(too_large.error().text.find("its arrays need 128 MiB; 1 MiB is allowed") != std::string::npos);
    limits = {};
    limits.check = [](const Arrays& shapes) -> std::optional<Error> {
        REQUIRE(shapes.size() == 2);
        CHECK(shapes[1].shape == Shape{1 << 24});
        CHECK_FALSE(shapes[1].data);
        return Error::usage("not wanted");
    };
    const auto refused = read_npz(path, limits);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text == "not wanted");
    limits = {};
    limits.only_shapes = true;
    const auto shapes = read_npz(path, limits);
    REQUIRE(shapes);
    CHECK_FALSE(shapes->arrays[0].data);
    std::stop_source source;
    source.request_stop();
    limits = {};
    limits.stop = source.get_token();
    const auto stopped = read_npz(path, limits);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().kind == Error::Kind::cancelled);
}

TEST_CASE("an archive with more than 1000 arrays is refused", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz");
    const std::string good = npy(dictionary("<f4", "(1,)"), bytes_of_values<float>({1}));
    std::vector<Member> members;
    for (int i = 0; i <= 1000; ++i) members.push_back({fmt::format("x{}.npy", i), good});
    make_archive(path, members);
    const auto read = read_npz(path);
    REQUIRE_FALSE(read);
    CHECK(read.error().text.find("more than 1000 arrays") != std::string::npos);
}
