#include "app/engine/files/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "app/engine/files/archive.h"
#include "app/engine/files/files.h"
#include "app/engine/files/npy.h"
#include "app/engine/machine/memory.h"
#include "kernels/core/integers.h"
#include "kernels/core/table.h"
#include "kernels/cpu/half.h"

namespace sawtooth {
namespace {

constexpr std::string_view accepted_dtypes = "accepted: <f2 <f4 <f8 <c8 <c16 <i4 <i8 |b1";

// How items of a NumPy dtype are converted; `native` ones are copied unchanged.
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

// Gives the places in C order (last index fastest) of items that arrive in Fortran order (first index
// fastest).
class FortranOrder {
  public:
    explicit FortranOrder(const Shape& shape)
        : shape_(shape), strides_(shape.size(), 1), index_(shape.size(), 0) {
        for (size_t axis = shape.size(); axis-- > 1;) strides_[axis - 1] = strides_[axis] * shape[axis];
    }
    int64_t next() {
        const int64_t place = place_;
        for (size_t axis = 0; axis < shape_.size(); ++axis) {
            place_ += strides_[axis];
            if (++index_[axis] < shape_[axis]) break;
            place_ -= strides_[axis] * shape_[axis];
            index_[axis] = 0;
        }
        return place;
    }

  private:
    Shape shape_, strides_, index_;
    int64_t place_ = 0;
};

template <class From, class To>
void convert(const std::byte* from, int64_t count, std::byte* to) {
    for (int64_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
        const auto converted = static_cast<To>(value);
        std::memcpy(to + i * static_cast<int64_t>(sizeof converted), &converted, sizeof converted);
    }
}

// Index and value of the first integer that does not fit in int32.
std::optional<std::pair<int64_t, int64_t>> too_wide(const std::byte* from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        int64_t value;
        std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
        if (!std::in_range<int32_t>(value)) return std::pair{i, value};
    }
    return {};
}

// How many finite numbers become infinite in float32.
int64_t count_too_large(const std::byte* from, int64_t count) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
        double value;
        std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
        found += std::isfinite(value) && std::isinf(static_cast<float>(value));
    }
    return found;
}

// Converts `count` items of the format to items of its dtype.
void convert(const Format& format, const std::byte* from, int64_t count, std::byte* to) {
    if (format.native)
        std::memcpy(to, from, static_cast<size_t>(count * format.bytes));
    else if (format.name == "<f2")
        cpu::widen(Storage::f16, reinterpret_cast<const uint16_t*>(from), reinterpret_cast<float*>(to),
                   count);
    else if (format.name == "<f8")
        convert<double, float>(from, count, to);
    else if (format.name == "<c16")
        convert<std::complex<double>, std::complex<float>>(from, count, to);
    else if (format.name == "<i8")
        convert<int64_t, int32_t>(from, count, to);
    else
        for (int64_t i = 0; i < count; ++i) {
            const int32_t value = from[i] != std::byte{0};
            std::memcpy(to + i * 4, &value, sizeof value);
        }
}

// One array of an open archive. Errors start with "FILE: array NAME: ".
class ArrayReader {
  public:
    ArrayReader(const Archive& archive, zip_uint64_t index, const std::string& file, const std::string& name)
        : archive_(&archive),
          index_(index),
          place_(fmt::format("{}: array {}: ", file, short_printable(name))) {
        array_.name = name;
    }

    // Reads the header: name, dtype and shape of `array`, which has no data yet. Checks that the declared
    // sizes are possible.
    std::optional<Error> read_shape() {
        if (auto problem = open()) return problem;
        auto header = read_header();
        if (!header) return header.error();
        format_ = format_of(header->dtype);
        if (!format_)
            return wrong(fmt::format("dtype {} is not supported; {}", short_printable(header->dtype),
                                     accepted_dtypes));
        array_.dtype = format_->dtype;
        array_.shape = std::move(header->shape);
        fortran_order_ = header->fortran_order;
        const int64_t held = bytes_ - header_bytes_;
        if (held < 0 || held % format_->bytes != 0 || held / format_->bytes != array_.count())
            return wrong(fmt::format("shape {} of {} does not match the {} bytes in the file",
                                     to_text(array_.shape), format_->name, held));
        return {};
    }
    const Array& array() const { return array_; }
    // What reading the data changed in it; "" if nothing.
    std::string note() const {
        if (too_large_ == 0) return "";
        return fmt::format("{}{} beyond the range of float32 and became infinite", place_,
                           too_large_ == 1 ? "1 number is" : fmt::format("{} numbers are", too_large_));
    }

