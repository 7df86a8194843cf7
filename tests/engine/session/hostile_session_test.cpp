// Session files that are damaged, or made to harm: opening one never crashes, and says in a line what is
// wrong.

#include <sys/stat.h>

#include "tests/engine/run_engine.h"
#include "tests/engine/session/raw_session.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

// Opens all that the file has. Returns what is wrong with it, or with one of its results; "" if nothing is.
std::string fault_in(const std::string& path) {
    const auto read = read_session(path);
    if (!read) {
        CHECK(read.error().kind == Error::Kind::usage);
        CHECK(read.error().text.starts_with(path + ": "));
        CHECK_FALSE(contains(read.error().text, "\n"));
        return read.error().text;
    }
    std::string fault;
    for (const SessionResult& result : read->session.results)
        if (const auto opened = result.open(); !opened) fault = opened.error().text;
    for (const SessionSweep& sweep : read->session.sweeps)
        if (const auto opened = open_sweep(read->session, sweep))
            if (!opened->cells.empty()) figures_of(*opened);
    return fault;
}

class Files {
  public:
    std::string fault(const RawSession& raw) {
        put(path_, raw);
        return fault_in(path_);
    }
    std::string fault_of_bytes(const std::string& bytes) {
        put(path_, bytes);
        return fault_in(path_);
    }
    const std::string& path() const { return path_; }

  private:
    TemporaryFolder folder_;
    std::string path_ = folder_.file("a.sawtooth");
};

TEST_CASE("no changed byte and no prefix of a session file crashes the program", "[session]") {
    Files files;
    REQUIRE_FALSE(write_session(files.path(), tiny_session()));
    const std::string whole = content_of(files.path());
    for (size_t at = 0; at < whole.size(); ++at) {
        CHECK_FALSE(files.fault_of_bytes(whole.substr(0, at)).empty());
        for (const char bits : {'\x01', '\x80', '\xFF'}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ bits);
            files.fault_of_bytes(damaged);
        }
    }
}

TEST_CASE("no changed byte and no prefix of an unpacked member crashes the program", "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(tiny_session());
    const std::string index = bytes_of(raw.index), result = *inflated(raw.results[0]);
    for (size_t at = 0; at < index.size(); ++at) {
        raw.index_bytes = index.substr(0, at);
        if (at > 0) CHECK_FALSE(files.fault(raw).empty());
        for (const char bits : {'\x01', '\x80', '\xFF'}) {
            raw.index_bytes = index;
            raw.index_bytes[at] = static_cast<char>(index[at] ^ bits);
            files.fault(raw);
        }
    }
    // Opens the result, and draws it and the sweep that has it.
    const auto opens = [&](const std::string& bytes) {
        Session session;
        session.results.emplace_back(
            std::make_shared<const PackedResult>(PackedResult{raw.index.results[0], deflated(bytes)}));
        const auto opened = session.results[0].open();
        const auto sweep = open_sweep(session, raw.index.sweeps[0]);
        CHECK(static_cast<bool>(opened) == static_cast<bool>(sweep));
        if (!opened || !sweep) return false;
        figures_of(*opened->result, {});
        figures_of(*sweep);
        return true;
    };
    CHECK(opens(result));
    for (size_t at = 0; at < result.size(); ++at) {
        CHECK_FALSE(opens(result.substr(0, at)));
        for (const char bits : {'\x01', '\x80', '\xFF'}) {
            std::string damaged = result;
            damaged[at] = static_cast<char>(damaged[at] ^ bits);
            opens(damaged);
        }
    }
}

TEST_CASE("a file that is no session is refused", "[session]") {
    Files files;
    CHECK(contains(fault_in("/nowhere/a.sawtooth"), "No such file"));
    CHECK(contains(fault_in("/tmp"), "not a regular file"));
    CHECK(contains(files.fault_of_bytes(""), "cannot be opened as a session"));
    CHECK(contains(files.fault_of_bytes("text"), "cannot be opened as a session"));
    REQUIRE(::mkfifo((files.path() + ".pipe").c_str(), 0600) == 0);
    CHECK(contains(fault_in(files.path() + ".pipe"), "not a regular file"));
    std::filesystem::remove(files.path());
    REQUIRE_FALSE(write_archive(files.path(), {{"x.npy", {"\x93NUMPY"}}}));
    CHECK(contains(fault_in(files.path()), "no session file: it has no manifest.json"));
}

TEST_CASE("another major format is refused in words", "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(tiny_session());
    raw.manifest = R"({"format": 2, "program": "9.9+abc"})";
    const std::string words = files.fault(raw);
    for (const char* part : {"session format 2", "9.9+abc", "reads format 1"}) CHECK(contains(words, part));
    for (const std::string& manifest :
         {std::string("{}"), std::string("[1]"), std::string("{\"format\": \"1\"}"), std::string("{"),
          std::string(), std::string(1 << 19, '['), std::string("{\"format\": 1e300}")}) {
        raw.manifest = manifest;
        CHECK(contains(files.fault(raw), "manifest.json"));
    }
}

