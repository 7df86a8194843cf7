#include "app/engine/wire/wire.h"

#include <bit>
#include <cmath>

#include "tests/kit/catch.h"

using namespace sawtooth;

namespace {

std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text.push_back(static_cast<char>(value));
    return text;
}

}  // namespace

TEST_CASE("a frame is reassembled however its bytes are split", "[wire]") {
    const std::vector<std::string> messages = {"", "a", std::string(100000, 'x'), bytes({0, 1, 255})};
    std::string stream;
    for (const std::string& message : messages) stream += framed(message);
    for (const size_t step : {size_t{1}, size_t{3}, size_t{4096}, stream.size()}) {
        FrameReader reader;
        std::vector<std::string> read;
        for (size_t at = 0; at < stream.size(); at += step) {
            reader.append(std::string_view(stream).substr(at, step));
            while (true) {
                auto message = reader.next();
                REQUIRE(message);
                if (!*message) break;
                read.emplace_back(**message);
            }
        }
        CHECK(read == messages);
        CHECK(reader.held().empty());
    }
}

TEST_CASE("a packed message is shorter and read like any other, and a wrong one is refused", "[wire]") {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "median q1 q3 samples disturbed " + std::to_string(i % 7);
    const std::string packed = framed(text, true);
    CHECK(packed.size() < text.size() / 4);
    FrameReader reader;
    reader.append(packed + framed("short", true) + framed(text));
    for (const std::string& wanted : {text, std::string("short"), text}) {
        const auto message = reader.next();
        REQUIRE(message);
        REQUIRE(*message);
        CHECK(**message == wanted);
    }
    // Every changed byte: refused or another message.
    for (size_t at = 4; at < packed.size(); at += 7) {
        std::string changed = packed;
        changed[at] = static_cast<char>(changed[at] ^ 0x55);
        FrameReader other;
        other.append(changed);
        other.next();
    }
    // What unpacks to more than any packed message has.
    const std::string zeros(size_t{4} << 20, '\0');
    std::string bomb = framed(zeros, true);
    FrameReader most;
    most.append(bomb);
    CHECK(**most.next() == zeros);
    FrameReader cut;
    bomb.resize(bomb.size() - 1);
    bomb[0] = static_cast<char>(bomb.size() - 4);
    bomb[1] = static_cast<char>((bomb.size() - 4) >> 8);
    cut.append(bomb);
    CHECK(cut.next().error().text == "a packed message that cannot be unpacked");
}

TEST_CASE("a length of more than 128 MiB is refused before its bytes arrive", "[wire]") {
    FrameReader reader;
    reader.append(bytes({0x00, 0x00, 0x00, 0x08}));  // 128 MiB are accepted, and the bytes are awaited
    REQUIRE(reader.next());
    FrameReader longer;
    longer.append(bytes({0x01, 0x00, 0x00, 0x08}));
    const auto refused = longer.next();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("134217729") != std::string::npos);
    FrameReader text;
    text.append("Welcome to this server\n");
    CHECK_FALSE(text.next());
}

TEST_CASE("MessagePack values of every kind are read, and no prefix of one", "[wire]") {
    using Cursor = MessageCursor;
    // The value that `take` reads; absent if there is none or if it is not the whole message.
    const auto read = [](auto take) {
        return [take](const std::string& message) {
            Cursor cursor(message);
            auto value = take(cursor);
            if (!cursor.at_end()) value.reset();
            return value;
        };
    };
    const auto check = [](const auto& take, const std::string& message, const auto& wanted) {
        CHECK(take(message) == wanted);
        for (size_t length = 0; length < message.size(); ++length)
            CHECK_FALSE(take(message.substr(0, length)).has_value());
        CHECK_FALSE(take(bytes({0xC1})).has_value());        // an unused type
        CHECK_FALSE(take(bytes({0xD4, 1, 0})).has_value());  // an extension type
    };
    const auto boolean = read([](Cursor& cursor) { return cursor.boolean(); });
    check(boolean, bytes({0xC2}), false);
    check(boolean, bytes({0xC3}), true);

    const auto integer = read([](Cursor& cursor) { return cursor.integer(); });
    const auto natural = [](uint64_t value) { return Cursor::Integer(value); };
    const auto whole = [](int64_t value) { return Cursor::Integer(value); };
    check(integer, bytes({0x00}), natural(0));
    check(integer, bytes({0x7F}), natural(127));
    check(integer, bytes({0xFF}), whole(-1));
    check(integer, bytes({0xE0}), whole(-32));
    check(integer, bytes({0xCC, 0xFE}), natural(254));
    check(integer, bytes({0xCD, 1, 2}), natural(258));
    check(integer, bytes({0xCE, 1, 0, 0, 0}), natural(1 << 24));
    check(integer, bytes({0xCF, 0xFF, 0, 0, 0, 0, 0, 0, 0}), natural(uint64_t{0xFF} << 56));
    check(integer, bytes({0xD0, 0x80}), whole(-128));
    check(integer, bytes({0xD1, 0xFF, 0xFE}), whole(-2));
    check(integer, bytes({0xD2, 0x80, 0, 0, 0}), whole(-2147483648));
    check(integer, bytes({0xD3, 0x80, 0, 0, 0, 0, 0, 0, 0}), whole(INT64_MIN));

    const auto number = read([](Cursor& cursor) { return cursor.number(); });
    check(number, bytes({0xCA, 0x3F, 0xC0, 0, 0}), 1.5);
    check(number, bytes({0xCB, 0xC0, 0x08, 0, 0, 0, 0, 0, 0}), -3.0);
    check(number, bytes({0xFF}), -1.0);

    const auto text = read([](Cursor& cursor) { return cursor.text(); });
    check(text, bytes({0xA0}), "");
    check(text, bytes({0xA1, 'a'}), "a");
    check(text, bytes({0xD9, 1, 'a'}), "a");
    check(text, bytes({0xDA, 0, 1, 'a'}), "a");
    check(text, bytes({0xDB, 0, 0, 0, 1, 'a'}), "a");
    const auto binary = read([](Cursor& cursor) { return cursor.binary(); });
    check(binary, bytes({0xC4, 1, 'a'}), "a");
    check(binary, bytes({0xC5, 0, 1, 'a'}), "a");
    check(binary, bytes({0xC6, 0, 0, 0, 1, 'a'}), "a");

    const auto list = read([](Cursor& cursor) { return cursor.list(); });
    const auto map = read([](Cursor& cursor) { return cursor.map(); });
    check(list, bytes({0x90}), size_t{0});
    check(list, bytes({0xDC, 0, 0}), size_t{0});
    check(list, bytes({0xDD, 0, 0, 0, 0}), size_t{0});
    check(map, bytes({0x80}), size_t{0});
    check(map, bytes({0xDE, 0, 0}), size_t{0});
    check(map, bytes({0xDF, 0, 0, 0, 0}), size_t{0});

    Cursor nils(std::string_view("\xC0", 1));
    CHECK(nils.nil());
    CHECK_FALSE(nils.nil());
}