    // Call after `read_shape`. The error is `cancelled` if stopped.
    Outcome<Array> read_data(const std::stop_token& stop) {
        array_.data = allocate(array_.bytes());
        if (auto problem = fill(stop)) return *problem;
        // The checksum is only verified when reading goes past the end.
        char more;
        if (zip_fread(member_.get(), &more, 1) != 0) return wrong("damaged: checksum or size does not match");
        member_.reset();
        return std::move(array_);
    }

  private:
    Error wrong(const std::string& words) const { return Error::usage(place_ + words); }

    static const Format* format_of(std::string_view name) {
        for (const Format& format : formats)
            if (format.name == name) return &format;
        return nullptr;
    }

    // Checks that the declared size is possible before it is used.
    std::optional<Error> open() {
        const auto facts = facts_of(*archive_, index_);
        if (!facts) return wrong(facts.error().text + "; write it with numpy.savez");
        member_.reset(zip_fopen_index(archive_->zip.get(), index_, 0));
        if (!member_) return wrong(zip_error_strerror(zip_get_error(archive_->zip.get())));
        bytes_ = static_cast<int64_t>(facts->bytes);
        return {};
    }

    Outcome<NpyHeader> read_header() {
        const Error damaged = wrong("truncated or not an .npy array; write it with numpy.save");
        unsigned char start[12];
        if (!read_exactly(member_.get(), start, 10, {})) return damaged;
        if (std::memcmp(start, npy_magic.data(), npy_magic.size()) != 0) return damaged;
        const int version = start[6];
        if (version < 1 || version > 3)
            return wrong(
                fmt::format(".npy version {}.{} is not supported; accepted: 1.0 to 3.0", version, start[7]));
        if (version > 1 && !read_exactly(member_.get(), start + 10, 2, {})) return damaged;
        int64_t length = start[8] | start[9] << 8;
        if (version > 1)
            length |= static_cast<int64_t>(start[10]) << 16 | static_cast<int64_t>(start[11]) << 24;
        constexpr int64_t longest = 1 << 16;
        if (length > longest)
            return wrong(
                fmt::format(".npy header of {} bytes is too long; the limit is {}", length, longest));
        std::string text(static_cast<size_t>(length), '\0');
        if (!read_exactly(member_.get(), text.data(), length, {})) return damaged;
        header_bytes_ = (version > 1 ? 12 : 10) + length;
        auto header = parse_npy_header(text);
        if (!header) return wrong(header.error().text);
        if (header->dtype.find('O') != std::string::npos)
            return wrong(fmt::format("object arrays are not supported; {}", accepted_dtypes));
        return header;
    }

    std::optional<Error> fill(const std::stop_token& stop) {
        const auto problem = [&] {
            return stop.stop_requested() ? Error::cancelled() : wrong("truncated or damaged");
        };
        if (format_->native && !fortran_order_) {
            if (!read_exactly(member_.get(), array_.data.get(), array_.bytes(), stop)) return problem();
            return {};
        }
        // Converting in pieces keeps the memory close to that of the array itself.
        constexpr int64_t piece = 1 << 16;
        const int64_t item = bytes_of(array_.dtype);
        std::vector<std::byte> raw(static_cast<size_t>(piece * format_->bytes)),
            converted(static_cast<size_t>(piece * item));
        FortranOrder order(array_.shape);
        for (int64_t first = 0; first < array_.count(); first += piece) {
            const int64_t count = std::min(piece, array_.count() - first);
            if (!read_exactly(member_.get(), raw.data(), count * format_->bytes, stop)) return problem();
            if (format_->name == "<i8")
                if (const auto wide = too_wide(raw.data(), count))
                    return wrong(
                        fmt::format("element {} = {} does not fit int32", first + wide->first, wide->second));
            if (format_->name == "<f8" || format_->name == "<c16")
                too_large_ += count_too_large(raw.data(), count * format_->bytes / 8);
            convert(*format_, raw.data(), count, fortran_order_ ? converted.data() : at(first));
            for (int64_t i = 0; fortran_order_ && i < count; ++i)
                std::memcpy(at(order.next()), converted.data() + i * item, static_cast<size_t>(item));
        }
        return {};
    }
    std::byte* at(int64_t index) { return array_.data.get() + index * bytes_of(array_.dtype); }