TEST_CASE("members that are too large or twice there are refused", "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(tiny_session());
    raw.manifest = std::string(size_t{2} << 20, ' ');
    CHECK(contains(files.fault(raw), "manifest.json has 2097152 bytes; the limit is"));
    raw = sawtooth::raw(tiny_session());
    raw.index_bytes = std::string(size_t{65} << 20, '\0');  // some 64 KiB in the file
    CHECK(contains(files.fault(raw), "session.msgpack has"));
    raw = sawtooth::raw(tiny_session());
    raw.results[0] = deflated(std::string(size_t{129} << 20, '\0'));
    CHECK(contains(files.fault(raw), "results/0000.msgpack has"));
    raw = sawtooth::raw(tiny_session());
    raw.results[0].bytes = uint64_t{1} << 62;
    CHECK(contains(files.fault(raw), "more than the file can hold"));
    raw = sawtooth::raw(tiny_session());
    raw.results[0].bytes += 1;
    CHECK(contains(files.fault(raw), "damaged"));
    raw = sawtooth::raw(tiny_session());
    raw.more = {{"results/0009.msgpack", {"x"}}};
    CHECK(files.fault(raw).empty());  // members that nothing names are ignored
    std::string bytes = content_of(files.path());
    for (size_t at = 0; (at = bytes.find("results/0009", at)) != std::string::npos;)
        bytes.replace(at, 12, "results/0000");
    CHECK(contains(files.fault_of_bytes(bytes), "contains results/0000.msgpack twice"));
}

TEST_CASE("members that lie in the same place take no more memory than the file", "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(tiny_session());
    const std::string noise = [] {
        std::string noise;
        for (uint32_t i = 0, x = 1; i < 1 << 16; ++i, x = x * 1664525 + 1013904223)
            noise += static_cast<char>(x >> 24);
        return noise;
    }();
    raw.results[0] = deflated(noise);
    for (int i = 1; i < 3; ++i) {
        raw.index.results.push_back(raw.index.results[0]);
        raw.results.push_back(deflated("x"));
    }
    put(files.path(), raw);
    std::string bytes = content_of(files.path());
    // Points the central entries of the other two at the first one.
    const auto entry_of = [&](const char* name) { return bytes.rfind(name) - 46; };
    const std::string first = bytes.substr(entry_of("results/0000"), 46);
    for (const char* name : {"results/0001", "results/0002"}) bytes.replace(entry_of(name), 46, first);
    CHECK(contains(files.fault_of_bytes(bytes), "damaged"));
}

TEST_CASE("a list that is longer than its bytes takes no memory", "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(tiny_session());
    const std::string before("\x81\xA7results", 9);
    for (const std::string& count : {std::string("\xDD\xFF\xFF\xFF\xFF"), std::string("\xDC\xFF\xFF")}) {
        raw.index_bytes = before + count;
        CHECK(contains(files.fault(raw), "session.msgpack"));
    }
    // Many summaries of one byte each: their structs would take gigabytes.
    raw.index_bytes = before + std::string("\xDD\x03\x00\x00\x00", 5) + std::string(size_t{3} << 24, '\x80');
    CHECK(contains(files.fault(raw), "decodes to too many values"));
}

TEST_CASE("indices of no result and numbers that are none are refused", "[session]") {
    Files files;
    const auto refused = [&](const std::function<void(SessionIndex&)>& change) {
        RawSession raw = sawtooth::raw(small_session());
        change(raw.index);
        return files.fault(raw);
    };
    CHECK(refused([](SessionIndex&) {}).empty());
    CHECK(contains(refused([](SessionIndex& index) { index.history = {3}; }),
                   "the history names result 4 of 3"));
    CHECK(contains(refused([](SessionIndex& index) { index.pins = {{uint64_t(-1), true}}; }), "a pin names"));
    CHECK(contains(refused([](SessionIndex& index) { index.notes[0].result = 3; }), "a note names"));
    CHECK(contains(refused([](SessionIndex& index) { index.notes[0].x = NAN; }), "a note has no place"));
    CHECK(
        contains(refused([](SessionIndex& index) { index.sweeps[0].cells[1].result = 9; }), "a sweep names"));
    CHECK(contains(refused([](SessionIndex& index) { index.sweeps[0].cells[0].index = 1; }), "not in order"));
    CHECK(contains(refused([](SessionIndex& index) { index.sweeps[0].cells.back().index = 99; }),
                   "too many cells"));
    CHECK(contains(refused([](SessionIndex& index) { index.sweeps[0].sweep.axes.clear(); }), "no cells"));
    CHECK(contains(refused([](SessionIndex& index) {
                       index.sweeps[0].sweep.axes[0].values.resize(20000, Value(int64_t{1}));
                   }),
                   "more than 1000 values"));
    CHECK(contains(refused([](SessionIndex& index) { index.sweeps[0].sweep.axes[0].values.clear(); }),
                   "no cells"));
    CHECK(contains(refused([](SessionIndex& index) { index.results[0].request.threads = -5; }),
                   "threads = -5"));
    CHECK(contains(refused([](SessionIndex& index) { index.results[0].request.time_limit_seconds = NAN; }),
                   "time limit"));
    CHECK(contains(refused([](SessionIndex& index) { index.results[0].variants[0].median_us = NAN; }),
                   "no number"));
    CHECK(contains(refused([](SessionIndex& index) { index.results.push_back(index.results[0]); }),
                   "no results/0003.msgpack"));
}

