#include "app/engine/wire/descriptor.h"

namespace sawtooth {

void name_fields(TypeDescriptor& type, std::string_view listed) {
    for (TypeDescriptor::Field& field : type.fields) {
        listed.remove_prefix(listed.find_first_not_of("(, "));
        field.name = listed.substr(0, listed.find_first_of("), "));
        listed.remove_prefix(field.name.size());
    }
}

template const TypeDescriptor& descriptor_of<Result>();
template const TypeDescriptor& descriptor_of<Figure>();
template const TypeDescriptor& descriptor_of<Sweep>();
template const TypeDescriptor& descriptor_of<BenchReport>();

}  // namespace sawtooth
