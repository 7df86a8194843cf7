#pragma once

#include <zip.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth {

// Zip archives: .npz and .sawtooth files. What an archive declares is checked before it is used.

struct CloseArchive {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
    void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using ArchiveHandle = std::unique_ptr<zip_t, CloseArchive>;
using MemberHandle = std::unique_ptr<zip_file_t, CloseMember>;

struct Archive {
    ArchiveHandle zip;
    int64_t bytes = 0;  // of the file
};

// Opens a regular file for reading. The error is the reason alone, without the path.
Outcome<Archive> open_archive(const std::string& path);

// What the archive declares of a member, if it is possible.
struct MemberFacts {
    bool is_deflated = false;  // otherwise stored
    uint64_t bytes = 0;        // unpacked
    uint64_t packed_bytes = 0;
    uint32_t checksum = 0;  // CRC-32 of the unpacked bytes
};
// The error is the reason alone: damaged, another compression, or more bytes than the file can hold.
Outcome<MemberFacts> facts_of(const Archive& archive, zip_uint64_t index);

// Reads in pieces, so that a stop takes effect soon. False if the member is too short, or if stopped.
bool read_exactly(zip_file_t* member, void* to, int64_t bytes, const std::stop_token& stop);

// A name from a file, cut and made safe for a single line on a terminal.
std::string short_printable(std::string_view name);

// Bytes as an archive holds them.
struct Deflated {
    std::string packed;
    uint64_t bytes = 0;
    uint32_t checksum = 0;
};
Deflated deflated(std::string_view bytes);
// The bytes again; nullopt if they are damaged, or not as many as declared.
std::optional<std::string> inflated(const Deflated& content);

// A member to write. Equal members give equal files: all are dated to the first day of ZIP.
struct NewMember {
    std::string name;
    std::vector<std::string_view> parts;  // its bytes, one part after another; they must outlive the writing
    // Of a member whose parts are deflated already.
    struct Unpacked {
        uint64_t bytes = 0;
        uint32_t checksum = 0;
    };
    std::optional<Unpacked> unpacked = {};
};
// Writes a new file, which must not exist. Returns what went wrong.
std::optional<std::string> write_archive(const std::string& path, const std::vector<NewMember>& members);

}  // namespace sawtooth