    const Archive* archive_;
    zip_uint64_t index_;
    Array array_;
    std::string place_;
    MemberHandle member_;
    const Format* format_ = nullptr;
    bool fortran_order_ = false;
    int64_t too_large_ = 0;  // count_too_large of all data
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
                                        path, short_printable(member)));
    if (member.find('/') == std::string_view::npos && !member.ends_with(ending))
        return Error::usage(fmt::format("{}: array {}: not an .npy array", path, short_printable(member)));
    return {};
}

// The arrays of the archive, without data; `skipped` gets the names that contain '/'.
Outcome<std::vector<ArrayReader>> read_shapes(const Archive& archive, const std::string& path,
                                              std::vector<std::string>& skipped) {
    constexpr size_t most_arrays = 1000;
    const zip_int64_t count = zip_get_num_entries(archive.zip.get(), 0);
    if (count <= 0) return wrong_file(path, "contains no arrays");
    std::vector<ArrayReader> readers;
    std::set<std::string> names;
    for (zip_int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<zip_uint64_t>(i);
        const char* found = zip_get_name(archive.zip.get(), index, ZIP_FL_ENC_RAW);
        if (!found) return wrong_file(path, "damaged");
        const std::string member = found;
        if (auto problem = check_name(path, member)) return *problem;
        if (member.find('/') != std::string::npos) {
            skipped.push_back(short_printable(member));
            continue;
        }
        const std::string name = member.substr(0, member.size() - ending.size());
        if (!names.insert(name).second)
            return wrong_file(path, fmt::format("contains array {} twice", short_printable(name)));
        if (names.size() > most_arrays)
            return wrong_file(path, fmt::format("contains more than {} arrays", most_arrays));
        ArrayReader reader(archive, index, path, name);
        if (auto problem = reader.read_shape()) return *problem;
        readers.push_back(std::move(reader));
    }
    return readers;
}

std::optional<Error> check_memory(const std::string& path, const Arrays& arrays,
                                  std::optional<int64_t> limit) {
    int64_t needed = 0;
    for (const Array& array : arrays) needed = saturating_add(needed, array.bytes());
    const int64_t allowed = limit ? *limit : free_memory_bytes();
    if (needed <= allowed) return {};
    return Error::failure(fmt::format("{}: out of memory: its arrays need {}; {} is {}", path,
                                      short_bytes(static_cast<double>(needed)),
                                      short_bytes(static_cast<double>(allowed)), limit ? "allowed" : "free"));
}

std::optional<std::string> write_arrays(const std::string& path, const Arrays& arrays) {
    std::vector<std::string> headers;
    for (const Array& array : arrays) headers.push_back(npy_header(array));
    std::vector<NewMember> members;
    for (size_t i = 0; i < arrays.size(); ++i) {
        const std::string_view data(reinterpret_cast<const char*>(arrays[i].data.get()),
                                    static_cast<size_t>(arrays[i].bytes()));
        members.push_back({arrays[i].name + std::string(ending), {headers[i], data}});
    }
    return write_archive(path, members);
}

}  // namespace

Outcome<InputFile> read_npz(const std::string& path, const ReadLimits& limits) {
    const auto archive = open_archive(path);
    if (!archive) return wrong_file(path, archive.error().text);
    InputFile file;
    auto readers = read_shapes(*archive, path, file.skipped);
    if (!readers) return readers.error();
    for (const ArrayReader& reader : *readers) file.arrays.push_back(reader.array());
    if (limits.check)
        if (auto problem = limits.check(file.arrays)) return *problem;
    if (auto problem = check_memory(path, file.arrays, limits.memory_bytes)) return *problem;
    if (limits.only_shapes) return file;
    for (size_t i = 0; i < readers->size(); ++i) {
        auto array = (*readers)[i].read_data(limits.stop);
        if (!array) return array.error();
        file.arrays[i] = std::move(*array);
        if (std::string words = (*readers)[i].note(); !words.empty()) file.notes.push_back(std::move(words));
    }
    return file;
}

std::optional<Error> write_npz(const std::string& path, const Arrays& arrays) {
    for (const Array& array : arrays)
        if (!array.data && array.bytes() > 0)
            return Error::failure(
                fmt::format("{}: not written: there are no values of {} here", path, array.name));
    return write_file_with(path,
                           [&](const std::string& temporary) { return write_arrays(temporary, arrays); });
}

}  // namespace sawtooth
