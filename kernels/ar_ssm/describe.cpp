#include "kernels/ar_ssm/describe.h"

#include "kernels/core/integers.h"
#include "kernels/core/launch_info.h"
#include "kernels/cpu/products.h"

namespace sawtooth::ar_ssm::describe {
namespace {

using Uses = std::vector<Buffer>;

struct Described : Sizes {
    explicit Described(const PlanRequest& request)
        : Sizes(request.parameters),
          element(bytes_of(storage)),
          between(request.device ? bytes_of(storage) : bytes_of(Storage::f32)),
          on_cuda(request.device) {}

    Buffer of_tokens(std::string name, int64_t columns, int64_t bytes) const {
        return {std::move(name), {batch, length, columns}, bytes};
    }
    // An array between launches, whose rows are padded on the CPU.
    int64_t stored(int64_t columns) const { return on_cuda ? columns : cpu::padded(columns); }
    Buffer x() const { return of_tokens("x", width, element); }
    Buffer y() const { return of_tokens("y", width, element); }
    Buffer dy() const { return of_tokens("dy", width, element); }
    Buffer dx() const { return of_tokens("dx", width, 4); }
    Buffer t() const { return of_tokens("t", stored(width), between); }
    Buffer uv(Direction direction) const {
        return of_tokens(direction == Direction::forward ? "uv" : "uv_rev", stored(width), between);
    }
    Buffer hidden_units(const char* name = "hidden") const {
        return of_tokens(name, stored(hidden), between);
    }
    // Those of the forward pass; on CUDA with what they lose in 16 bits, if hard gates need it.
    Uses units_for_gates() const {
        Uses uses = {hidden_units()};
        if (on_cuda && hard && between < bytes_of(Storage::f32)) uses.push_back(hidden_units("hidden_rest"));
        return uses;
    }
    Buffer ranks(const char* name, int64_t bytes = 4) const { return of_tokens(name, stored(rank), bytes); }
    Buffer scanned(Direction direction) const {
        return ranks(direction == Direction::forward ? "c" : "c_rev");
    }
    Buffer read_out(Direction direction) const {
        return ranks(direction == Direction::forward ? "w" : "w_rev", between);
    }
    Buffer effective() const { return {"effective_rank", {batch, length}}; }
    Buffer totals(const char* name, int64_t tile) const {
        return {name, {batch, ceil_divide(length, tile), stored(rank)}};
    }

    Shape weight_shape(std::string_view name) const {
        if (name == "conv") return {width, 3};
        if (name == "gate_w1") return {hidden, width};
        if (name == "gate_b1") return {hidden};
        if (name == "gate_w2") return {rank, hidden};
        if (name == "gate_b2") return {rank};
        if (name == "out_proj") return {width, rank};
        if (name == "out_bias") return {width};
        return {rank, width};  // u_proj, v_proj
    }
    Buffer weight(const char* name) const { return {name, weight_shape(name), element}; }
    Buffer gradient(const std::string& weight) const { return {"d" + weight, weight_shape(weight)}; }
    Uses gradients() const {
        Uses all;
        for (const char* name :
             {"conv", "gate_w1", "gate_b1", "gate_w2", "gate_b2", "u_proj", "v_proj", "out_proj", "out_bias"})
            all.push_back(gradient(name));
        return all;
    }
    double numbers(int64_t columns) const { return static_cast<double>(tokens() * columns); }
    // Multiplications and additions of a product of all tokens with a matrix.
    double product(int64_t rows, int64_t columns) const {
        return 2 * numbers(columns) * static_cast<double>(rows);
    }
    double projections() const { return product(width, hidden + 2 * rank) + product(hidden, rank); }

