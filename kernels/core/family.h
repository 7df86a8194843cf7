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
    // One word per dimension. The name of a parameter: the array fixes that parameter. Any other text ("2^C",
    // "chunks + 1") is only a label, and `shape` gives the size.
    std::vector<std::string> dimensions = {};
    Shape (*shape)(const Parameters&,
                   const Arrays& inputs) = nullptr;   // null: every dimension names a parameter
    bool (*used)(const Parameters&) = nullptr;        // null: always
    Dtype (*dtype_for)(const Parameters&) = nullptr;  // null: `dtype`
    // Whether an input is rounded to the parameter `dtype`, and whether kernels store an output in it.
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

// The inputs of a variant's plan. They have every used array, rounded to the parameter `dtype`. A dry plan
// only counts its memory: its generated inputs have shapes but no data.
struct PlanRequest {
    const Family& family;
    const Variant& variant;
    const Parameters& parameters;
    const Arrays& inputs;
    bool dry = false;
    cuda::Device* device = nullptr;  // of the CUDA backend: compiles, allocates; null: the CPU
    int workers = 1;                 // of the pool, on the CPU
    bool stores_extras = false;      // outputs whose row is `extra`
    std::stop_token stop = {};       // ends the building: a plan may have millions of launches
};

// Tiles of a dimension of an output: "BLOCK_M", 64 rows of N each.
struct Tiling {
    std::string dimension;  // as in ArraySpec
    std::string name;
    int64_t size = 1;
};

// What a variant computes, in float64: exactly, or with every operation rounded at random.
struct DefinitionRequest {
    const Variant& variant;
    const Parameters& parameters;
    const Arrays& inputs;
    bool stores_extras = false;  // as in PlanRequest
    bool noisy = false;          // computed with Noisy; its NoiseScope is the caller's
    std::stop_token stop = {};
};

// One way to compute the outputs. Its functions receive the variant, so that several rows can share them.
struct Variant {
    std::string name = "";
    std::string idea = "";  // one sentence
    std::vector<Backend> backends = {};
    std::vector<std::string> outputs = {};
    size_t row = 0;              // index into the family's own table of variants, if it has one
    bool rounds_inside = false;  // on CUDA intermediate values are rounded to the parameter `dtype` too
    // On CUDA atomics may add its floats in any order: a run counts the output values that changed from one
    // repeat to another.
    bool unordered = false;
    // Why it cannot run these parameters on the chip; null: it always can.
    std::optional<std::string> (*check)(const Variant&, const Parameters&, const Chip&) = nullptr;
    // Whether it equals the reference up to rounding; null: it does.
    bool (*exact)(const Variant&, const Parameters&) = nullptr;
    // Variants with the same word here have the same definition, in the same words of arithmetic.
    std::string definition = "";
    // Builds the plan for a backend; null: it cannot run there. Failure: memory, a kernel.
    Outcome<Plan> (*plan_cpu)(const PlanRequest&) = nullptr;
    Outcome<Plan> (*plan_cuda)(const PlanRequest&) = nullptr;
    // The shape of an output if this variant deviates from its row; null: it never does.
    Shape (*shape)(const Variant&, const ArraySpec&, const Parameters&, const Arrays& inputs) = nullptr;

    bool runs_on(Backend backend) const {
        return backend == Backend::cpu ? plan_cpu != nullptr : plan_cuda != nullptr;
    }
    std::optional<std::string> refusal(const Parameters& parameters, const Chip& chip) const {
        return check ? check(*this, parameters, chip) : std::nullopt;
    }
    bool is_exact(const Parameters& parameters) const { return !exact || exact(*this, parameters); }
    Shape shape_of(const ArraySpec& output, const Parameters& parameters, const Arrays& inputs) const {
        return shape ? shape(*this, output, parameters, inputs) : output.shape_for(parameters, inputs);
    }
};

// The inputs of a dry plan: used ones, without data.
Arrays input_shapes(const Family& family, const Parameters& parameters, bool with_optional = false);

// The plan of the request's variant, on its device or on the CPU. Error: cancelled, or a failure.
Outcome<Plan> make_plan(const PlanRequest& request);

// A sweep that figures of the family need; the engine runs it in the background.
struct FigureSweep {
    std::string id, title;
    std::vector<SweepAxis> axes;
    std::vector<std::pair<std::string, Value>> overrides;  // parameters of the base that differ
    std::vector<std::string> variants;                     // empty: those of the base
    std::vector<Figure> (*figures)(const SweepResult&) = nullptr;
    std::optional<Backend> only_on = {};  // the only place where it is useful; absent: everywhere
};

