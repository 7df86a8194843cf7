// One infinity in an input of Block Two-Pass: every output is infinite, NaN or finite where its definition
// is.

#include <cmath>

#include "tests/kernels/btp/run_btp.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace btp_facts;

std::string kind_of(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return "finite";
}

// The place and value of the infinity, among two heads of three channels each.
struct Place {
    std::string array;
    int64_t row, position;
    float value;
};

// Returns the number of compared elements that are not finite.
int64_t check_infinity(const Backend backend, const Settings& settings, const Place& place) {
    const Family& family = btp_family();
    const Parameters parameters = settled(family, settings, {}, backend);
    Arrays inputs = generated_inputs(parameters);
    const int64_t length = parameters.integer("L");
    find(inputs, place.array)->as<float>()[static_cast<size_t>(place.row * length + place.position)] =
        place.value;
    // Errors relative to the largest finite value are roundings of sums in f32, and of inputs in 16 bits.
    const double rounding = parameters.is("dtype", "f32") ? 1e-4 : 5e-2;
    int64_t compared = 0;
    for (const Variant& variant : family.variants) {
        if (!variant.runs_on(backend)) continue;
        const Arrays wanted = *btp::definition({variant, parameters, inputs});
        const Arrays outputs = Implementation{family, variant, backend}.run(parameters, inputs);
        for (const Array& output : outputs) {
            const Array& right = *find(wanted, output.name);
            double largest = 0;
            for (int64_t i = 0; i < right.count(); ++i)
                if (std::isfinite(right.value(i).real()))
                    largest = std::max(largest, std::abs(right.value(i)));
            int64_t other_kinds = 0, far_off = 0, first = -1;
            for (int64_t i = 0; i < right.count(); ++i) {
                const double should = right.value(i).real(), is = output.value(i).real();
                const bool other_kind = kind_of(is) != kind_of(should);
                const bool is_far = std::isfinite(should) && !(std::abs(is - should) <= rounding * largest);
                if (first < 0 && (other_kind || is_far)) first = i;
                other_kinds += other_kind;
                far_off += is_far;
                compared += !std::isfinite(should);
            }
            INFO(variant.name << " " << words_of(family, parameters) << ": " << place.value << " in "
                              << place.array << " row " << place.row << " position " << place.position << "; "
                              << output.name << "[" << first << "] is "
                              << (first < 0 ? 0 : output.value(first).real()) << ", should be "
                              << (first < 0 ? 0 : right.value(first).real()));
            CHECK(other_kinds == 0);
            CHECK(far_off == 0);
        }
    }
    return compared;
}

// Returns positions around the borders of tiles of 16 and of blocks, in the first block and in later ones.
std::vector<int64_t> positions_of(int64_t block, int64_t length) {
    std::vector<int64_t> positions = {0, 5, 15, block - 1, block, block + 3, length - 1};
    if (block > 16) positions.insert(positions.end(), {16, 17, block / 2, block + 16, block + 31});
    return positions;
}

void check_forward(Backend backend, const std::string& dtype) {
    const int64_t block = GENERATE(16, 32, 64);
    const Value order = GENERATE(one, two, full);
    const std::string construction =
        GENERATE("log_stable", "log_difference", "masked_cumprod", "cumprod_ratio", "double");
    const int64_t length = 3 * block + 5;
    const Settings settings = {{"H", int64_t{2}},  {"L", length},    {"BL", block},
                               {"DH", int64_t{3}}, {"order", order}, {"construction", construction},
                               {"dtype", dtype}};
    for (const int64_t position : positions_of(block, length))
        CHECK(check_infinity(backend, settings,
                             {"u", 4, position, position % 2 == 0 ? INFINITY : -INFINITY}) > 0);
    // An infinite gate is beyond the range of gates. Order full is left out, as joining blocks may subtract
    // infinity from infinity.
    if (order != full) CHECK(check_infinity(backend, settings, {"a", 1, block + 7, INFINITY}) > 0);
}

void check_backward(Backend backend) {
    const int64_t block = GENERATE(16, 32, 64);
    const Value order = GENERATE(one, two, full);
    const int64_t length = 3 * block + 5;
    const Settings settings = {{"H", int64_t{2}},  {"L", length},    {"BL", block},
                               {"DH", int64_t{3}}, {"order", order}, {"backward", true}};
    for (const int64_t position : positions_of(block, length))
        for (const char* array : {"u", "dx"})
            CHECK(check_infinity(backend, settings,
                                 {array, 2, position, position % 2 == 0 ? INFINITY : -INFINITY}) > 0);
}

// An infinity stays even far beyond the segments that are joined, whose decays underflow.
void check_far(Backend backend) {
    const int64_t block = GENERATE(16, 64);
    for (const char* array : {"u", "dx"})
        CHECK(check_infinity(backend,
                             {{"L", int64_t{5000}},
                              {"H", int64_t{1}},
                              {"BL", block},
                              {"DH", int64_t{2}},
                              {"order", full},
                              {"gate", 0.8},
                              {"backward", true}},
                             {array, 1, array[0] == 'u' ? 3 : 4990, INFINITY}) > 4000);
}

TEST_CASE("an infinite input of btp gives the infinities of the definition", "[btp][cpu]") {
    check_forward(Backend::cpu, GENERATE("f32", "bf16", "f16"));
}

TEST_CASE("an infinity gives the gradients of the definition of btp", "[btp][cpu]") {
    check_backward(Backend::cpu);
}

TEST_CASE("an infinity of btp stays one however far the carries go", "[btp][cpu]") {
    check_far(Backend::cpu);
}

TEST_CASE("an infinite input of btp gives the infinities of the definition on CUDA", "[btp][cuda][gpu]") {
    if (gpu()) check_forward(Backend::cuda, GENERATE("f32", "bf16", "f16"));
}

TEST_CASE("an infinity gives the gradients of the definition of btp on CUDA", "[btp][cuda][gpu]") {
    if (gpu()) check_backward(Backend::cuda);
}

TEST_CASE("an infinity of btp stays one however far the carries go on CUDA", "[btp][cuda][gpu]") {
    if (gpu()) check_far(Backend::cuda);
}

}  // namespace
}  // namespace sawtooth