    int64_t element, between;  // bytes
    bool on_cuda;
};

}  // namespace

LaunchInfo convolve(const PlanRequest& request) {
    const Described d(request);
    return launch_info("convolve", "Step 1: t, the convolution of every channel with its three taps.",
                       {d.x(), d.weight("conv")}, {d.t()}, 5 * d.numbers(d.width));
}

LaunchInfo hidden(const PlanRequest& request) {
    const Described d(request);
    return launch_info("hidden", "Step 2: the hidden layer of the gates, relu(W1 x + b1).",
                       {d.x(), d.weight("gate_w1"), d.weight("gate_b1")}, d.units_for_gates(),
                       d.product(d.width, d.hidden));
}

LaunchInfo gates(const PlanRequest& request) {
    const Described d(request);
    Uses writes = {d.ranks("gates")};
    if (d.backward) writes.push_back(d.ranks("gate_slopes"));
    return launch_info("gates", "Step 2: the gates, sigmoid(W2 hidden + b2).",
                       d.units_for_gates() + Uses{d.weight("gate_w2"), d.weight("gate_b2")},
                       std::move(writes), d.product(d.hidden, d.rank));
}

LaunchInfo effective_rank(const PlanRequest& request) {
    const Described d(request);
    return launch_info("effective_rank", "The sum of the gates of every position.", {d.ranks("gates")},
                       {d.effective()}, d.numbers(d.rank));
}

namespace {

LaunchInfo projection(const PlanRequest& request, const char* name, const char* meaning, const char* weight,
                      const char* gated, const char* projected) {
    const Described d(request);
    Uses writes = {d.ranks(gated, d.between)};
    if (d.backward) writes.push_back(d.ranks(projected, d.between));
    return launch_info(name, meaning, {d.x(), d.weight(weight), d.ranks("gates")}, std::move(writes),
                       d.product(d.width, d.rank));
}

}  // namespace

LaunchInfo project_u(const PlanRequest& request) {
    return projection(request, "project_u", "Step 3: u = (x U^T) g.", "u_proj", "u", "projected_u");
}

LaunchInfo project_v(const PlanRequest& request) {
    return projection(request, "project_v", "Step 3: v = (x V^T) g.", "v_proj", "v", "projected_v");
}

LaunchInfo multiply(const PlanRequest& request, Direction direction) {
    const Described d(request);
    const bool forward = direction == Direction::forward;
    return launch_info(
        forward ? "multiply" : "reverse_multiply", forward ? "Step 5: w = c v." : "Step 5: w_rev = c_rev v.",
        {d.scanned(direction), d.ranks("v", d.between)}, {d.read_out(direction)}, d.numbers(d.rank));
}

LaunchInfo project_out(const PlanRequest& request, Direction direction) {
    const Described d(request);
    const bool forward = direction == Direction::forward;
    return launch_info(forward ? "project_out" : "reverse_project_out",
                       forward ? "Step 5: uv = w W_o^T + b_o." : "Step 5: uv_rev = w_rev W_o^T + b_o.",
                       {d.read_out(direction), d.weight("out_proj"), d.weight("out_bias")}, {d.uv(direction)},
                       d.product(d.rank, d.width));
}

LaunchInfo add(const PlanRequest& request) {
    const Described d(request);
    Uses reads = {d.t(), d.uv(Direction::forward)};
    if (d.bidirectional) reads.push_back(d.uv(Direction::reverse));
    return launch_info("add", d.bidirectional ? "Step 6: y = (t + uv + uv_rev) / 2." : "Step 6: y = t + uv.",
                       std::move(reads), {d.y()}, (d.bidirectional ? 3 : 1) * d.numbers(d.width));
}

LaunchInfo w_gradient(const PlanRequest& request) {
    const Described d(request);
    return launch_info("w_gradient", "The gradient of w, of both directions: dw = dy W_o.",
                       {d.dy(), d.weight("out_proj")}, {d.ranks("dw")}, d.product(d.width, d.rank));
}

LaunchInfo factor_gradients(const PlanRequest& request) {
    const Described d(request);
    Uses reads = {d.ranks("dw"), d.ranks("v", d.between), d.scanned(Direction::forward)};
    if (d.bidirectional) reads.push_back(d.scanned(Direction::reverse));
    return launch_info("factor_gradients", "The gradients of both factors of w = c v: dc and dv.",
                       std::move(reads), {d.ranks("dc"), d.ranks("dv")}, 2 * d.numbers(d.rank));
}

LaunchInfo gate_gradients(const PlanRequest& request) {
    const Described d(request);
    Uses reads = {d.ranks("du"),
                  d.ranks("dv"),
                  d.ranks("gates"),
                  d.ranks("gate_slopes"),
                  d.ranks("projected_u", d.between),
                  d.ranks("projected_v", d.between)};
    if (d.bidirectional) reads.push_back(d.ranks("du_rev"));
    return launch_info("gate_gradients",
                       "The gradients of both factors of u = (x U^T) g and of v, and through the sigmoid.",
                       std::move(reads),
                       {d.ranks("dprojected_u", d.between), d.ranks("dprojected_v", d.between),
                        d.ranks("dlogits", d.between)},
                       8 * d.numbers(d.rank));
}

LaunchInfo hidden_gradient(const PlanRequest& request) {
    const Described d(request);
    return launch_info("hidden_gradient", "The gradient of the hidden layer before its relu.",
                       {d.ranks("dlogits", d.between), d.weight("gate_w2"), d.hidden_units()},
                       {d.hidden_units("dhidden")}, d.product(d.rank, d.hidden));
}

LaunchInfo weight_gradient(const PlanRequest& request, const char* weight, Direction direction) {
    const Described d(request);
    const std::string name = weight;
    Uses reads, writes = {d.gradient(name)};
    double operations = d.numbers(static_cast<int64_t>(count_of(d.weight_shape(name))));
    if (name.find("_b") == std::string::npos) operations *= 2;
    if (name == "conv") {
        reads = {d.x(), d.dy()};
    } else if (name == "gate_w1") {
        reads = {d.hidden_units("dhidden"), d.x()};
    } else if (name == "gate_b1") {
        reads = {d.hidden_units("dhidden")};
    } else if (name == "gate_w2") {
        reads = {d.ranks("dlogits", d.between), d.hidden_units()};
    } else if (name == "gate_b2") {
        reads = {d.ranks("dlogits", d.between)};
    } else if (name == "out_proj") {
        reads = {d.dy(), d.read_out(direction)};
        if (direction == Direction::reverse) reads.push_back(writes[0]);
    } else if (name == "out_bias") {
        reads = {d.dy()};
    } else {
        reads = {d.ranks(name == "u_proj" ? "dprojected_u" : "dprojected_v", d.between), d.x()};
    }
    const bool reverse = direction == Direction::reverse;
    return launch_info((reverse ? "reverse_" : "") + name + "_gradient",
                       "The gradient of " + name + (reverse ? ", from the end: adds to it." : "."),
                       std::move(reads), std::move(writes), operations);
}

LaunchInfo x_gradient(const PlanRequest& request, const char* weight) {
    const Described d(request);
    const std::string name = weight;
    if (name == "conv")
        return launch_info("x_gradient_conv", "The gradient of x through the convolution.",
                           {d.dy(), d.weight(weight)}, {d.dx()}, 5 * d.numbers(d.width));
    const Buffer from = name == "gate_w1"  ? d.hidden_units("dhidden")
                        : name == "u_proj" ? d.ranks("dprojected_u", d.between)
                                           : d.ranks("dprojected_v", d.between);
    return launch_info("x_gradient_" + name, "Adds the gradient of x through " + name + ".",
                       {from, d.weight(weight), d.dx()}, {d.dx()},
                       d.product(from.shape.back(), d.width) + d.numbers(d.width));
}

LaunchInfo project(const PlanRequest& request, int64_t tile) {
    const Described d(request);
    Uses writes = {d.ranks("gates"), d.effective(), d.ranks("projected_u", d.between),
                   d.ranks("projected_v", d.between), d.totals("totals", tile)};
    if (d.on_cuda)
        writes = writes + d.units_for_gates();
    else if (d.backward)
        writes.push_back(d.hidden_units());
    if (d.backward) writes.push_back(d.ranks("gate_slopes"));
    return launch_info("project",
                       "Steps 2 and 3 of a tile of positions: gates, x U^T and x V^T, and the sum of u.",
                       {d.x(), d.weight("gate_w1"), d.weight("gate_b1"), d.weight("gate_w2"),
                        d.weight("gate_b2"), d.weight("u_proj"), d.weight("v_proj")},
                       std::move(writes), d.projections() + 2 * d.numbers(d.rank));
}

LaunchInfo scan_and_output(const PlanRequest& request, int64_t tile) {
    const Described d(request);
    Uses reads = {d.x(),
                  d.ranks("gates"),
                  d.ranks("projected_u", d.between),
                  d.ranks("projected_v", d.between),
                  d.totals("prefixes", tile),
                  d.weight("conv"),
                  d.weight("out_proj"),
                  d.weight("out_bias")};
    if (d.bidirectional) reads.push_back(d.totals("reverse_prefixes", tile));
    Uses writes = {d.y()};
    if (d.on_cuda || d.backward) writes.push_back(d.ranks("w", d.between));
    if (d.backward) writes.push_back(d.ranks("c"));
    return launch_info("scan_and_output",
                       "Scans u from the prefix of the tile, then steps 1, 5 and 6: y from c v and x.",
                       std::move(reads), std::move(writes),
                       d.product(d.rank, d.width) + 7 * d.numbers(d.width) + 4 * d.numbers(d.rank));
}

LaunchInfo output_gradients(const PlanRequest& request, int64_t tile) {
    const Described d(request);
    return launch_info(
        "output_gradients", "dw = dy W_o of a tile, then dc and dv, and the sum of dc.",
        {d.dy(), d.weight("out_proj"), d.ranks("gates"), d.ranks("projected_v", d.between), d.ranks("c")},
        {d.ranks("dc"), d.ranks("dv"), d.totals("gradient_totals", tile)},
        d.product(d.width, d.rank) + 3 * d.numbers(d.rank));
}

LaunchInfo input_gradients(const PlanRequest& request, int64_t tile) {
    const Described d(request);
    Uses reads = {d.dy(),
                  d.ranks("dc"),
                  d.ranks("dv"),
                  d.ranks("gates"),
                  d.ranks("gate_slopes"),
                  d.ranks("projected_u", d.between),
                  d.ranks("projected_v", d.between),
                  d.hidden_units(),
                  d.totals("gradient_prefixes", tile),
                  d.weight("conv"),
                  d.weight("gate_w1"),
                  d.weight("gate_w2"),
                  d.weight("u_proj"),
                  d.weight("v_proj")};
    if (d.bidirectional) reads.push_back(d.totals("reverse_gradient_prefixes", tile));
    return launch_info("input_gradients",
                       "Scans dc from the end, then the gradients of gates, hidden layer and x of a tile.",
                       std::move(reads),
                       {d.ranks("dprojected_u", d.between), d.ranks("dprojected_v", d.between),
                        d.ranks("dlogits", d.between), d.hidden_units("dhidden"), d.dx()},
                       d.projections() + 7 * d.numbers(d.width) + 10 * d.numbers(d.rank));
}

LaunchInfo weight_gradients(const PlanRequest& request) {
    const Described d(request);
    return launch_info(
        "weight_gradients", "Sums the gradients of all nine weights over the tokens.",
        {d.x(), d.dy(), d.ranks("dprojected_u", d.between), d.ranks("dprojected_v", d.between),
         d.ranks("dlogits", d.between), d.hidden_units("dhidden"), d.hidden_units(), d.ranks("w", d.between)},
        d.gradients(), d.projections() + d.product(d.rank, d.width) + 8 * d.numbers(d.width));
}

std::pair<LaunchInfo, LaunchInfo> in_parts(LaunchInfo summing, int64_t parts) {
    Uses partial = summing.writes;
    double count = 0;
    for (Buffer& one : partial) {
        count += static_cast<double>(count_of(one.shape));
        one.name = "partial_" + one.name;
        one.shape.insert(one.shape.begin(), parts);
    }
    LaunchInfo adding = launch_info("sum_" + summing.name, "Adds the parts of the sums over tokens.", partial,
                                    summing.writes, static_cast<double>(parts) * count);
    summing.writes = std::move(partial);
    return {std::move(summing), std::move(adding)};
}

}  // namespace sawtooth::ar_ssm::describe