TEST_CASE("a value of another type is not taken", "[wire]") {
    MessageCursor cursor(
        std::string_view("\xA1"
                         "a",
                         2));
    CHECK_FALSE(cursor.integer());
    CHECK_FALSE(cursor.list());
    CHECK_FALSE(cursor.nil());
    CHECK(cursor.text() == "a");
}

TEST_CASE("a list that declares more values than there are bytes is refused", "[wire]") {
    for (const int kind : {0xDD, 0xDF}) {
        const std::string message = bytes({kind, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3});
        MessageCursor cursor(message);
        CHECK_FALSE((kind == 0xDD ? cursor.list() : cursor.map()));
    }
}

TEST_CASE("a value that is written is read again, in the shortest form", "[wire]") {
    MessageWriter writer;
    const std::vector<uint64_t> naturals = {
        0, 127, 128, 255, 256, 65535, 65536, UINT32_MAX, uint64_t{1} << 32, UINT64_MAX};
    const std::vector<int64_t> integers = {
        -1, -32, -33, -128, -129, -32768, -32769, INT32_MIN, int64_t{INT32_MIN} - 1, INT64_MIN};
    const std::vector<double> numbers = {0.5, -0.0, 0.1, 1e300, INFINITY, 1e-320};
    const std::vector<size_t> lengths = {0, 15, 16, 31, 32, 255, 256, 65535, 65536};
    for (const uint64_t value : naturals) writer.integer(value);
    for (const int64_t value : integers) writer.integer(value);
    for (const double value : numbers) writer.number(value);
    for (const size_t length : lengths) {
        const std::string text(length, 'x');
        writer.text(text);
        writer.binary(text.data(), text.size());
        writer.list(length);
        for (size_t i = 0; i < length; ++i) writer.nil();
        writer.map(length);
        for (size_t i = 0; i < 2 * length; ++i) writer.boolean(i % 2 == 0);
    }
    const std::string bytes = std::move(writer).take();
    CHECK(bytes.substr(0, 6) == std::string("\x00\x7F\xCC\x80\xCC\xFF", 6));
    MessageCursor cursor(bytes), skipping(bytes);
    for (const uint64_t value : naturals) CHECK(cursor.integer() == MessageCursor::Integer(value));
    for (const int64_t value : integers) CHECK(cursor.integer() == MessageCursor::Integer(value));
    for (const double value : numbers) {
        const auto read = cursor.number();
        REQUIRE(read);
        CHECK(std::bit_cast<uint64_t>(*read) == std::bit_cast<uint64_t>(value));
    }
    for (const size_t length : lengths) {
        CHECK(cursor.text() == std::string(length, 'x'));
        CHECK(cursor.binary() == std::string(length, 'x'));
        CHECK(cursor.list() == length);
        for (size_t i = 0; i < length; ++i) REQUIRE(cursor.nil());
        CHECK(cursor.map() == length);
        for (size_t i = 0; i < 2 * length; ++i) REQUIRE(cursor.boolean() == (i % 2 == 0));
    }
    CHECK(cursor.at_end());
    for (size_t i = naturals.size() + integers.size() + numbers.size() + 4 * lengths.size(); i > 0; --i)
        REQUIRE(skipping.skip());
    CHECK(skipping.at_end());
    CHECK_FALSE(skipping.skip());
}

TEST_CASE("a value that is cut, or nested as deep as its message is long, is passed over or refused",
          "[wire]") {
    const std::string whole = bytes({0x92, 0x81, 0xA1, 'a', 0xCD, 1, 2, 0xC4, 1, 7});
    for (size_t length = 0; length < whole.size(); ++length) {
        const std::string cut = whole.substr(0, length);
        CHECK_FALSE(MessageCursor(cut).skip());
    }
    const std::string deep(size_t{1} << 20, '\x91'), closed = deep + '\xC0';
    CHECK_FALSE(MessageCursor(deep).skip());
    CHECK(MessageCursor(closed).skip());
    const std::string extension = bytes({0xD4, 1, 0});
    CHECK_FALSE(MessageCursor(extension).skip());
}
