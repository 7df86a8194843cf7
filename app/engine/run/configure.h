#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/engine/files/npz.h"
#include "kernels/core/family.h"
#include "kernels/core/request.h"

namespace sawtooth {

// The families with kernels, in display order.
const std::vector<const Family*>& families();
std::vector<const Family*> offered_families();
// The error lists the offered families.
Outcome<const Family*> find_offered_family(std::string_view name);

// Reads the Request's file within its memory limit. Names, dimensions and sizes must fit the schema and are
// checked before any data is read. Errors: as in read_npz.
Outcome<InputFile> read_input(const Family& family, const Request& request, std::stop_token stop);
// The names alone: "in.npz: array z is not an input of scan. Inputs: x, a, initial, dy"
std::optional<Error> check_inputs_exist(const Family& family, const std::string& file, const Arrays& given);

// A Request with everything settled: all parameter values, the arrays of its file, the variants to run.
struct Configuration {
    const Family* family = nullptr;
    Backend backend = Backend::cpu;
    Parameters parameters;
    Arrays given;                          // from the file, converted to the dtype of the schema
    std::vector<const Variant*> variants;  // the requested ones, in the order of the family
    bool with_optional = false;            // optional inputs that are not given are generated
    std::vector<std::string> notes;
};

// Applies the defaults, then the preset, then sizes of the given arrays, then the settings; automatic values
// depend on the backend. Usage errors: a contradictory size, a setting that the arrays decide otherwise, a
// name or value that is not accepted, or parameters that no variant could run. Failure: a named variant that
// has no implementation for the backend. `given` comes from read_npz.
Outcome<Configuration> configure(const Request& request, const Arrays& given, Backend backend = Backend::cpu);
// The same from names and shapes alone: the arrays may have no data, and the result has none of them.
Outcome<Configuration> configure_shapes(const Request& request, const Arrays& given, Backend backend);

// Choices set in the Request that the given arrays decide otherwise, each with the value that they choose:
// connectivity of lut, by the form of its weights.
std::map<std::string, Value> overruled(const Family& family, const Request& request, const Arrays& given,
                                       Backend backend);

// Why a parameter has no effect in a run, in a few words; "" if it has one. For a theoretical chip the
// backend is CUDA.
std::string why_unused(const Parameter& row, const Parameters& parameters, Backend backend,
                       const std::string& arch);

// The parameters of such a Configuration. A value that its row refuses is ignored.
Parameters in_force(const Family& family, const Request& request, const Arrays& given, Backend backend);

// One parameter of the family, by its name or title, set from typed text: {name, value}.
Outcome<std::pair<std::string, Value>> parse_setting(const Family& family, std::string_view name,
                                                     std::string_view text);

// All used inputs: the given ones, and the others generated as the Request says (seed, values, optional
// ones); rounded to the parameter `dtype`. Cancelled when stopped.
Outcome<Arrays> make_inputs(const Configuration& configuration, const Request& request, std::stop_token stop);

// The CPU as a chip.
Chip cpu_chip();

}  // namespace sawtooth
