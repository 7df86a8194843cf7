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
// Finds a family by name; the error lists the offered families.
Outcome<const Family*> find_offered_family(std::string_view name);

// Reads the file of the Request within its memory limit. Names, dimensions and sizes must fit the schema and
// are checked before any data is read. Errors: those of read_npz.
Outcome<InputFile> read_input(const Family& family, const Request& request, std::stop_token stop);
// Checks only the names: "in.npz: array z is not an input of scan. Inputs: x, a, initial, dy".
std::optional<Error> check_inputs_exist(const Family& family, const std::string& file, const Arrays& given);

// A Request with everything settled: all parameter values, the arrays of its file, the variants to run.
struct Configuration {
    const Family* family = nullptr;
    Backend backend = Backend::cpu;
    Parameters parameters;
    Arrays given;                          // from the file, converted to the dtype of the schema
    std::vector<const Variant*> variants;  // the requested variants, in the order of the family
    int multiprocessors = 0;               // as in Request
    bool with_optional = false;            // optional inputs that are not given are generated
    std::vector<std::string> notes;
};

// Applies the defaults, the preset, the sizes of the given arrays and the settings, in this order; automatic
// values depend on the backend. Usage errors: a contradictory size, a setting that the arrays contradict, a
// name or value that is not accepted, or parameters that no variant can run. Failure: a named variant has no
// implementation for the backend. `given` comes from read_npz.
Outcome<Configuration> configure(const Request& request, const Arrays& given, Backend backend = Backend::cpu);
// The same from names and shapes alone: the arrays need no data, and the result has none of them.
Outcome<Configuration> configure_shapes(const Request& request, const Arrays& given, Backend backend);

// The choices of the Request that the given arrays overrule, each with the value from the arrays. An example
// is connectivity of lut, which follows from the form of its weights.
std::map<std::string, Value> overruled(const Family& family, const Request& request, const Arrays& given,
                                       Backend backend);

// Why a parameter has no effect in a run, in a few words; "" if it has one. A theoretical chip means the CUDA
// backend.
std::string why_unused(const Parameter& row, const Parameters& parameters, Backend backend,
                       const std::string& arch);

// "acts like 512 (length)" if the value is larger than the largest that has an effect; "" otherwise.
std::string words_of_end(const Parameter& row, const Parameters& parameters);

// The parameters that `configure_shapes` would give. A value that its row refuses is ignored.
Parameters in_force(const Family& family, const Request& request, const Arrays& given, Backend backend);

// Parses a typed value for a parameter of the family, given by its name or title: {name, value}.
Outcome<std::pair<std::string, Value>> parse_setting(const Family& family, std::string_view name,
                                                     std::string_view text);

// The generated float input that gets the single infinity or NaN of a Request with such numbers; "" if there
// is none.
std::string input_with_strange_number(const Configuration& configuration, const Request& request);

// All inputs in use: the given ones, and the others generated as the Request says (seed, values, optional
// inputs), rounded to the parameter `dtype`. The error is `cancelled` if stopped.
Outcome<Arrays> make_inputs(const Configuration& configuration, const Request& request, std::stop_token stop);

// The CPU, described as a chip.
Chip cpu_chip();

}  // namespace sawtooth
