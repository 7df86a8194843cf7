#include "app/engine/npz.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zip.h>

#include <cerrno>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "app/engine/files.h"
#include "app/engine/memory.h"
#include "app/engine/npy.h"
#include "kernels/core/table.h"
#include "kernels/cpu/half.h"

namespace sawtooth {
namespace {

constexpr std::string_view accepted_dtypes = "accepted: <f2 <f4 <f8 <c8 <c16 <i4 <i8 |b1";

// The conversion of a NumPy dtype. `native` ones are kept unchanged.
struct Format {
    std::string_view name;
    int64_t bytes;
    Dtype dtype;
    bool native;
};
constexpr Format formats[] = {
    {"<f2", 2, Dtype::f32, false},      {"<f4", 4, Dtype::f32, true},          {"<f8", 8, Dtype::f32, false},
    {"<c8", 8, Dtype::complex64, true}, {"<c16", 16, Dtype::complex64, false}, {"<i4", 4, Dtype::int32, true},
    {"<i8", 8, Dtype::int32, false},    {"|b1", 1, Dtype::int32, false},
};

struct CloseArchive {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;

struct CloseMember {
    void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;

std::string words_of(int code) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string words = zip_error_strerror(&error);
    zip_error_fini(&error);
    return words;
}

// A name from a file, made safe for one line of a terminal.
std::string printable(std::string_view name) {
    std::string text(name.substr(0, 80));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    return text;
}

bool read_exactly(zip_file_t* member, void* to, int64_t bytes) {
    auto* place = static_cast<char*>(to);
    while (bytes > 0) {
        const zip_int64_t count = zip_fread(member, place, static_cast<zip_uint64_t>(bytes));
        if (count <= 0) return false;
        place += count;
        bytes -= count;
    }
    return true;
}

// From Fortran order (first index fastest) to C order (last index fastest).
std::shared_ptr<std::byte[]> reordered(const std::byte* from, const Shape& shape, int64_t item) {
    const int64_t count = count_of(shape);
    auto to = allocate(count * item);
    Shape strides(shape.size(), 1), index(shape.size(), 0);
    for (size_t axis = 1; axis < shape.size(); ++axis) strides[axis] = strides[axis - 1] * shape[axis - 1];
    int64_t place = 0;
    for (int64_t i = 0; i < count; ++i) {
        std::memcpy(to.get() + i * item, from + place * item, static_cast<size_t>(item));
        for (size_t axis = shape.size(); axis-- > 0;) {
            place += strides[axis];
            if (++index[axis] < shape[axis]) break;
            place -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    return to;
}

template <class From, class To>
void convert(const std::byte* from, std::span<To> to) {
    for (size_t i = 0; i < to.size(); ++i) {
        From value;
        std::memcpy(&value, from + i * sizeof(From), sizeof(From));
        to[i] = static_cast<To>(value);
    }
}

std::optional<std::string> convert_wide_integers(const std::byte* from, std::span<int32_t> to) {
    for (size_t i = 0; i < to.size(); ++i) {
        int64_t value;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
            return fmt::format("element {} = {} does not fit int32", i, value);
        to[i] = static_cast<int32_t>(value);
    }
    return {};
}

std::optional<std::string> convert_to(Array& array, const Format& format, const std::byte* from) {
    if (format.native)
        std::memcpy(array.data.get(), from, static_cast<size_t>(array.bytes()));
    else if (format.name == "<f2")
        cpu::widen(Storage::f16, reinterpret_cast<const uint16_t*>(from), array.as<float>().data(),
                   array.count());
    else if (format.name == "<f8")
        convert<double>(from, array.as<float>());
    else if (format.name == "<c16")
        convert<std::complex<double>>(from, array.as<std::complex<float>>());
    else if (format.name == "<i8")
        return convert_wide_integers(from, array.as<int32_t>());
    else
        for (int64_t i = 0; i < array.count(); ++i)
            array.as<int32_t>()[static_cast<size_t>(i)] = from[i] != std::byte{0};
    return {};
}

// One array of an open archive. Errors start with "FILE: array NAME: ".
class ArrayReader {
  public:
    ArrayReader(zip_t* archive, zip_uint64_t index, const std::string& file, std::string name,
                int64_t archive_bytes)
        : archive_(archive),
          index_(index),
          name_(std::move(name)),
          archive_bytes_(archive_bytes),
          place_(fmt::format("{}: array {}: ", file, printable(name_))) {}

    Outcome<Array> read() {
        if (auto problem = open()) return *problem;
        auto header = read_header();
        if (!header) return header.error();
        const Format* format = format_of(header->dtype);
        if (!format)
            return wrong(
                fmt::format("dtype {} is not supported; {}", printable(header->dtype), accepted_dtypes));
        if (auto problem = check_size(*header, *format)) return *problem;
        return read_data(*header, *format);
    }

  private:
    Error wrong(const std::string& words) const { return Error::usage(place_ + words); }

    static const Format* format_of(std::string_view name) {
        for (const Format& format : formats)
            if (format.name == name) return &format;
        return nullptr;
    }

    // Checks that the declared sizes are possible before they are used.
    std::optional<Error> open() {
        zip_stat_t status;
        constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
        if (zip_stat_index(archive_, index_, 0, &status) != 0 || (status.valid & needed) != needed)
            return wrong("the archive is damaged; write it with numpy.savez");
        if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
            return wrong(fmt::format("compression method {} is not supported; accepted: stored, deflated",
                                     status.comp_method));
        constexpr zip_uint64_t best_deflation = 1032;  // the largest ratio that the format allows
        const zip_uint64_t growth = status.comp_method == ZIP_CM_STORE ? 1 : best_deflation;
        if (status.comp_size > static_cast<zip_uint64_t>(archive_bytes_) ||
            status.size / growth > status.comp_size)
            return wrong(fmt::format("declares {} bytes, more than the file can hold", status.size));
        member_.reset(zip_fopen_index(archive_, index_, 0));
        if (!member_) return wrong(zip_error_strerror(zip_get_error(archive_)));
        bytes_ = static_cast<int64_t>(status.size);
        return {};
    }

    Outcome<NpyHeader> read_header() {
        const Error damaged = wrong("truncated or not an .npy array; write it with numpy.save");
        unsigned char start[12];
        if (!read_exactly(member_.get(), start, 10)) return damaged;
        if (std::memcmp(start, npy_magic.data(), npy_magic.size()) != 0) return damaged;
        const int version = start[6];
        if (version < 1 || version > 3)
            return wrong(
                fmt::format(".npy version {}.{} is not supported; accepted: 1.0 to 3.0", version, start[7]));
        if (version > 1 && !read_exactly(member_.get(), start + 10, 2)) return damaged;
        int64_t length = start[8] | start[9] << 8;
        if (version > 1)
            length |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
        constexpr int64_t longest = 1 << 16;
        if (length > longest)
            return wrong(
                fmt::format(".npy header of {} bytes is too long; the limit is {}", length, longest));
        std::string text(static_cast<size_t>(length), '\0');
        if (!read_exactly(member_.get(), text.data(), length)) return damaged;
        header_bytes_ = (version > 1 ? 12 : 10) + length;
        auto header = parse_npy_header(text);
        if (!header) return wrong(header.error().text);
        if (header->dtype.find('O') != std::string::npos)
            return wrong(fmt::format("object arrays are not supported; {}", accepted_dtypes));
        return header;
    }

    std::optional<Error> check_size(const NpyHeader& header, const Format& format) const {
        const int64_t count = count_of(header.shape);
        const int64_t held = bytes_ - header_bytes_;
        if (held < 0 || held % format.bytes != 0 || held / format.bytes != count)
            return wrong(fmt::format("shape {} of {} does not match the {} bytes in the file",
                                     to_text(header.shape), format.name, held));
        const int64_t needed = (format.native && !header.fortran_order ? 1 : 4) * held;
        const int64_t free = free_memory_bytes();
        if (needed <= free) return {};
        return Error::failure(place_ + fmt::format("needs {} of memory; {} is free",
                                                   short_bytes(static_cast<double>(needed)),
                                                   short_bytes(static_cast<double>(free))));
    }

    Outcome<Array> read_data(const NpyHeader& header, const Format& format) {
        Array array = Array::uninitialised(name_, format.dtype, header.shape);
        const int64_t bytes = bytes_ - header_bytes_;
        const bool direct = format.native && !header.fortran_order;
        auto raw = direct ? array.data : allocate(bytes);
        if (!read_exactly(member_.get(), raw.get(), bytes)) return wrong("truncated or damaged");
        // Only reading past the end checks the checksum.
        char more;
        if (zip_fread(member_.get(), &more, 1) != 0) return wrong("damaged: checksum or size does not match");
        if (direct) return array;
        if (header.fortran_order) raw = reordered(raw.get(), header.shape, format.bytes);
        if (const auto problem = convert_to(array, format, raw.get())) return wrong(*problem);
        return array;
    }

    zip_t* archive_;
    zip_uint64_t index_;
    std::string name_;
    int64_t archive_bytes_;
    std::string place_;
    Member member_;
    int64_t bytes_ = 0, header_bytes_ = 0;
};

Error wrong_file(const std::string& path, const std::string& words) {
    return Error::usage(fmt::format("{}: {}; expected an .npz file as numpy.savez writes it", path, words));
}

// "x.npy" is the array x.
constexpr std::string_view ending = ".npy";

std::optional<Error> check_name(const std::string& path, std::string_view member) {
    if (member.find("..") != std::string_view::npos || member.starts_with('/'))
        return Error::usage(fmt::format("{}: array {}: the name leads out of the archive; use a plain name",
                                        path, printable(member)));
    if (member.find('/') == std::string_view::npos && !member.ends_with(ending))
        return Error::usage(fmt::format("{}: array {}: not an .npy array", path, printable(member)));
    return {};
}

std::optional<std::string> add_array(zip_t* archive, const Array& array, const std::string& header) {
    const auto problem = [&] { return std::string(zip_error_strerror(zip_get_error(archive))); };
    // The fragments are not const, but libzip only reads them.
    const zip_buffer_fragment_t parts[] = {
        {reinterpret_cast<zip_uint8_t*>(const_cast<char*>(header.data())), header.size()},
        {reinterpret_cast<zip_uint8_t*>(array.data.get()), static_cast<zip_uint64_t>(array.bytes())},
    };
    zip_source_t* source = zip_source_buffer_fragment(archive, parts, array.bytes() > 0 ? 2 : 1, 0);
    if (!source) return problem();
    const zip_int64_t index = zip_file_add(archive, (array.name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return problem();
    }
    const auto member = static_cast<zip_uint64_t>(index);
    // The first day of ZIP, as in NumPy, so that equal arrays give equal files.
    if (zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive, member, 0, 1 << 5 | 1, 0) != 0)
        return problem();
    return {};
}

std::optional<std::string> write_archive(const std::string& path, const Arrays& arrays) {
    int code = 0;
    Archive archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &code));
    if (!archive) return words_of(code);
    std::vector<std::string> headers;  // libzip reads them on close
    for (const Array& array : arrays) headers.push_back(npy_header(array));
    for (size_t i = 0; i < arrays.size(); ++i)
        if (auto problem = add_array(archive.get(), arrays[i], headers[i])) return problem;
    if (zip_close(archive.get()) != 0) return zip_error_strerror(zip_get_error(archive.get()));
    archive.release();  // closed
    return {};
}

}  // namespace

Outcome<Arrays> read_npz(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return wrong_file(path, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return wrong_file(path, "not a regular file");
    int code = 0;
    const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!archive) return wrong_file(path, code == ZIP_ER_OPEN ? std::strerror(errno) : words_of(code));
    const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
    if (count <= 0) return wrong_file(path, "contains no arrays");
    Arrays arrays;
    for (zip_int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<zip_uint64_t>(i);
        const char* found = zip_get_name(archive.get(), index, ZIP_FL_ENC_RAW);
        if (!found) return wrong_file(path, "damaged");
        const std::string member = found;
        if (auto problem = check_name(path, member)) return *problem;
        if (member.find('/') != std::string::npos) continue;
        const std::string name = member.substr(0, member.size() - ending.size());
        if (find(arrays, name))
            return wrong_file(path, fmt::format("contains array {} twice", printable(name)));
        auto array = ArrayReader(archive.get(), index, path, name, status.st_size).read();
        if (!array) return array.error();
        arrays.push_back(std::move(*array));
    }
    return arrays;
}

std::optional<Error> write_npz(const std::string& path, const Arrays& arrays) {
    return write_file_with(path,
                           [&](const std::string& temporary) { return write_archive(temporary, arrays); });
}

}  // namespace sawtooth
