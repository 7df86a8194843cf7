#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/figure.h"
#include "kernels/core/parameter.h"
#include "kernels/core/plan.h"
#include "kernels/core/random.h"
#include "kernels/core/result.h"
#include "kernels/core/rounding.h"
#include "kernels/core/storage.h"
#include "kernels/core/story.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

namespace cuda {
class Device;
}

enum class Role {
    input,            // generated if not given
    optional,         // absent unless given
    output_gradient,  // requests the backward pass; generated if that is requested without it
    output,
};

struct ArraySpec {
    std::string name, meaning;
    Role role = Role::input;
    Dtype dtype = Dtype::f32;
    // One word per dimension. If it is the name of a parameter, a given array fixes that parameter. Any other
    // text ("2^C", "chunks + 1") is only a label, and `shape` gives the size.
    std::vector<std::string> dimensions = {};
    Shape (*shape)(const Parameters&,
                   const Arrays& inputs) = nullptr;   // null: every dimension names a parameter
    bool (*used)(const Parameters&) = nullptr;        // null: always
    Dtype (*dtype_for)(const Parameters&) = nullptr;  // null: `dtype`
    // Whether an input is rounded to the parameter `dtype`, and whether kernels store an output in it, or in
    // `out_dtype` if the family has that parameter and the output is no gradient.
    bool rounded = true;
    bool extra = false;  // an output stored only on request, never in timed runs

    bool is_used(const Parameters& parameters) const { return !used || used(parameters); }
    Dtype dtype_with(const Parameters& parameters) const { return dtype_for ? dtype_for(parameters) : dtype; }
    Shape shape_for(const Parameters& parameters, const Arrays& inputs) const;
};

struct Preset {
    std::string name;
    std::vector<std::pair<std::string, Value>> values;
};

struct Family;
struct Variant;

// What a variant's plan is built from. `inputs` has every used array, rounded to the parameter `dtype`. A dry
// plan only counts its memory: its generated inputs have shapes but no data.
struct PlanRequest {
    const Family& family;
    const Variant& variant;
    const Parameters& parameters;
    const Arrays& inputs;
    bool dry = false;
    cuda::Device* device = nullptr;  // compiles and allocates for CUDA; null: the CPU
    int multiprocessors = 0;         // for which launches are planned (planned_chip)
    int workers = 1;                 // threads of the pool, on the CPU
    bool stores_extras = false;      // whether outputs whose row is `extra` are stored
    std::stop_token stop = {};       // stops the building: a plan may have millions of launches
};

// How a dimension of an output is divided: "BLOCK_M", tiles of 64 rows of N.
struct Tiling {
    std::string dimension;  // as in ArraySpec
    std::string name;
    int64_t size = 1;
};

// A request for what a variant defines, computed in float64, exactly or with every operation rounded at
// random.
struct DefinitionRequest {
    const Variant& variant;
    const Parameters& parameters;
    const Arrays& inputs;
    bool stores_extras = false;  // as in PlanRequest
    bool noisy = false;          // computed with Noisy; the caller has a NoiseScope
    std::stop_token stop = {};
};

// One way to compute the outputs. Its functions receive the variant, so that several rows can share them.
struct Variant {
    std::string name = "";
    std::string idea = "";  // one sentence
    std::vector<std::string> outputs = {};
    size_t row = 0;              // index into the family's own table of variants, if it has one
    bool rounds_inside = false;  // on CUDA intermediate values are rounded to the parameter `dtype` too
    // Returns whether atomics add its floats in any order on CUDA, so that a run counts the output values
    // that changed from one repeat to another; null: they never do.
    bool (*unordered)(const Parameters&) = nullptr;
    // Returns why the variant cannot run these parameters on the chip; null: it always can.
    std::optional<std::string> (*check)(const Variant&, const Parameters&, const Chip&) = nullptr;
    // Returns whether the variant equals the reference up to rounding; null: it does.
    bool (*exact)(const Variant&, const Parameters&) = nullptr;
    // Variants with the same text here have the same definition, with the same order of operations.
    std::string definition = "";
    // Builds the plan for a backend; null: the variant cannot run there. Failure: not enough memory, or a
    // kernel that does not compile.
    Outcome<Plan> (*plan_cpu)(const PlanRequest&) = nullptr;
    Outcome<Plan> (*plan_cuda)(const PlanRequest&) = nullptr;
    // The most steps that a run takes beyond its work, such as probes of a crowded hash table; null: none.
    double (*extra_steps)(const Parameters&) = nullptr;
    // Settings under which CUDA runs kernels that random sizes hardly ever select; `check` draws around them.
    std::vector<Preset> rare_on_cuda = {};
    // The shape of an output if that of this variant differs from its row; null: it never does.
    Shape (*shape)(const Variant&, const ArraySpec&, const Parameters&, const Arrays& inputs) = nullptr;

    bool runs_on(Backend backend) const {
        return backend == Backend::cpu ? plan_cpu != nullptr : plan_cuda != nullptr;
    }
    std::optional<std::string> refusal(const Parameters& parameters, const Chip& chip) const {
        return check ? check(*this, parameters, chip) : std::nullopt;
    }
    bool is_unordered(const Parameters& parameters) const { return unordered && unordered(parameters); }
    bool is_exact(const Parameters& parameters) const { return !exact || exact(*this, parameters); }
    Shape shape_of(const ArraySpec& output, const Parameters& parameters, const Arrays& inputs) const {
        return shape ? shape(*this, output, parameters, inputs) : output.shape_for(parameters, inputs);
    }
};

// The inputs of a dry plan: all used inputs, without data.
Arrays input_shapes(const Family& family, const Parameters& parameters, bool with_optional = false);

