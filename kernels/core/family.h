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
#include "kernels/core/story.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

namespace cuda {
class Device;
}

enum class Role {
    input,            // generated where it is not given
    optional,         // absent unless given
    output_gradient,  // asks for the backward pass; generated where that is asked for without it
    output,
};

struct ArraySpec {
    std::string name, meaning;
    Role role = Role::input;
    Dtype dtype = Dtype::f32;
    // One word a dimension. A parameter's name: the array fixes that parameter. Anything else ("2^C", "chunks
    // + 1") is for people, and `shape` says its size.
    std::vector<std::string> dimensions = {};
    Shape (*shape)(const Parameters&,
                   const Arrays& inputs) = nullptr;   // null: every dimension names a parameter
    bool (*used)(const Parameters&) = nullptr;        // null: always
    Dtype (*dtype_for)(const Parameters&) = nullptr;  // null: `dtype`
    bool rounded = true;                              // an input that is rounded to the parameter `dtype`
    bool extra = false;  // an output that is stored only where it is asked for, never in timed runs

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

// What a variant's plan is made of. Inputs hold every used array, rounded to the parameter `dtype`. A dry
// plan is made to know its memory before any is taken: its inputs have shapes and no data.
struct PlanRequest {
    const Family& family;
    const Variant& variant;
    const Parameters& parameters;
    const Arrays& inputs;
    bool dry = false;
    cuda::Device* device = nullptr;  // of the CUDA backend: compiles, takes memory; null: the CPU
    bool stores_extras = false;      // outputs whose row is `extra`
};

// One way to compute it. Its functions are given the variant itself, so that several rows can share them.
struct Variant {
    std::string name = "";
    std::string idea = "";  // one sentence
    std::vector<Backend> backends = {};
    std::vector<std::string> outputs = {};
    size_t row = 0;  // of the family's own table of facts about its variants, where it has one
    // Why it cannot do this on that chip; null: it always can.
    std::optional<std::string> (*check)(const Variant&, const Parameters&, const Chip&) = nullptr;
    // Does it give what the reference gives, but for rounding? Null: it does.
    bool (*exact)(const Variant&, const Parameters&) = nullptr;
    // How it is done there; null: not built. Fails where memory or a kernel cannot be had.
    Outcome<Plan> (*plan_cpu)(const PlanRequest&) = nullptr;
    Outcome<Plan> (*plan_cuda)(const PlanRequest&) = nullptr;
    // An output's shape where this variant gives it another than its row says; null: it never does.
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

// The plan of the request's variant, on its device or on the CPU.
Outcome<Plan> make_plan(const PlanRequest& request);

// A sweep that figures of the family need; the engine runs it in the background.
struct FigureSweep {
    std::string id, title;
    std::vector<SweepAxis> axes;
    std::vector<std::pair<std::string, Value>> overrides;  // parameters of the base that differ
    std::vector<std::string> variants;                     // empty: those of the base
    std::vector<Figure> (*figures)(const SweepResult&) = nullptr;
    std::optional<Backend> only_on = {};  // where alone it shows anything; absent: everywhere
};

// A fixed case of `bench`, and the limit that it is held against.
struct BenchCase {
    // Moving as many bytes; or as many empty launches, which follow one another in the same way.
    enum class Limit { copy, triad, launches };
    std::string name;
    std::vector<std::pair<std::string, Value>> values;
    Limit limit = Limit::copy;
    double tolerance = 1e-3;  // relative L2 error of any output above which the case has failed
    std::vector<std::string> variants = {};  // those that alone are measured; empty: all
};

struct Family {
    std::string name, title, summary, source;
    std::vector<Parameter> parameters;
    std::vector<std::string> main_parameters;  // the names of those that matter most, in order
    std::vector<Preset> presets;
    std::vector<ArraySpec> arrays;
    std::vector<Variant> variants;

    // Settles what depends on the arrays given (automatic values, which form of input), before `check`.
    void (*settle)(Parameters&, const Arrays& given, Backend) = nullptr;
    // What no variant could ever do; null: nothing beyond the parameters' ranges.
    std::optional<Refusal> (*check)(const Parameters&) = nullptr;
    // The same for what arrays hold (hostile indices); null: anything goes. Wants all that were given, also
    // those that are not used, so that it can refuse two forms of one input.
    std::optional<Refusal> (*check_inputs)(const Parameters&, const Arrays& inputs) = nullptr;

    // The rest is null in a family that has no kernels yet.
    // One input array; what it holds when stopped is of no account.
    Array (*generate)(const ArraySpec&, const Parameters&, const Arrays& so_far, Random,
                      std::stop_token) = nullptr;
    // f64 or complex128 outputs, sequential; cancelled when stopped.
    Outcome<Arrays> (*reference)(const Parameters&, const Arrays& inputs, std::stop_token) = nullptr;
    // The reference of outputs that also depend on parameters which renew kernels alone, made anew with them;
    // null: there are none. An array "VARIANT/NAME" is what that variant's output is compared with, in place
    // of NAME, and is not written to files. Extras as far as they are wanted.
    Outcome<Arrays> (*kernel_reference)(const Parameters&, const Arrays& inputs, bool extras,
                                        std::stop_token) = nullptr;
    Work (*work)(const Parameters&) = nullptr;
    // The dimension along which errors are reported by position, "" where there is none.
    std::string sequence_axis;
    // Does no output depend on what comes later along that axis? Null: never.
    bool (*causal)(const Parameters&) = nullptr;
    std::vector<BenchCase> (*bench_cases)(Backend) = nullptr;
    std::vector<FigureSweep> (*sweeps)(const Parameters&) = nullptr;
    std::vector<Figure> (*figures)(const Result&, const View&) = nullptr;
    // The first screen: the figures that matter most. Empty: all of its figures are of equal weight.
    std::vector<StoryRow> story;
    About about;

    bool has_kernels() const;
    const Parameter* parameter(std::string_view name) const;
    const ArraySpec* array(std::string_view name) const;
    const Variant* variant(std::string_view name) const;
    Parameters defaults() const;
    // All parameters as they act: the default of those that do not matter, the end of those beyond it. What
    // acts alike is the same computation.
    Parameters acting(const Parameters& set, Backend backend) const;
};

}  // namespace sawtooth
