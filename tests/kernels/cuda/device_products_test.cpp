// Products of a warp (kernels/cuda/device/products.cuh): every precision compiles for every chip and agrees
// with a product in double.

#include <cmath>
#include <random>

#include "kernels/cuda/chips.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kit/catch.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

// The kernel has one warp: to[0] = left[0] right by multiply, to[1] and to[2] = left[0] right and left[1]
// right by multiply_both. left [2, 16, INNER], to [3, 16, COLUMNS]; right [INNER, COLUMNS], or transposed if
// it is stored in columns.
const char* const text = R"(
#include "kernels/cuda/device/tiles.cuh"
using namespace sawtooth::device;
constexpr Precision precision = Precision::PRECISION;
constexpr Lies lies = Lies::LIES;
using P = Products<precision>;
constexpr int lines = lies == Lies::in_rows ? INNER : COLUMNS, width = lies == Lies::in_rows ? COLUMNS : INNER;
constexpr int stride = width + bank_padding<precision>;

struct ProductArguments {
    const float *left, *right;
    float* to;
};

extern "C" __global__ void __launch_bounds__(32) product(ProductArguments given) {
    __shared__ __align__(16) P::Element right[lines * stride];
    for (int at = threadIdx.x; at < lines * width; at += 32)
        right[at / width * stride + at % width] = P::element(given.right[at]);
    __syncwarp();
    Tile one[INNER / 8], other[INNER / 8], to[3][COLUMNS / 8];
    load_tiles(given.left, INNER, one);
    load_tiles(given.left + 16 * INNER, INNER, other);
    for (auto& tiles : to) clear(tiles);
    multiply<precision, lies>(one, right, stride, to[0]);
    multiply_both<precision, lies>(one, other, right, stride, to[1], to[2]);
    for (int n = 0; n < 3; ++n) store_tiles(to[n], given.to + n * 16 * COLUMNS, COLUMNS);
}
)";

struct ProductArguments {
    const float *left, *right;
    float* to;
};

constexpr int rows = 16, inner = 32, columns = 16;

struct Precision {
    const char* name;
    double rounding;  // the rounding of a factor: half a unit in the last place
};
constexpr Precision precisions[] = {{"f32", 0}, {"tf32", 0x1p-11}, {"f16", 0x1p-11}, {"bf16", 0x1p-8}};

struct Products {
    Workshop workshop;
    cuda::CompilerOptions options = {sawtooth::options().cache_directory, workshop.folder.path()};

    Products() {
        workshop.write_own_kernels();
        workshop.write("kernels/product.cu", text);
    }
    static cuda::Source source(const char* precision, bool in_rows) {
        return {"kernels/product.cu",
                {{"PRECISION", precision},
                 {"LIES", in_rows ? "in_rows" : "in_columns"},
                 {"INNER", inner},
                 {"COLUMNS", columns}}};
    }
};

TEST_CASE("products of a warp compile for every chip without a warning or a spill", "[cuda]") {
    if (without_compiler()) return;
    const Products products;
    cuda::Compiler compiler(products.options);
    for (const Chip& chip : cuda::known_chips()) {
        if (!cuda::compiler_knows(chip.architecture)) continue;
        for (const Precision& precision : precisions)
            for (const bool in_rows : {true, false}) {
                INFO(chip.architecture << " " << precision.name << (in_rows ? " in rows" : " in columns"));
                const auto compiled =
                    compiler.compile(Products::source(precision.name, in_rows), chip.architecture);
                if (!compiled) FAIL(compiled.error().text);
                CHECK(compiled->log.empty());
                CHECK(compiled->kernels.at("product").spill_bytes == 0);
            }
    }
}

// The factors, [2, 16, inner] and [inner, columns].
struct Factors {
    std::vector<float> left = std::vector<float>(2 * rows * inner),
                       right = std::vector<float>(inner * columns);

    template <class Draw>
    explicit Factors(Draw draw) {
        for (float& value : left) value = draw();
        for (float& value : right) value = draw();
    }
    std::vector<float> transposed() const {
        std::vector<float> turned(right.size());
        for (int k = 0; k < inner; ++k)
            for (int c = 0; c < columns; ++c) turned[c * inner + k] = right[k * columns + c];
        return turned;
    }
};

std::vector<float> multiply_on(cuda::Device& device, const cuda::Source& source, const Factors& factors,
                               bool in_rows) {
    const auto put = [&](const std::vector<float>& values) {
        const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
        auto memory = device.allocate(bytes);
        REQUIRE(memory);
        REQUIRE_FALSE(device.upload(memory->get(), values.data(), bytes));
        return *memory;
    };
    std::vector<float> to(3 * rows * columns, NAN);
    const cuda::Memory left = put(factors.left), right = put(in_rows ? factors.right : factors.transposed()),
                       result = put(to);
    const auto kernel = device.kernel(source, "product");
    if (!kernel) FAIL(kernel.error().text);
    Queue queue;
    queue.stream = device.stream();
    ProductArguments given = {static_cast<const float*>(left.get()), static_cast<const float*>(right.get()),
                              static_cast<float*>(result.get())};
    void* arguments[] = {&given};
    cuda::launch(queue, *kernel, {1, 1, 1}, {32, 1, 1}, 0, arguments);
    REQUIRE(queue.error.empty());
    REQUIRE_FALSE(device.download(to.data(), result.get(), static_cast<int64_t>(to.size() * sizeof(float))));
    return to;
}

// Returns the number of results that are further from the product in double than the roundings of both
// factors and of `inner` sums allow, which tensor cores truncate to 23 bits.
int count_wrong(const Factors& factors, const std::vector<float>& got, double rounding) {
    const double of_factors = 2 * rounding + rounding * rounding, of_sums = inner * std::exp2(-22);
    int wrong = 0;
    for (int n = 0; n < 3; ++n)
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                double sum = 0, sizes = 0;
                for (int k = 0; k < inner; ++k) {
                    const double left = factors.left[((n == 2 ? rows : 0) + r) * inner + k],
                                 right = factors.right[k * columns + c];
                    sum += left * right;
                    sizes += std::fabs(left * right);
                }
                const double difference = std::fabs(got[(n * rows + r) * columns + c] - sum);
                wrong += !(difference <= (of_factors + of_sums * (1 + of_factors)) * sizes);
            }
    return wrong;
}

TEST_CASE("products of a warp agree with double up to the rounding of their precision", "[cuda][gpu]") {
    if (without_compiler()) return;
    const Products products;
    const auto device = cuda::Device::open(0, products.options);
    if (!device) return say_skipped(device.error().text);
    std::mt19937 random(7);
    std::uniform_int_distribution<int> whole(-8, 8);
    std::normal_distribution<float> normal;
    // Small integers are exact in every precision: a wrong position in a tile gives a wrong number.
    const Factors exact([&] { return static_cast<float>(whole(random)); });
    const Factors rounded([&] { return normal(random); });
    for (const Precision& precision : precisions)
        for (const bool in_rows : {true, false}) {
            INFO(precision.name << (in_rows ? " in rows" : " in columns"));
            const cuda::Source source = Products::source(precision.name, in_rows);
            const auto whole_numbers = multiply_on(**device, source, exact, in_rows);
            CHECK(count_wrong(exact, whole_numbers, 0) == 0);
            const auto numbers = multiply_on(**device, source, rounded, in_rows);
            CHECK(count_wrong(rounded, numbers, precision.rounding) == 0);
            // One or two left factors give the same bits.
            CHECK(std::equal(numbers.begin(), numbers.begin() + rows * columns,
                             numbers.begin() + rows * columns));
        }
}

}  // namespace