// The plan of the request's variant, on its device or on the CPU. Error: cancelled, or a failure.
Outcome<Plan> make_plan(const PlanRequest& request);

// A sweep that figures of the family need; the engine runs it in the background.
struct FigureSweep {
    std::string id, title;
    std::vector<SweepAxis> axes;
    std::vector<std::pair<std::string, Value>> overrides;  // changes to the parameters of the base
    std::vector<std::string> variants;                     // empty: as in the base
    std::vector<Figure> (*figures)(const SweepResult&) = nullptr;
    std::optional<Backend> only_on = {};  // the only backend where it is useful; absent: all
};

// A fixed case of `bench` and its limit.
struct BenchCase {
    // A copy or triad of the same size, the same number of empty launches that follow one another in the same
    // way, or as many operations in matrix products: bf16 on the tensor cores of a GPU, f32 on the CPU.
    enum class Limit { copy, triad, launches, products };
    std::string name;
    std::vector<std::pair<std::string, Value>> values;
    Limit limit = Limit::copy;
    std::vector<std::string> variants = {};  // the measured ones; empty: all
    bool by_launch = false;                  // also lists times and bytes of every launch
};

struct Family {
    std::string name, title, summary, source;
    std::vector<Parameter> parameters;
    std::vector<std::string> main_parameters;  // names of the most important parameters, in order
    std::vector<Preset> presets;
    std::vector<ArraySpec> arrays;
    std::vector<Variant> variants;

    // Settles, before `check`, what depends on the given arrays: automatic values and the form of the input.
    void (*settle)(Parameters&, const Arrays& given, Backend) = nullptr;
    // Refuses parameters that no variant can run; null: only the ranges of parameters apply.
    std::optional<Refusal> (*check)(const Parameters&) = nullptr;
    // Refuses the content of arrays, such as invalid indices; null: everything is accepted. Receives all
    // given arrays, including unused ones, so that it can refuse two forms of one input.
    std::optional<Refusal> (*check_inputs)(const Parameters&, const Arrays& inputs) = nullptr;

    // The functions from here on are null in a family without kernels.
    // Generates one input array; its content is unspecified if stopped.
    Array (*generate)(const ArraySpec&, const Parameters&, const Arrays& so_far, Random,
                      std::stop_token) = nullptr;
    // Computes the outputs in f64 or complex128, sequentially; cancelled when stopped. If all rows would take
    // too long, outputs have chosen rows, which further int32 arrays list (see `listed`).
    Outcome<Arrays> (*reference)(const Parameters&, const Arrays& inputs, std::stop_token) = nullptr;
    // Computes the reference of outputs that also depend on parameters that renew only kernels, whenever
    // these change; null: there are no such outputs. An array "VARIANT/NAME" replaces NAME as the reference
    // of that variant and is not written to files. Includes extras if requested.
    Outcome<Arrays> (*kernel_reference)(const Parameters&, const Arrays& inputs, bool extras,
                                        std::stop_token) = nullptr;
    // Computes what a variant defines, in float64: the reference, or if the variant approximates, its own
    // rule. Returns only the outputs of that variant.
    Outcome<Arrays> (*definition)(const DefinitionRequest&) = nullptr;
    // The memory that one computation of a definition needs besides its outputs; null: little.
    int64_t (*definition_bytes)(const Parameters&) = nullptr;
    // The parameters that renew only kernels although definitions read them.
    std::vector<std::string> definition_reads;
    // How a variant rounds; null: as `rounding_of` says.
    Rounding (*rounding)(const Variant&, const Parameters&, Backend) = nullptr;
    std::string main_output;  // the one whose error stands for the variant
    // How the variant divides the dimensions of an output into tiles; null: not at all.
    std::vector<Tiling> (*tilings)(const Variant&, const std::string& output, const Parameters&,
                                   Backend) = nullptr;
    // The least work for all outputs: every array is read or written once. `inputs` may be empty; given
    // optional inputs, and sparse tables in their real size, count only if they are there.
    Work (*work)(const Parameters&, const Arrays& inputs) = nullptr;
    // The dimension along which errors are reported by position; "" if there is none.
    std::string sequence_axis;
    // Returns whether outputs do not depend on later positions along that axis; null: they always do.
    bool (*causal)(const Parameters&) = nullptr;
    // Returns whether the state passed along that axis follows a rule that is not linear, so that rounding
    // may make two runs diverge for good; null: it never does.
    bool (*diverges)(const Parameters&) = nullptr;
    std::vector<BenchCase> (*bench_cases)(Backend) = nullptr;
    std::vector<FigureSweep> (*sweeps)(const Parameters&) = nullptr;
    std::vector<Figure> (*figures)(const Result&, const View&) = nullptr;
    // The first screen: the most important figures. Empty: all figures have equal weight.
    std::vector<StoryRow> story;
    About about;

    bool has_kernels() const;
    const Parameter* parameter(std::string_view name) const;
    const ArraySpec* array(std::string_view name) const;
    const Variant* variant(std::string_view name) const;
    Parameters defaults() const;
    // The effective parameters: unused ones have their default, and those beyond their limit have the limit.
    // Equal effective parameters mean the same computation.
    Parameters acting(const Parameters& set, Backend backend) const;
};

// The rounding of a variant that keeps numbers inside in that storage.
Rounding rounding_to(Storage storage);
// The rounding of a variant that may round inside to the parameter `dtype` (Variant::rounds_inside).
Rounding rounding_to_dtype(const Variant& variant, const Parameters& parameters);
// How the variant rounds. Unless the family says otherwise, it rounds inside only on CUDA.
Rounding rounding_of(const Family& family, const Variant& variant, const Parameters& parameters,
                     Backend backend);
// How kernels store the output.
Storage storage_of(const ArraySpec& output, const Parameters& parameters);

}  // namespace sawtooth