// A fixed case of `bench` and its limit.
struct BenchCase {
    // A copy of the same size, the same number of empty launches with the same way to launch, or as many
    // operations in matrix products: bf16 on the tensor cores of a GPU, f32 on the CPU.
    enum class Limit { copy, triad, launches, products };
    std::string name;
    std::vector<std::pair<std::string, Value>> values;
    Limit limit = Limit::copy;
    std::vector<std::string> variants = {};  // the measured ones; empty: all
    bool by_launch = false;                  // times and bytes of every launch too
};

struct Family {
    std::string name, title, summary, source;
    std::vector<Parameter> parameters;
    std::vector<std::string> main_parameters;  // names of the most important parameters, in order
    std::vector<Preset> presets;
    std::vector<ArraySpec> arrays;
    std::vector<Variant> variants;

    // Settles what depends on the given arrays (automatic values, the form of the input), before `check`.
    void (*settle)(Parameters&, const Arrays& given, Backend) = nullptr;
    // Refuses parameters that no variant can run; null: only the ranges of parameters apply.
    std::optional<Refusal> (*check)(const Parameters&) = nullptr;
    // The same for the content of arrays (invalid indices); null: everything is accepted. Receives all given
    // arrays, also unused ones, so that it can refuse two forms of one input.
    std::optional<Refusal> (*check_inputs)(const Parameters&, const Arrays& inputs) = nullptr;

    // Null from here on in a family without kernels.
    // Generates one input array; its content is unspecified if stopped.
    Array (*generate)(const ArraySpec&, const Parameters&, const Arrays& so_far, Random,
                      std::stop_token) = nullptr;
    // Outputs in f64 or complex128, sequential; cancelled when stopped. Where all rows would take too long,
    // outputs have chosen rows, and further int32 arrays list these (see `listed`).
    Outcome<Arrays> (*reference)(const Parameters&, const Arrays& inputs, std::stop_token) = nullptr;
    // The reference of outputs that also depend on parameters that renew only kernels, recomputed with them;
    // null: there are none. An array "VARIANT/NAME" replaces NAME as the reference of that variant and is not
    // written to files. Includes extras if requested.
    Outcome<Arrays> (*kernel_reference)(const Parameters&, const Arrays& inputs, bool extras,
                                        std::stop_token) = nullptr;
    // What a variant computes, in float64: the reference, or where the variant approximates, its own rule.
    // Only the outputs of that variant.
    Outcome<Arrays> (*definition)(const DefinitionRequest&) = nullptr;
    // The memory of one computation of a definition beside its outputs; null: little.
    int64_t (*definition_bytes)(const Parameters&) = nullptr;
    // The parameters that renew only kernels and that definitions read all the same.
    std::vector<std::string> definition_reads;
    // How a variant rounds; null: as `rounding_of` says.
    Rounding (*rounding)(const Variant&, const Parameters&, Backend) = nullptr;
    std::string main_output;  // the one whose error stands for the variant
    // How the variant divides dimensions of an output; null: not at all.
    std::vector<Tiling> (*tilings)(const Variant&, const std::string& output, const Parameters&,
                                   Backend) = nullptr;
    Work (*work)(const Parameters&) = nullptr;
    // The dimension along which errors are reported by position; "" if there is none.
    std::string sequence_axis;
    // Whether no output depends on later positions along that axis; null: never.
    bool (*causal)(const Parameters&) = nullptr;
    // Whether the state passed along that axis follows a rule that is not linear: rounding may send two
    // sequences apart for good.
    bool diverges = false;
    std::vector<BenchCase> (*bench_cases)(Backend) = nullptr;
    std::vector<FigureSweep> (*sweeps)(const Parameters&) = nullptr;
    std::vector<Figure> (*figures)(const Result&, const View&) = nullptr;
    // The first screen: the most important figures. Empty: all figures have equal weight.
    std::vector<StoryRow> story;
    About about;

    bool has_kernels() const;
    const Parameter* parameter(std::string_view name) const;
    const ArraySpec* array(std::string_view name) const;
    int sequence_axis_of(std::string_view output) const;  // -1 if there is none
    const Variant* variant(std::string_view name) const;
    Parameters defaults() const;
    // Effective parameters: the default of unused ones, the limit of those beyond it. Equal effective
    // parameters mean the same computation.
    Parameters acting(const Parameters& set, Backend backend) const;
};

// Numbers kept in that storage inside.
Rounding rounding_to(Storage storage);
// Rounding inside to `dtype`, if the variant does.
Rounding rounding_to_dtype(const Variant& variant, const Parameters& parameters);
// How the variant rounds; unless the family says otherwise, inside only on CUDA.
Rounding rounding_of(const Family& family, const Variant& variant, const Parameters& parameters,
                     Backend backend);
// How kernels store the output.
Storage storage_of(const ArraySpec& output, const Parameters& parameters);

}  // namespace sawtooth
