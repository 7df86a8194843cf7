#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/request.h"

namespace sawtooth {

// The families in the order of the list; those without kernels are not offered.
const std::vector<const Family*>& families();
std::vector<const Family*> offered_families();
// An error names those that are offered.
Outcome<const Family*> find_offered_family(std::string_view name);

// "in.npz: array z is not an input of scan. Inputs: x, a, initial, dy"
std::string unknown_input(const std::string& file, const std::string& name, const Family& family);

// A Request with everything settled: all parameters in force, the arrays of its file, the variants to run.
struct Configuration {
    const Family* family = nullptr;
    Backend backend = Backend::cpu;
    Parameters parameters;
    Arrays given;                          // from the file, converted to the dtype of the schema
    std::vector<const Variant*> variants;  // those asked for, in the family's order
    std::vector<std::string> notes;
};

// Defaults, then the preset, then sizes of the given arrays, then what was set; automatic values are those of
// the backend. A size that disagrees, a name or a value that is not accepted, or what no variant could ever
// do is an error of usage; a variant that was named and has no form for the backend a failure. `given` comes
// from read_npz.
Outcome<Configuration> configure(const Request& request, const Arrays& given, Backend backend = Backend::cpu);

// Why a parameter does nothing in a run, in a few words; "" where it matters. Theory for a chip is that of
// CUDA.
std::string why_unused(const Parameter& row, const Parameters& parameters, Backend backend,
                       const std::string& arch);

// The parameters of such a Configuration. A value that its row refuses counts as not set.
Parameters in_force(const Family& family, const Request& request, const Arrays& given, Backend backend);

// One parameter of the family, set from text as on the command line: {name, value}.
Outcome<std::pair<std::string, Value>> parse_setting(const Family& family, std::string_view name,
                                                     std::string_view text);

// All used inputs: the given ones and, drawn from the seed, the others; rounded to the parameter `dtype`.
// Cancelled when stopped.
Outcome<Arrays> make_inputs(const Configuration& configuration, uint64_t seed, std::stop_token stop);

// The CPU as a chip.
Chip cpu_chip();

}  // namespace sawtooth
