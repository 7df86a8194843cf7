#pragma once

#include <string>
#include <string_view>

#include "app/engine/wire/descriptor.h"
#include "app/engine/wire/wire.h"

namespace sawtooth {

// The mapping between the program's structs and MessagePack, in both directions, for messages and files. A
// struct is a map from the names of its fields to their values, without those that are zero, false or empty,
// also by default. An enumerator is its name, an alternative of a variant {name: value}, an absent value nil,
// and a list of numbers that are no integers is bytes: little endian, the byte order of all supported
// machines.

// Writes values of the program.
class NamedWriter {
  public:
    template <class T>
    void put(const T& value) {
        put(descriptor_of<T>(), &value);
    }
    std::string take() && { return std::move(out_).take(); }

  private:
    void put(const TypeDescriptor& type, const void* value);
    // `fallback` is what a reader has before it reads.
    void put_struct(const TypeDescriptor& type, const void* value, const void* fallback);

    MessageWriter out_;
};

// Texts from outside are shorter: names, notes and errors. Laying out more takes seconds.
constexpr size_t longest_text = 4096;

// Reads values straight into the structs, whose memory is counted before it is allocated. `clean`: texts are
// made printable and cut, because this process shows them.
class NamedReader {
  public:
    explicit NamedReader(std::string_view bytes, bool clean = true);

    // Whether the value had the expected type and fitted.
    template <class T>
    bool take(T& to) {
        return take(descriptor_of<T>(), &to);
    }
    bool at_end() const { return cursor_.at_end(); }
    bool is_out_of_memory() const { return memory_ < 0; }
    // What could not be read, for an error message.
    std::string fault() const { return where_.empty() ? why_ : where_ + ": " + why_; }

  private:
    bool take(const TypeDescriptor& type, void* to);
    bool take_integer(const TypeDescriptor& type, void* to);
    bool take_text(std::string& to);
    bool take_enumerator(const TypeDescriptor& type, void* to);
    bool take_numbers(const TypeDescriptor& type, void* to);
    bool take_list(const TypeDescriptor& type, void* to);
    bool take_launches(std::vector<LaunchRecord>& to);
    bool take_map(const TypeDescriptor& type, void* to);
    bool take_optional(const TypeDescriptor& type, void* to);
    bool take_variant(const TypeDescriptor& type, void* to);
    bool take_struct(const TypeDescriptor& type, void* to);
    bool refuse(std::string why);
    // False if it takes too much memory.
    bool spend(size_t bytes);

    MessageCursor cursor_;
    bool clean_;
    int64_t memory_;
    std::string where_, why_;  // of the first value that could not be read
};

}  // namespace sawtooth
