#include "app/engine/files/archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "app/engine/files/descriptor.h"
#include "app/engine/files/files.h"

namespace sawtooth {
namespace {

std::string words_of(int code) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string words = zip_error_strerror(&error);
    zip_error_fini(&error);
    return words;
}

// The largest ratio that the format allows.
constexpr uint64_t best_deflation = 1032;

uint32_t checksum_of(std::string_view bytes) {
    return static_cast<uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

// The file that libzip writes to. Left to itself, libzip would first make up a file name from random numbers,
// and the library for these crashes when it gets no memory.
struct NewFile {
    explicit NewFile(const std::string& path)
        : file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
        zip_error_init(&error);
    }

    zip_int64_t checked(zip_int64_t result) {
        if (result < 0) zip_error_set(&error, ZIP_ER_WRITE, errno);
        return result;
    }

    Descriptor file;
    zip_error_t error;
};

// The source callback of libzip.
zip_int64_t serve_new_file(void* state, void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
    NewFile& to = *static_cast<NewFile*>(state);
    switch (command) {
        case ZIP_SOURCE_SUPPORTS:
            return zip_source_make_command_bitmap(
                ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
                ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
                ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE,
                ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, ZIP_SOURCE_SUPPORTS, -1);
        case ZIP_SOURCE_STAT:
            zip_stat_init(static_cast<zip_stat_t*>(data));
            return sizeof(zip_stat_t);
        case ZIP_SOURCE_WRITE:
            errno = write_all(to.file.number(), {static_cast<const char*>(data), bytes});
            return to.checked(errno == 0 ? static_cast<zip_int64_t>(bytes) : -1);
        case ZIP_SOURCE_SEEK_WRITE: {
            const auto* const seek = static_cast<const zip_source_args_seek_t*>(data);
            return to.checked(::lseek(to.file.number(), seek->offset, seek->whence)) < 0 ? -1 : 0;
        }
        case ZIP_SOURCE_TELL_WRITE:
            return to.checked(::lseek(to.file.number(), 0, SEEK_CUR));
        case ZIP_SOURCE_COMMIT_WRITE:
            return to.checked(to.file.close() ? 0 : -1);
        case ZIP_SOURCE_ERROR:
            return zip_error_to_data(&to.error, data, bytes);
        default:
            return 0;
    }
}

// A member while libzip reads it.
struct ServedMember {
    const NewMember* member;
    size_t part = 0, offset = 0;  // of the next byte

    uint64_t bytes() const {
        uint64_t sum = 0;
        for (const std::string_view each : member->parts) sum += each.size();
        return sum;
    }
    zip_int64_t read(char* to, zip_uint64_t most) {
        zip_uint64_t count = 0;
        while (count < most && part < member->parts.size()) {
            const std::string_view left = member->parts[part].substr(offset);
            const size_t taken = std::min<size_t>(left.size(), most - count);
            if (taken > 0) std::memcpy(to + count, left.data(), taken);
            count += taken;
            offset += taken;
            if (taken == left.size()) ++part, offset = 0;
        }
        return static_cast<zip_int64_t>(count);
    }
    void tell(zip_stat_t& status) const {
        zip_stat_init(&status);
        status.comp_size = bytes();
        status.size = member->unpacked ? member->unpacked->bytes : bytes();
        status.comp_method = member->unpacked ? ZIP_CM_DEFLATE : ZIP_CM_STORE;
        status.valid = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
        if (!member->unpacked) return;
        status.crc = member->unpacked->checksum;
        status.valid |= ZIP_STAT_CRC;
    }
};

// The source callback of libzip.
zip_int64_t serve_member(void* state, void* data, zip_uint64_t bytes, zip_source_cmd_t command) {
    ServedMember& from = *static_cast<ServedMember*>(state);
    switch (command) {
        case ZIP_SOURCE_SUPPORTS:
            return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                                  ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
        case ZIP_SOURCE_OPEN:
            from.part = from.offset = 0;
            return 0;
        case ZIP_SOURCE_READ:
            return from.read(static_cast<char*>(data), bytes);
        case ZIP_SOURCE_STAT:
            from.tell(*static_cast<zip_stat_t*>(data));
            return sizeof(zip_stat_t);
        case ZIP_SOURCE_ERROR: {
            const int none[2] = {ZIP_ER_OK, 0};
            std::memcpy(data, none, sizeof none);
            return sizeof none;
        }
        default:
            return 0;
    }
}

std::optional<std::string> add_member(zip_t* archive, ServedMember& served) {
    const auto problem = [&] { return std::string(zip_error_strerror(zip_get_error(archive))); };
    zip_source_t* source = zip_source_function(archive, serve_member, &served);
    if (!source) return problem();
    const zip_int64_t index = zip_file_add(archive, served.member->name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return problem();
    }
    const auto member = static_cast<zip_uint64_t>(index);
    // libzip writes deflated bytes as they are only if no compression is asked for.
    if (!served.member->unpacked && zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) != 0)
        return problem();
    if (zip_file_set_dostime(archive, member, 0, 1 << 5 | 1, 0) != 0) return problem();
    return {};
}

}  // namespace

