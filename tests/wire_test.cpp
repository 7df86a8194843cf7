#include "app/engine/wire.h"

#include "tests/catch.h"

using namespace sawtooth;

namespace {

std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text.push_back(static_cast<char>(value));
    return text;
}

bool refused(const std::string& message, const std::string& words) {
    const auto refusal = message_refusal(message);
    INFO(refusal.value_or("not refused"));
    CHECK(refusal);
    return refusal && refusal->find(words) != std::string::npos;
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
                read.push_back(**message);
            }
        }
        CHECK(read == messages);
        CHECK(reader.held().empty());
    }
}

TEST_CASE("a length of more than 256 MiB is refused before its bytes arrive", "[wire]") {
    FrameReader reader;
    reader.append(bytes({0x00, 0x00, 0x00, 0x10}));  // 256 MiB: accepted; waits for the bytes
    REQUIRE(reader.next());
    FrameReader longer;
    longer.append(bytes({0x01, 0x00, 0x00, 0x10}));
    const auto refused = longer.next();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("268435457") != std::string::npos);
    FrameReader text;
    text.append("Welcome to this server\n");
    CHECK_FALSE(text.next());
}

TEST_CASE("whole MessagePack values of every kind pass", "[wire]") {
    const std::string four(4, 0), eight(8, 0);
    for (const std::string& message : {bytes({0x00}),
                                       bytes({0x7F}),
                                       bytes({0xFF}),
                                       bytes({0xC0}),
                                       bytes({0xC2}),
                                       bytes({0xC3}),
                                       bytes({0x80}),
                                       bytes({0x90}),
                                       bytes({0xA0}),
                                       bytes({0xA1, 'a'}),
                                       bytes({0x81, 0xA1, 'a', 0x01}),
                                       bytes({0x92, 1, 2}),
                                       bytes({0xC4, 1, 0}),
                                       bytes({0xC5, 0, 1, 0}),
                                       bytes({0xC6, 0, 0, 0, 1, 0}),
                                       bytes({0xCA}) + four,
                                       bytes({0xCB}) + eight,
                                       bytes({0xCC, 0}),
                                       bytes({0xCD, 0, 0}),
                                       bytes({0xCE}) + four,
                                       bytes({0xCF}) + eight,
                                       bytes({0xD0, 0}),
                                       bytes({0xD1, 0, 0}),
                                       bytes({0xD2}) + four,
                                       bytes({0xD3}) + eight,
                                       bytes({0xD9, 1, 'a'}),
                                       bytes({0xDA, 0, 1, 'a'}),
                                       bytes({0xDB, 0, 0, 0, 1, 'a'}),
                                       bytes({0xDC, 0, 1, 7}),
                                       bytes({0xDD, 0, 0, 0, 1, 7}),
                                       bytes({0xDE, 0, 1, 0xA0, 7}),
                                       bytes({0xDF, 0, 0, 0, 1, 0xA0, 7}),
                                       bytes({0x93, 0x90, 0x91, 0x80, 0x92, 1, 2})}) {
        INFO(message_refusal(message).value_or(""));
        CHECK_FALSE(message_refusal(message));
        for (size_t length = 0; length < message.size(); ++length)
            CHECK(message_refusal(message.substr(0, length)));  // no prefix passes
        CHECK(refused(message + '\0', "bytes after its end"));
    }
}

TEST_CASE("nesting deeper than 32 is refused without recursion", "[wire]") {
    const auto nested = [](int depth) {
        return std::string(static_cast<size_t>(depth) - 1, '\x91') + '\x90';
    };
    CHECK_FALSE(message_refusal(nested(32)));
    CHECK(refused(nested(33), "nested deeper than 32"));
    CHECK(refused(std::string(size_t{8} << 20, '\x91'), "nested deeper than 32"));
    std::string maps;
    for (int i = 0; i < 40; ++i) maps += bytes({0x81, 0xA0});
    CHECK(refused(maps + '\xC0', "nested deeper than 32"));
}

TEST_CASE("declared sizes beyond the end are refused", "[wire]") {
    for (const int list_or_map : {0xDD, 0xDF})
        CHECK(
            refused(bytes({list_or_map, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3}), "more values than it has bytes"));
    for (const int text_or_binary : {0xDB, 0xC6})
        CHECK(refused(bytes({text_or_binary, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3}), "in the middle of a value"));
    CHECK(refused("", "in the middle of a value"));
    CHECK(refused(bytes({0xC1}), "an unsupported type"));
    CHECK(refused(bytes({0xD4, 1, 0}), "an unsupported type"));     // an extension
    CHECK(refused(bytes({0xC7, 1, 1, 0}), "an unsupported type"));  // another
}

TEST_CASE("too many values are refused", "[wire]") {
    std::string message = bytes({0xDD, 0x01, 0x00, 0x00, 0x00});  // a list of 2^24
    message.append(size_t{1} << 24, '\0');
    CHECK(refused(message, "more than 16777216 values"));
}

TEST_CASE("random bytes never crash the check of a message", "[wire]") {
    uint64_t state = 1;
    for (int round = 0; round < 20000; ++round) {
        std::string message;
        for (int i = 0; i < 40; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            message.push_back(static_cast<char>(state >> 56));
        }
        message_refusal(message);
    }
}
