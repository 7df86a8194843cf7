#pragma once

#include "app/engine/files/archive.h"
#include "app/engine/session/session_fields.h"
#include "app/engine/wire/mapping.h"
#include "tests/engine/session/sample_session.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {

// The parts of a session file, to be changed before they are written.
struct RawSession {
    std::string manifest = R"({"format": 1, "program": "9.9"})";
    SessionIndex index;
    std::string index_bytes;  // instead of those of `index`, if there are any
    std::vector<Deflated> results;
    std::vector<NewMember> more = {};
};

inline std::string bytes_of(const SessionIndex& index) {
    NamedWriter writer;
    writer.put(index);
    return std::move(writer).take();
}

inline RawSession raw(const Session& session) {
    RawSession raw;
    for (const SessionResult& result : session.results) {
        raw.index.results.push_back(result.summary());
        raw.results.push_back(result.packed()->content);
    }
    raw.index.history = session.history;
    raw.index.pins = session.pins;
    raw.index.sweeps = session.sweeps;
    raw.index.benches = session.benches;
    raw.index.notes = session.notes;
    return raw;
}

inline void put(const std::string& path, const RawSession& raw) {
    const std::string bytes = raw.index_bytes.empty() ? bytes_of(raw.index) : raw.index_bytes;
    const Deflated index = deflated(bytes);
    std::vector<NewMember> members = {
        {"manifest.json", {raw.manifest}},
        {"session.msgpack", {index.packed}, NewMember::Unpacked{index.bytes, index.checksum}}};
    for (size_t i = 0; i < raw.results.size(); ++i)
        members.push_back({fmt::format("results/{:04}.msgpack", i),
                           {raw.results[i].packed},
                           NewMember::Unpacked{raw.results[i].bytes, raw.results[i].checksum}});
    members.insert(members.end(), raw.more.begin(), raw.more.end());
    std::filesystem::remove(path);
    REQUIRE_FALSE(write_archive(path, members));
}

// A session with one result, without figures, which is the only cell of a sweep too.
inline Session tiny_session() {
    Result result = small_result();
    result.ceilings.reset();
    for (VariantResult& variant : result.variants) variant.launches.clear();
    Session session;
    session.results.emplace_back(result, nullptr, "2026-11-26 14:03:27");
    session.history = {0};
    session.pins = {{0, true}};
    session.sweeps = {
        {{"length", small_request(), {{"length", {int64_t{64}}}}}, {{0, {int64_t{64}}, "", 0}}}};
    return session;
}

}  // namespace sawtooth