Outcome<Archive> open_archive(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return Error::usage(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return Error::usage("not a regular file");
    int code = 0;
    Archive archive{ArchiveHandle(zip_open(path.c_str(), ZIP_RDONLY, &code)), status.st_size};
    if (!archive.zip) return Error::usage(code == ZIP_ER_OPEN ? std::strerror(errno) : words_of(code));
    return archive;
}

Outcome<MemberFacts> facts_of(const Archive& archive, zip_uint64_t index) {
    zip_stat_t status;
    constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_CRC;
    if (zip_stat_index(archive.zip.get(), index, 0, &status) != 0 || (status.valid & needed) != needed)
        return Error::usage("the archive is damaged");
    if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
        return Error::usage(fmt::format("compression method {} is not supported; accepted: stored, deflated",
                                        status.comp_method));
    const uint64_t growth = status.comp_method == ZIP_CM_STORE ? 1 : best_deflation;
    if (status.comp_size > static_cast<uint64_t>(archive.bytes) || status.size / growth > status.comp_size)
        return Error::usage(fmt::format("declares {} bytes, more than the file can hold", status.size));
    return MemberFacts{status.comp_method == ZIP_CM_DEFLATE, status.size, status.comp_size, status.crc};
}

bool read_exactly(zip_file_t* member, void* to, int64_t bytes, const std::stop_token& stop) {
    constexpr int64_t piece = 1 << 20;
    auto* place = static_cast<char*>(to);
    while (bytes > 0 && !stop.stop_requested()) {
        const zip_int64_t count = zip_fread(member, place, static_cast<zip_uint64_t>(std::min(bytes, piece)));
        if (count <= 0) return false;
        place += count;
        bytes -= count;
    }
    return bytes == 0;
}

std::string short_printable(std::string_view name) {
    std::string text(name.substr(0, 80));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    return text;
}

Deflated deflated(std::string_view bytes) {
    Deflated content{"", bytes.size(), checksum_of(bytes)};
    z_stream stream{};
    // Without a header of zlib, as ZIP has it. It fails only without memory, and then nothing goes on.
    if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    content.packed.resize(::deflateBound(&stream, bytes.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(content.packed.data());
    stream.avail_out = static_cast<uInt>(content.packed.size());
    ::deflate(&stream, Z_FINISH);
    content.packed.resize(stream.total_out);
    content.packed.shrink_to_fit();
    ::deflateEnd(&stream);
    return content;
}

std::optional<std::string> inflated(const Deflated& content) {
    if (content.bytes / best_deflation > content.packed.size()) return {};
    std::string bytes(content.bytes, '\0');
    z_stream stream{};
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.packed.data()));
    stream.avail_in = static_cast<uInt>(content.packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int outcome = ::inflate(&stream, Z_FINISH);
    const bool is_whole =
        outcome == Z_STREAM_END && stream.avail_in == 0 && stream.total_out == content.bytes;
    ::inflateEnd(&stream);
    if (!is_whole || checksum_of(bytes) != content.checksum) return {};
    return bytes;
}

std::optional<std::string> write_archive(const std::string& path, const std::vector<NewMember>& members) {
    NewFile file(path);
    if (!file.file) return std::strerror(errno);
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_function_create(serve_new_file, &file, &error);
    if (!source) return zip_error_strerror(&error);
    std::vector<ServedMember> served;  // libzip reads them on close
    for (const NewMember& member : members) served.push_back({&member});
    ArchiveHandle archive(zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error));
    if (!archive) {
        zip_source_free(source);
        return zip_error_strerror(&error);
    }
    for (ServedMember& member : served)
        if (auto problem = add_member(archive.get(), member)) return problem;
    if (zip_close(archive.get()) != 0) return zip_error_strerror(zip_get_error(archive.get()));
    static_cast<void>(archive.release());  // zip_close has freed it
    return {};
}

}  // namespace sawtooth
