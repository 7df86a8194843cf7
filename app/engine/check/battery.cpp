#include "app/engine/check/battery.h"

#include <algorithm>
#include <cmath>

namespace sawtooth {
namespace {

// Of these the one is taken that tries most that is new.
constexpr int candidates = 24;
constexpr int64_t requests_on_cpu = 100, requests_on_cuda = 48;  // of a variant
// Facts that few settings or few kernels can show count several times.
constexpr double weight = 4;
// A kernel takes a second to compile, everything else a few milliseconds: on a GPU most Requests have the
// kernels of an earlier one. So many of a variant are compiled, without jitter and with it.
constexpr size_t plain_kernels = 3, kernels_with_jitter = 2;
constexpr double usual_operations = 2e6, many_operations = 1e7;
constexpr int64_t most_seeds = 1000;
constexpr int64_t turns_without_jitter = 12, turns_with_jitter = 6;

bool is_kind(const Parameter& row) { return row.type == Type::choice || row.type == Type::boolean; }

// The values that kernels are compiled for, as far as a schema tells.
Parameters kernel_values(const Family& family, const Parameters& set) {
    Parameters kept;
    for (const Parameter& row : family.parameters)
        if ((is_kind(row) || row.group == Group::tiling) && row.renews != Renews::figures)
            kept.set(row.name, set.has(row.name) ? set.at(row.name) : row.initial);
    return kept;
}

std::string setting_words(const Parameter& row, const Parameters& values) {
    return row.name + "=" + to_text(values.at(row.name));
}

// 1, even or odd, whether it is a multiple of 16.
std::string size_words(const Parameter& row, int64_t size) {
    if (size == 1) return row.name + " is 1";
    return row.name + (size % 16 == 0  ? " fills vectors"
                       : size % 4 == 0 ? " in fours"
                       : size % 2      ? " is odd"
                                       : " is even");
}

std::string place_in_tiles(const Tiling& tiling, int64_t length) {
    const int64_t whole = length / tiling.size, rest = length % tiling.size;
    const char* const where = rest == 0                 ? "whole"
                              : rest == 1               ? "one more"
                              : rest == tiling.size - 1 ? "one less"
                                                        : "part";
    return tiling.name + ": " + std::to_string(std::min<int64_t>(whole, 3)) + " tiles, " + where;
}

// A few kinds of numbers are tried more often than others.
Values drawn_values(Random& random) {
    constexpr Values kinds[] = {Values::usual, Values::usual,     Values::usual,    Values::zeros,
                                Values::huge,  Values::denormals, Values::infinity, Values::nan};
    return kinds[random.below(std::size(kinds))];
}

}  // namespace

Battery::Battery(const Family& family, Request base, const Chip& chip)
    : family_(family), base_(std::move(base)), chip_(chip), random_(base_.seed, "check " + family.name) {
    for (const Variant& variant : family.variants) {
        const auto& names = base_.variants;
        const bool wanted =
            names.empty() || std::find(names.begin(), names.end(), variant.name) != names.end();
        if (wanted && variant.runs_on(chip.backend)) variants_.push_back(&variant);
    }
}

int64_t Battery::size() const {
    return static_cast<int64_t>(variants_.size()) *
           (chip_.backend == Backend::cpu ? requests_on_cpu : requests_on_cuda);
}

std::optional<Request> Battery::next() {
    for (size_t left = variants_.size(); left > 0; --left) {
        auto best = best_for(*variants_[turn_ % variants_.size()]);
        ++turn_;
        if (best) return best;
    }
    return {};
}

std::optional<Request> Battery::best_for(const Variant& variant) {
    std::optional<Candidate> best;
    double most = -1;
    for (int i = 0; i < candidates; ++i) {
        auto one = draw(variant);
        if (!one) break;
        double worth = 0;
        for (const std::string& fact : one->facts) worth += std::pow(0.25, tried_[fact]);
        for (const std::string& fact : one->weighty) worth += weight * std::pow(0.25, tried_[fact]);
        if (worth <= most) continue;
        most = worth;
        best = std::move(one);
    }
    if (!best) return {};
    for (const std::string& fact : best->facts) ++tried_[fact];
    for (const std::string& fact : best->weighty) ++tried_[fact];
    if (best->new_kernels)
        compiled_[{&variant, best->request.jitter}].push_back(
            kernel_values(family_, best->request.parameters));
    return std::move(best->request);
}

int64_t Battery::turn_of_variant() const {
    return static_cast<int64_t>(turn_ / std::max<size_t>(variants_.size(), 1));
}

// Some turns of every variant in a row, as kernels with jitter need the GPU opened anew.
int Battery::jitter() const {
    if (chip_.backend == Backend::cpu) return 0;
    return turn_of_variant() % (turns_without_jitter + turns_with_jitter) < turns_without_jitter ? 0 : 1;
}

std::optional<Battery::Candidate> Battery::draw(const Variant& variant) {
    const auto& compiled = compiled_[{&variant, jitter()}];
    const bool wants_new = chip_.backend == Backend::cpu ||
                           compiled.size() < (jitter() == 0 ? plain_kernels : kernels_with_jitter) ||
                           turn_of_variant() % requests_on_cuda == 0;
    const Parameters kept =
        wants_new ? Parameters{}
                  : compiled[static_cast<size_t>(random_.below(static_cast<int64_t>(compiled.size())))];
    const int64_t between_large = chip_.backend == Backend::cpu ? 8 : 4;
    const double operations = random_.below(between_large) == 0 ? many_operations : usual_operations;
    auto set = draw_setting(random_, family_, variant, chip_, {.operations = operations}, kept);
    if (!set) return {};
    Candidate made{base_, {}, {}, wants_new};
    Request& request = made.request;
    request.variants = {variant.name};
    request.parameters = std::move(*set);
    request.jitter = jitter();
    request.seed = static_cast<uint64_t>(1 + random_.below(most_seeds));
    request.values = drawn_values(random_);
    request.optional = random_.below(2) == 0;
    request.extras = random_.below(2) == 0 ? Extras::all : Extras::none;
    made.facts = facts_of(variant, request);
    made.weighty = places_in_tiles(variant, request);
    if (wants_new && chip_.backend == Backend::cuda) made.weighty.merge(facts_of_kernels(variant, request));
    return made;
}

// Choices and tiles that a kernel is compiled for, and pairs of them.
Battery::Facts Battery::facts_of_kernels(const Variant& variant, const Request& request) const {
    const Parameters values = settled_values(family_, request.parameters, chip_.backend);
    std::vector<std::string> kinds;
    for (const auto& [name, value] : kernel_values(family_, values).values)
        if (const Parameter& row = *family_.parameter(name); row.why_unused(values, chip_.backend).empty())
            kinds.push_back(setting_words(row, values));
    Facts facts;
    for (size_t i = 0; i < kinds.size(); ++i)
        for (size_t j = 0; j <= i; ++j)
            facts.insert("kernels of " + variant.name + ": " + kinds[i] + " " + kinds[j]);
    return facts;
}

// Where lengths lie in the tiles of the variant.
Battery::Facts Battery::places_in_tiles(const Variant& variant, const Request& request) const {
    if (!family_.tilings) return {};
    const Parameters values = settled_values(family_, request.parameters, chip_.backend);
    Facts facts;
    for (const std::string& output : variant.outputs)
        for (const Tiling& tiling : family_.tilings(variant, output, values, chip_.backend)) {
            const Parameter* const row = family_.parameter(tiling.dimension);
            if (!row || row->type != Type::integer || tiling.size < 1) continue;
            facts.insert("tiles of " + variant.name + ": " +
                         place_in_tiles(tiling, values.integer(row->name)));
        }
    return facts;
}

Battery::Facts Battery::facts_of(const Variant& variant, const Request& request) const {
    const Parameters values = settled_values(family_, request.parameters, chip_.backend);
    Facts facts;
    std::vector<std::string> kinds;
    std::set<int64_t> sizes;
    int64_t dimensions = 0;
    for (const Parameter& row : family_.parameters) {
        if (row.renews == Renews::figures || !row.why_unused(values, chip_.backend).empty()) continue;
        if (is_kind(row)) {
            kinds.push_back(setting_words(row, values));
        } else if (row.type == Type::integer && std::holds_alternative<int64_t>(values.at(row.name))) {
            facts.insert(size_words(row, values.integer(row.name)));
            if (row.group != Group::shape) continue;
            ++dimensions;
            sizes.insert(values.integer(row.name));
        } else {
            facts.insert(row.name + (values.at(row.name) == row.initial ? " as usual" : " set"));
        }
    }
    kinds.push_back(std::string("values=") + name_of(request.values));
    kinds.push_back(request.optional ? "optional" : "no optional");
    kinds.push_back(request.extras == Extras::all ? "extras" : "no extras");
    for (size_t i = 0; i < kinds.size(); ++i) {
        facts.insert(kinds[i]);
        for (size_t j = 0; j < i; ++j) facts.insert(kinds[i] + " " + kinds[j]);
    }
    if (static_cast<int64_t>(sizes.size()) == dimensions) facts.insert("dimensions differ");
    Facts own;  // what one variant does another need not do
    for (const std::string& fact : facts) own.insert(variant.name + ": " + fact);
    return own;
}

}  // namespace sawtooth
