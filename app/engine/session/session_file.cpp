#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/engine/files/archive.h"
#include "app/engine/files/files.h"
#include "app/engine/identity.h"
#include "app/engine/session/session_fields.h"
#include "app/engine/session/session_fit.h"
#include "app/engine/wire/json_values.h"
#include "app/engine/wire/mapping.h"
#include "app/engine/wire/wire.h"

namespace sawtooth {
namespace {

// Raised only when older builds would misunderstand the file, as the format of messages (messages.h).
constexpr int session_format = 1;

constexpr const char* manifest_name = "manifest.json";
constexpr const char* index_name = "session.msgpack";
std::string name_of_result(size_t index) { return fmt::format("results/{:04}.msgpack", index); }

// The longest members, unpacked, and the longest file, which is held in memory.
constexpr uint64_t longest_manifest = uint64_t{1} << 20, longest_index = uint64_t{64} << 20,
                   longest_result = longest_message;
constexpr int64_t longest_file = int64_t{1} << 30;

// Reads the members of one file. Errors are the reason alone.
class MemberReader {
  public:
    MemberReader(const Archive& archive, const std::stop_token& stop) : archive_(archive), stop_(stop) {}

    // Looks for the members. Failure: names that stand there twice.
    std::optional<Error> list() {
        const zip_int64_t count = zip_get_num_entries(archive_.zip.get(), 0);
        for (zip_int64_t i = 0; i < count; ++i) {
            const char* const name =
                zip_get_name(archive_.zip.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
            if (!name) return Error::usage("damaged");
            if (!places_.emplace(name, i).second)
                return Error::usage(fmt::format("contains {} twice", short_printable(name)));
        }
        return {};
    }

    Outcome<std::string> unpacked(const std::string& name, uint64_t longest) const {
        const auto facts = find(name, longest);
        if (!facts) return facts.error();
        const MemberHandle member(zip_fopen_index(archive_.zip.get(), places_.at(name), 0));
        std::string bytes(facts->bytes, '\0');
        char more;  // the checksum is only verified when reading goes past the end
        if (!member || !read_exactly(member.get(), bytes.data(), static_cast<int64_t>(bytes.size()), stop_) ||
            zip_fread(member.get(), &more, 1) != 0)
            return damaged(name);
        return bytes;
    }

    // Takes the bytes as they are. All members together have at most as many as the file, although a hostile
    // one may have all of them in the same place.
    Outcome<Deflated> packed(const std::string& name, uint64_t longest) {
        const auto facts = find(name, longest);
        if (!facts) return facts.error();
        taken_ += facts->packed_bytes;
        if (taken_ > static_cast<uint64_t>(archive_.bytes)) return damaged(name);
        if (!facts->is_deflated) {
            const auto bytes = unpacked(name, longest);
            if (!bytes) return bytes.error();
            return deflated(*bytes);
        }
        const MemberHandle member(zip_fopen_index(archive_.zip.get(), places_.at(name), ZIP_FL_COMPRESSED));
        Deflated content{std::string(facts->packed_bytes, '\0'), facts->bytes, facts->checksum};
        if (!member || !read_exactly(member.get(), content.packed.data(),
                                     static_cast<int64_t>(facts->packed_bytes), stop_))
            return damaged(name);
        return content;
    }

  private:
    Error damaged(const std::string& name) const {
        return stop_.stop_requested() ? Error::cancelled() : Error::usage("damaged: " + name);
    }
    Outcome<MemberFacts> find(const std::string& name, uint64_t longest) const {
        const auto place = places_.find(name);
        if (place == places_.end()) return Error::usage("no session file: it has no " + name);
        auto facts = facts_of(archive_, place->second);
        if (!facts) return Error::usage(name + ": " + facts.error().text);
        if (facts->bytes > longest)
            return Error::usage(fmt::format("{} has {} bytes; the limit is {}", name, facts->bytes, longest));
        return facts;
    }

    const Archive& archive_;
    const std::stop_token& stop_;
    std::map<std::string, zip_uint64_t, std::less<>> places_;
    uint64_t taken_ = 0;
};

// Refuses the file of another major format, in words.
std::optional<Error> check_manifest(const std::string& text) {
    const Json manifest = Json::parse(text, nullptr, false);
    const Json* const format =
        manifest.is_object() && manifest.contains("format") ? &manifest["format"] : nullptr;
    if (!format || !format->is_number_integer())
        return Error::usage(fmt::format("damaged: {} names no format", manifest_name));
    if (*format == session_format) return {};
    const std::string program = manifest.contains("program") && manifest["program"].is_string()
                                    ? manifest["program"].get<std::string>()
                                    : "another build";
    return Error::usage(
        fmt::format("has session format {}, written by sawtooth {}; this build, {}, reads format {}",
                    format->dump(), short_printable(program), build_identity(), session_format));
}

Outcome<SessionIndex> parse_index(const std::string& bytes) {
    NamedReader reader(bytes);
    SessionIndex index;
    const bool whole = reader.take(index);
    if (reader.is_out_of_memory())
        return Error::usage(fmt::format("damaged: {} decodes to too many values", index_name));
    if (!whole || !reader.at_end())
        return Error::usage(fmt::format("damaged: {} ({})", index_name,
                                        reader.fault().empty() ? "not in this format" : reader.fault()));
    return index;
}

Session session_of(SessionIndex index, std::vector<SessionResult> results) {
    return {std::move(index.program), std::move(index.date),    std::move(index.machines),
            std::move(results),       std::move(index.history), std::move(index.pins),
            std::move(index.sweeps),  std::move(index.benches), std::move(index.notes),
            std::move(index.family)};
}

// Errors are the reason alone.
Outcome<ReadSession> read_archive(const Archive& archive, const std::stop_token& stop) {
    if (archive.bytes > longest_file)
        return Error::usage(fmt::format("has {} bytes; the limit is {}", archive.bytes, longest_file));
    MemberReader reader(archive, stop);
    if (auto problem = reader.list()) return *problem;
    const auto manifest = reader.unpacked(manifest_name, longest_manifest);
    if (!manifest) return manifest.error();
    if (auto problem = check_manifest(*manifest)) return *problem;
    const auto bytes = reader.unpacked(index_name, longest_index);
    if (!bytes) return bytes.error();
    auto index = parse_index(*bytes);
    if (!index) return index.error();
    auto fitted = fit(*index);
    if (!fitted) return Error::usage("damaged: " + fitted.error().text);
    std::vector<SessionResult> results;
    for (size_t i = 0; i < fitted->places.size(); ++i) {
        if (!fitted->places[i]) continue;
        auto content = reader.packed(name_of_result(i), longest_result);
        if (!content) return content.error();
        results.emplace_back(std::make_shared<const PackedResult>(
            PackedResult{std::move(index->results[results.size()]), std::move(*content)}));
    }
    return ReadSession{session_of(std::move(*index), std::move(results)), std::move(fitted->notes),
                       fitted->is_partial};
}

std::string manifest_of(const Session& session) {
    const auto json = Json{{"format", session_format},
                           {"program", session.program},
                           {"date", session.date},
                           {"machines", session.machines},
                           {"results", session.results.size()},
                           {"sweeps", session.sweeps.size()},
                           {"benches", session.benches.size()},
                           {"pins", session.pins.size()},
                           {"notes", session.notes.size()}};
    return text_of(json);
}

std::vector<std::string> machines_of(const Session& session) {
    std::vector<std::string> machines;
    for (const SessionResult& result : session.results) {
        const std::string& machine = result.summary().machine;
        if (std::find(machines.begin(), machines.end(), machine) == machines.end())
            machines.push_back(machine);
    }
    return machines;
}

SessionIndex index_of(const Session& session) {
    SessionIndex index{session.program, session.date,  session.machines, {},
                       session.history, session.pins,  session.sweeps,   session.benches,
                       session.notes,   session.family};
    for (SessionSweep& sweep : index.sweeps) sweep.sweep.base = portable(std::move(sweep.sweep.base));
    for (const SessionResult& result : session.results) index.results.push_back(result.summary());
    return index;
}

// Why read_session would refuse the file: then it must not replace one that can be read.
std::optional<Error> check_limits(const std::string& index, const Session& session) {
    const auto refuse = [&](const std::string& words) {
        return Error::failure(
            fmt::format("a session of {} results has {}; use another file", session.results.size(), words));
    };
    if (index.size() > longest_index)
        return refuse(fmt::format("{} bytes of summaries; the limit is {}", index.size(), longest_index));
    constexpr size_t surely_read = 64 << 10;  // a byte is a value of at most 2 KiB
    if (index.size() > surely_read && !parse_index(index)) return refuse("too many values in its summaries");
    uint64_t all = index.size();
    for (const SessionResult& result : session.results) {
        const auto& packed = result.packed();
        if (!packed) continue;
        if (packed->content.bytes > longest_result)
            return refuse(
                fmt::format("a result of {} bytes; the limit is {}", packed->content.bytes, longest_result));
        all += packed->content.packed.size();
    }
    if (all > static_cast<uint64_t>(longest_file))
        return refuse(fmt::format("{} bytes; the limit is {}", all, longest_file));
    return {};
}

}  // namespace

Outcome<ReadSession> read_session(const std::string& path, std::stop_token stop) {
    const auto archive = open_archive(path);
    if (!archive) return Error::usage(path + ": cannot be opened as a session: " + archive.error().text);
    auto read = read_archive(*archive, stop);
    if (read || read.error().kind == Error::Kind::cancelled) return read;
    return Error::usage(path + ": " + read.error().text);
}

std::optional<Error> write_session(const std::string& path, Session session) {
    session.program = build_identity();
    session.date = utc_now();
    session.machines = machines_of(session);
    const std::string manifest = manifest_of(session);
    NamedWriter writer;
    writer.put(index_of(session));
    std::string unpacked = std::move(writer).take();
    if (auto problem = check_limits(unpacked, session)) return Error::failure(path + ": " + problem->text);
    const Deflated index = deflated(std::move(unpacked));
    std::vector<NewMember> members = {{manifest_name, {manifest}}};
    const auto add = [&](std::string name, const Deflated& content) {
        members.push_back(
            {std::move(name), {content.packed}, NewMember::Unpacked{content.bytes, content.checksum}});
    };
    add(index_name, index);
    for (size_t i = 0; i < session.results.size(); ++i)
        if (const auto& packed = session.results[i].packed()) add(name_of_result(i), packed->content);
    return write_file_with(path,
                           [&](const std::string& temporary) { return write_archive(temporary, members); });
}

}  // namespace sawtooth
