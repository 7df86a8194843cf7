// Messages that are no messages, that would take too much memory, or whose figures cannot be drawn.

#include <nlohmann/json.hpp>

#include "app/engine/wire/messages.h"
#include "tests/engine/full_messages.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

using namespace sawtooth;

TEST_CASE("a figure with mismatched lists is refused with a reason", "[messages]") {
    const auto words = [](Mark mark) {
        Figure figure;
        figure.id = "outputs";
        figure.marks = {std::move(mark)};
        const auto figures = std::make_shared<const std::vector<Figure>>(std::vector<Figure>{figure});
        const auto made = decode_from_worker(encode(FromWorker(FiguresMade{7, figures})));
        const auto shown = decode_from_worker(encode(FromWorker(Shown{7, full_result(), figures})));
        CHECK(bool(made) == bool(shown));
        if (!made) CHECK(made.error().text == shown.error().text);
        return made ? "" : made.error().text;
    };
    const auto refused = [&](Mark mark, const std::string& why) {
        const std::string text = words(std::move(mark));
        INFO(text);
        CHECK(text.find("figure outputs has " + why) != std::string::npos);
    };
    const Ink ink;
    refused(Line{"", ink, {0, 1}, {1}, false, {}}, "a line");
    refused(Line{"", ink, {0}, {1, 2}, false, {}}, "a line");
    refused(Line{"", ink, {0, 1}, {1, 2}, false, {"chunk", {1}}}, "a line");
    for (auto words_of : {&Line::wrong, &Line::unstable, &Line::names}) {
        Line line{"", ink, {0, 1}, {1, 2}, false, {}};
        (line.*words_of) = {"one"};
        refused(line, "a line with words for some of its points");
    }
    refused(Band{"", ink, {0, 1}, {1}, {3, 4}}, "a band");
    refused(Band{"", ink, {0, 1}, {1, 2}, {3}}, "a band");
    const auto heat = [](int64_t rows, int64_t columns, std::vector<double> values) {
        HeatMap map;
        map.rows = rows;
        map.columns = columns;
        map.values = std::move(values);
        return map;
    };
    refused(heat(2, 2, {1, 2, 3}), "a heat map");
    refused(heat(-1, -2, {1, 2}), "a heat map");
    refused(heat(int64_t{1} << 32, int64_t{1} << 32, {}), "a heat map");
    HeatMap texts = heat(1, 2, {1, 2}), framed = texts, sets = texts;
    texts.texts = {"one"};
    refused(texts, "a heat map with words for some of its cells");
    texts.texts.clear();
    texts.unstable = {"unstable: 3x"};
    refused(texts, "a heat map with words for some of its cells");
    framed.framed = {{0, 2, "best", ink}};
    refused(framed, "a heat map with a frame around a missing cell");
    sets.sets_x = {"BLOCK_N", {16, 32}};
    CHECK(words(sets).empty());
    sets.sets_y = {"BLOCK_M", {16, 32}};
    refused(sets, "a heat map that does not set one value per column and row");
    const std::vector<Matrix::Kind> kinds = {{"kind", ink}};
    refused(Matrix{{"row"}, {"a", "b"}, kinds, {0}, {}}, "a matrix");
    refused(Matrix{{}, {"a", "b"}, kinds, {0}, {}}, "a matrix");
    refused(Matrix{{"row"}, {"a"}, kinds, {1}, {}}, "a matrix");
    refused(Matrix{{"row"}, {"a"}, kinds, {-2}, {}}, "a matrix");
    refused(Matrix{{"row"}, {"a"}, kinds, {0}, {"", ""}}, "a matrix");
    const KindMap::Kind kind = {"kind", ink};
    refused(KindMap{"", {kind}, {"row"}, {"a", "b"}, {0}}, "a map of kinds");
    refused(KindMap{"", {kind}, {}, {"a", "b"}, {0}}, "a map of kinds");
    refused(KindMap{"", {kind}, {"row"}, {"a"}, {1}}, "a map");
    refused(KindMap{"", {kind}, {"row"}, {"a"}, {-1}}, "a map");
    refused(Tree{{{1, 2, "node", true}}, {{0, 1, true}}}, "a tree");
    refused(Tree{{{1, 2, "node", true}}, {{-1, 0, true}}}, "a tree");
    refused(Tracks{{{"", ink, {}, {0.5}, {}, ""}}}, "a track");
    refused(Tracks{{{"", ink, {}, {}, {0.5}, ""}}}, "a track");

    CHECK(words(heat(0, 5, {})).empty());
    CHECK(words(Matrix{{}, {}, kinds, {0, -1}, {}}).empty());
    CHECK(words(Matrix{{"row", "other"}, {}, kinds, {0, -1, 0, 0}, {}}).empty());
    CHECK(words(Line{}).empty());
}