TEST_CASE("a session file brings no command and no path into a Request", "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(small_session());
    for (Request* request : {&raw.index.results[0].request, &raw.index.sweeps[0].sweep.base}) {
        request->on = "touch evil";
        request->kernels = "/evil";
        request->input = "/etc/passwd";
    }
    put(files.path(), raw);
    const Session back = read_back(files.path());
    for (const Request& request : {back.results[0].summary().request, opened(back.results[0]).result->request,
                                   back.sweeps[0].sweep.base}) {
        CHECK(request.on.empty());
        CHECK(request.kernels.empty());
        CHECK(request.input.empty());
    }
}

TEST_CASE("texts of a session file cannot control a terminal", "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(small_session());
    raw.index.results[0].device = "\x1B[2J" + std::string(100000, 'x');
    put(files.path(), raw);
    const std::string device = read_back(files.path()).results[0].summary().device;
    CHECK(device.starts_with("?[2J"));
    CHECK(device.size() == longest_text);
}

TEST_CASE("a sweep that names figures of a family but has other axes or variants is drawn as one of the user",
          "[session]") {
    Files files;
    RawSession raw = sawtooth::raw(small_session());
    for (const char* id : {"length", "block_size", "none"}) {
        raw.index.sweeps[0].sweep.id = id;
        put(files.path(), raw);
        CHECK(read_back(files.path()).sweeps[0].sweep.id == (id == std::string("length") ? id : ""));
    }
    const Sweep compensated{"compensated", small_request(), {{"compensated", {false, true}}}};
    raw.index.sweeps = {{compensated, {}}, {compensated, {}}};
    raw.index.sweeps[0].sweep.base.variants = {"sequential", "lookback"};  // as the family has it
    put(files.path(), raw);
    CHECK(read_back(files.path()).sweeps[0].sweep.id == "compensated");
    CHECK(read_back(files.path()).sweeps[1].sweep.id.empty());
}

// Results that no run has, although every part of them is valid.
std::vector<void (*)(VariantResult&)> odd_changes() {
    return {[](VariantResult& variant) { variant.errors.clear(); },
            [](VariantResult& variant) { variant.errors.resize(std::min<size_t>(variant.errors.size(), 1)); },
            [](VariantResult& variant) { variant.time.reset(); },
            [](VariantResult& variant) { variant.launches.clear(); },
            [](VariantResult& variant) { variant.verdicts.clear(); },
            [](VariantResult& variant) { variant.refused = "not here"; },
            [](VariantResult& variant) {
                variant.time = TimeStatistics{};
                for (LaunchRecord& launch : variant.launches) launch.duration_us = 0;
            },
            [](VariantResult& variant) {
                for (OutputError& error : variant.errors) error.by_position = {1};
                for (OutputError& error : variant.errors) error.rel_l2.reset(), error.max_abs.reset();
            }};
}

Result small_result_of(const Family& family) {
    Settings settings;
    for (const auto& [name, value] : Settings{{"length", int64_t{64}},
                                              {"sequence_length", int64_t{16}},
                                              {"L", int64_t{64}},
                                              {"N", int64_t{64}},
                                              {"batch", int64_t{2}}})
        if (const Parameter* const row = family.parameter(name); row && !row->check(value))
            settings.emplace_back(name, value);
    return run_in_engine(family, settings);
}

TEST_CASE("figures of odd results, and of sweeps of them, are made", "[session]") {
    for (const Family* family : offered_families()) {
        const Result small = small_result_of(*family);
        const auto own = family->sweeps ? family->sweeps(small.parameters) : std::vector<FigureSweep>();
        for (const auto change : odd_changes()) {
            Result odd = small;
            for (VariantResult& variant : odd.variants) change(variant);
            figures_of(*opened(SessionResult(odd)).result, {});
            for (const FigureSweep& figures : own) {
                SweepResult sweep{{figures.id, odd.request, figures.axes}, {}, true};
                sweep.sweep.base.parameters = odd.parameters;
                if (!figures.variants.empty()) sweep.sweep.base.variants = figures.variants;
                while (sweep.cells.size() < std::min<size_t>(sweep.sweep.cells(), 3))
                    sweep.cells.push_back(
                        {sweep.sweep.cell(sweep.cells.size()), "", std::make_shared<const Result>(odd)});
                Session session;
                add_sweep(session, sweep);
                auto back = open_sweep(session, session.sweeps[0]);
                INFO(family->name << " " << figures.id);
                REQUIRE(back);
                CHECK_FALSE(figures_of(*back).empty());
                back->sweep.id.clear();
                back->sweep.base.variants.clear();
                CHECK_FALSE(figures_of(*back).empty());
            }
        }
    }
}

}  // namespace
}  // namespace sawtooth