TEST_CASE("bytes that are not a message are refused with a reason", "[messages]") {
    const auto words = [](const std::string& bytes) {
        const auto outcome = decode_from_worker(bytes);
        REQUIRE_FALSE(outcome);
        return outcome.error().text;
    };
    for (const char* bytes : {"", "\xC0", "\x81", "\xC1", "\x80", "\x82"})
        CHECK(words(bytes) == "invalid message: not in this format");
    const auto message = [&](const nlohmann::json& tree) {
        std::string bytes;
        nlohmann::json::to_msgpack(tree, bytes);
        return words(bytes);
    };
    CHECK(contains(message({{"Song", {}}}), "the unknown kind \"Song\""));
    CHECK(contains(message({{"Said", {{"job", "one"}}}}), "Said.job: a value of another kind"));
    CHECK(contains(message({{"Failed", {{"error", {{"kind", "rude"}}}}}}),
                   "Error.kind: the unknown value \"rude\""));
    CHECK(
        contains(message({{"Failed", {{"error", {{"kind", ""}}}}}}), "Error.kind: a value of another kind"));
    CHECK(contains(words("\x81\xA4Said\x82\xA3job\x01\xA3job\x01"),
                   "Said.job: a name that stands there twice"));
    CHECK(contains(words("\x81\xA5"
                         "Alive\x80\x01"),
                   "more bytes than the message has"));
    CHECK(contains(words(std::string("\x92\x00\x93\xA1v\x09\xA0", 7)),
                   "install the same version on both ends"));  // an old Hello
    // Every changed byte and every truncation of a real message must be refused or give another message, and
    // never a crash.
    const std::string whole = encode(FromWorker(CellDone{2, {{int64_t{1}}, "", full_result()}}));
    for (size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x55);
        decode_from_worker(changed);
        CHECK_FALSE(decode_from_worker(whole.substr(0, at)));
    }
}

// A Shown message whose list of notes has this many empty texts: 1 byte each, but 32 in memory.
static std::string shown_with_notes(size_t count) {
    auto result = std::make_shared<Result>();
    result->notes.resize(count);
    return encode(FromWorker(Shown{1, result, nullptr}));
}

TEST_CASE("a message decodes to at most three times its size, however short its values", "[messages]") {
    CHECK(decode_from_worker(shown_with_notes(2 << 20)));  // short messages may take 128 MiB
    const auto refused = decode_from_worker(shown_with_notes(8 << 20));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("too many values") != std::string::npos);
}

// A result keeps at most this many records, for several variants.
TEST_CASE("the longest real results are decoded", "[messages]") {
    auto result = std::make_shared<Result>();
    auto info = std::make_shared<LaunchInfo>();
    info->name = "token";
    VariantResult variant;
    LaunchRecord record = full_launch(info);
    record.counters.clear();  // only a few launches have counters
    variant.launches.assign(most_kept_launches, record);
    for (const auto& [workers, variants] : {std::pair(2, 16), std::pair(16, 8)}) {
        INFO(workers << " workers");
        for (LaunchRecord& launch : variant.launches) launch.busy.assign(static_cast<size_t>(workers), {});
        result->variants.assign(static_cast<size_t>(variants), variant);
        CHECK(decode_from_worker(encode(FromWorker(Shown{1, result, nullptr}))));
    }
}
