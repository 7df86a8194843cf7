#include "app/engine/check/battery.h"

#include <algorithm>
#include <climits>
#include <cmath>

namespace sawtooth {
namespace {

// So many Requests are drawn, more where kernels are compiled, and the one that tries the most new facts is
// taken.
constexpr int candidates = 24, candidates_with_kernels = 48;
constexpr int64_t requests_on_cpu = 75, requests_on_cuda = 72;  // per variant
// Besides these a variant has Requests with an infinity or a NaN, one of so many. They run kernels of earlier
// Requests.
constexpr int64_t turns_per_strange_number = 3;
// The last of those on a GPU are planned for few multiprocessors. The one before has new kernels with jitter.
constexpr int64_t requests_on_few = 8, most_if_few = 8;
// A kernel takes up to a second to compile, everything else a few milliseconds. On a GPU only one Request of
// so many therefore compiles kernels of its own, besides the first few of a variant.
constexpr int64_t requests_per_kernel = 5;
constexpr size_t first_kernels = 2;
// A Request may take more operations on a GPU, whose tiles have hundreds of rows and whose machine has more
// cores.
constexpr double usual_operations = 2e6, many_operations = 1e7, most_on_cuda = 2e7;
constexpr double most_if_rare = 2e8;
constexpr int64_t between_rare = 4;  // candidates, of which one has a rare kernel
constexpr int64_t most_seeds = 1000;
constexpr int64_t turns_per_jitter = 4;  // one of them has kernels with jitter
// With jitter, ten times the work is worth so much: threads overtake each other where a loop has several
// rounds.
constexpr double worth_of_work = 0.3;

bool is_kind(const Parameter& row) { return row.type == Type::choice || row.type == Type::boolean; }

// The parameter values that kernels are compiled for, as far as a schema tells.
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

// Describes a size as 1, odd, even, a multiple of 4 or a multiple of 16.
std::string size_words(const Parameter& row, int64_t size) {
    if (size == 1) return row.name + " is 1";
    return row.name + (size % 16 == 0  ? " fills vectors"
                       : size % 4 == 0 ? " in fours"
                       : size % 2      ? " is odd"
                                       : " is even");
}

std::string name_of_tiles(const Tiling& tiling) { return tiling.name + " of " + tiling.dimension; }

// How many whole tiles a length has, as "stretch of L: 2 tiles"; 3 stands for 3 or more.
std::string count_of_tiles(const Tiling& tiling, int64_t length) {
    return name_of_tiles(tiling) + ": " + std::to_string(std::min<int64_t>(length / tiling.size, 3)) +
           " tiles";
}

std::string place_in_tiles(const Tiling& tiling, int64_t length) {
    const int64_t rest = length % tiling.size;
    const char* const where = rest == 0                 ? "whole"
                              : rest == 1               ? "one more"
                              : rest == tiling.size - 1 ? "one less"
                                                        : "part";
    return count_of_tiles(tiling, length) + ", " + where;
}

// The "FILE ENTRY" part of "FILE ENTRY DEFINE=VALUE …".
std::string name_of_kernel(const std::string& source) {
    return source.substr(0, source.find(' ', source.find(' ') + 1));
}

std::string with_jitter(const std::string& kernel, int jitter) {
    return kernel + " jitter=" + std::to_string(jitter);
}

// One fact "FILE ENTRY DEFINE=VALUE" for each define.
std::unordered_set<std::string> facts_of_defines(const std::string& source) {
    const std::string kernel = name_of_kernel(source);
    std::unordered_set<std::string> facts;
    for (size_t start = kernel.size(); start < source.size();) {
        const size_t end = std::min(source.find(' ', start + 1), source.size());
        facts.insert(kernel + source.substr(start, end - start));
        start = end;
    }
    return facts;
}

// Draws a small number of multiprocessors, half the time 1. With few, work reaches the paths that it takes
// where there is much of it: several tiles per thread block, or kernels of their own.
int few_multiprocessors(Random& random) {
    return random.below(2) == 0 ? 1 : static_cast<int>(random_integer(random, 2, most_if_few));
}

// Draws a kind of numbers; a few kinds are tried more often than others.
Values drawn_values(Random& random, bool strange) {
    if (strange) return random.below(4) == 0 ? Values::nan : Values::infinity;
    constexpr Values kinds[] = {Values::usual, Values::usual, Values::usual,
                                Values::zeros, Values::huge,  Values::denormals};
    return kinds[random.below(std::size(kinds))];
}

}  // namespace

Battery::Battery(const Family& family, Request base, const Chip& chip)
    : family_(family),
      base_(std::move(base)),
      chip_(chip),
      random_(base_.seed, "check " + family.name),
      planned_(chip) {
    for (const Variant& variant : family.variants) {
        const auto& names = base_.variants;
        const bool wanted =
            names.empty() || std::find(names.begin(), names.end(), variant.name) != names.end();
        if (wanted && variant.runs_on(chip.backend)) variants_.push_back(&variant);
    }
}

int64_t Battery::size() const {
    return static_cast<int64_t>(variants_.size()) *
           (chip_.backend == Backend::cpu ? requests_on_cpu : requests_on_cuda) * turns_per_strange_number /
           (turns_per_strange_number - 1);
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
    const bool new_kernels = wants_new_kernels(variant);
    Parameters kept;
    std::optional<Choice> choice;
    // Few Requests with jitter have new kernels: there no choice is required, so that all kernels run.
    if (!new_kernels)
        kept = least_tried_kernels(variant);
    else if (jitter() == 0 && (choice = least_tried_choice(variant)))
        kept = choice->value;
    std::optional<Candidate> best;
    double most = -HUGE_VAL;
    const bool compiles = new_kernels && chip_.backend == Backend::cuda;
    for (int i = 0; i < (compiles ? candidates_with_kernels : candidates); ++i) {
        auto one = draw(variant, kept, new_kernels);
        if (!one && i == 0) {  // also where the kept widths were those of a large setting
            if (choice) impossible_.insert(choice->fact);
            kept = {};
            one = draw(variant, kept, new_kernels);
        }
        if (!one) break;
        const double worth =
            newness(one->facts) + newness(one->places) + newness(one->kernels) + newness(one->paths) +
            newness_of_many(one->choices) + newness_of_many(one->tiles) + newness_of_many(one->strange) +
            2 * std::min(new_kernels_of(*one), 3) + (one->request.multiprocessors != 0 ? 2 : 0) +
            share_of_wide_dimensions(*one) / 2 - (new_kernels ? 0 : share_not_compiled(*one)) +
            (jitter() == 0 ? 0 : worth_of_work * std::log10(family_.work(one->values, {}).operations + 1));
        if (worth <= most) continue;
        most = worth;
        best = std::move(one);
    }
    if (!best) return {};
    for (const Facts* facts : {&best->facts, &best->places, &best->kernels, &best->choices, &best->tiles,
                               &best->paths, &best->strange})
        for (const std::string& fact : *facts) ++tried_[fact];
    sources_.insert(best->sources.begin(), best->sources.end());
    if (compiles)
        compiled_[{&variant, best->request.jitter}].push_back(
            {kernel_values(family_, best->request.parameters), compiled_widths(variant, *best)});
    return std::move(best->request);
}

// The mean newness of the facts: a setting is not worth more because many parameters matter in it.
double Battery::newness(const Facts& facts) const {
    double sum = 0;
    for (const std::string& fact : facts) {
        const auto tried = tried_.find(fact);
        sum += tried == tried_.end() ? 1 : std::ldexp(1, -2 * tried->second);
    }
    return facts.empty() ? 0 : sum / static_cast<double>(facts.size());
}

// More for more facts: a setting of many kernels, such as those of a backward pass, tries more than one of
// few.
double Battery::newness_of_many(const Facts& facts) const {
    return newness(facts) * std::sqrt(static_cast<double>(facts.size()));
}

double Battery::share_not_compiled(const Candidate& candidate) const {
    const auto is_new = [&](const std::string& source) { return !sources_.contains(source); };
    const auto count = std::count_if(candidate.sources.begin(), candidate.sources.end(), is_new);
    return static_cast<double>(count) / static_cast<double>(std::max<size_t>(candidate.sources.size(), 1));
}

// The number of kernels that never ran with this jitter.
int Battery::new_kernels_of(const Candidate& candidate) const {
    Facts kernels;
    for (const std::string& source : candidate.sources)
        kernels.insert(with_jitter(name_of_kernel(source), candidate.request.jitter));
    return static_cast<int>(std::count_if(
        kernels.begin(), kernels.end(), [&](const std::string& kernel) { return !tried_.contains(kernel); }));
}

// The share of the dimensions that are longer than 1: a dimension of 1 hides kernels that mix up its rows.
double Battery::share_of_wide_dimensions(const Candidate& candidate) const {
    int dimensions = 0, wide = 0;
    for (const Parameter& row : family_.parameters) {
        if (row.group != Group::shape || row.type != Type::integer) continue;
        ++dimensions;
        wide += candidate.values.integer(row.name) > 1;
    }
    return static_cast<double>(wide) / std::max(dimensions, 1);
}

bool Battery::wants_new_kernels(const Variant& variant) const {
    if (chip_.backend == Backend::cpu) return true;
    const auto compiled = compiled_.find({&variant, jitter()});
    if (compiled == compiled_.end()) return true;
    if (wants_strange_number()) return false;
    // Few multiprocessors may take kernels that no other Request has.
    if (wants_few_multiprocessors() && turn_of_variant() % 2 == 0) return true;
    return turn_of_variant() % requests_per_kernel == 0 || compiled->second.size() < first_kernels;
}

Parameters Battery::least_tried_kernels(const Variant& variant) {
    auto& compiled = compiled_[{&variant, jitter()}];
    const auto least = std::min_element(compiled.begin(), compiled.end(),
                                        [](const auto& a, const auto& b) { return a.used < b.used; });
    Parameters kept = least->values;
    // Two times of three the widths that they are compiled for stay the same, too.
    if (++least->used % 3 != 0 && !wants_few_multiprocessors())
        for (const auto& [name, value] : least->widths.values) kept.set(name, value);
    return kept;
}

// The sizes, without the length of the sequence, that kernels are compiled for: others have other kernels.
Parameters Battery::compiled_widths(const Variant& variant, const Candidate& candidate) const {
    const Request& request = candidate.request;
    const auto sources = planned_.of(family_, variant, request);
    Parameters widths;
    for (const Parameter& row : family_.parameters) {
        if (!is_width(family_, row)) continue;
        const Value value = request.parameters.has(row.name) ? request.parameters.at(row.name) : row.initial;
        if (const auto* const size = std::get_if<int64_t>(&candidate.values.at(row.name))) {
            Request twice = request;
            twice.parameters.set(row.name, 2 * *size);
            if (planned_.of(family_, variant, twice) == sources) continue;
        }
        widths.set(row.name, value);
    }
    return widths;
}

// The choice of a parameter that was tried least. Facts alone would rarely try choices with which few other
// parameters matter.
std::optional<Battery::Choice> Battery::least_tried_choice(const Variant& variant) {
    int least = INT_MAX;
    std::optional<Choice> chosen;
    for (const Parameter& row : family_.parameters) {
        if ((!is_kind(row) && row.choices.empty()) || row.renews == Renews::figures) continue;
        const auto choices = row.type == Type::boolean ? std::vector<Value>{true, false} : row.choices;
        for (const Value& value : choices) {
            Choice one;
            one.value.set(row.name, value);
            one.fact = variant.name + ": " + setting_words(row, one.value);
            const int tried = tried_[one.fact] + chosen_[one.fact];
            if (tried >= least || impossible_.contains(one.fact)) continue;
            least = tried;
            chosen = std::move(one);
        }
    }
    if (chosen) ++chosen_[chosen->fact];
    return chosen;
}

int64_t Battery::round() const { return static_cast<int64_t>(turn_ / std::max<size_t>(variants_.size(), 1)); }

bool Battery::wants_strange_number() const {
    return round() % turns_per_strange_number == turns_per_strange_number - 1;
}

// Counts the Requests without a strange number.
int64_t Battery::turn_of_variant() const { return round() - round() / turns_per_strange_number; }

int Battery::jitter() const {
    if (chip_.backend == Backend::cpu || wants_strange_number()) return 0;
    return turn_of_variant() % turns_per_jitter < turns_per_jitter - 1 ? 0 : 1;
}

bool Battery::wants_few_multiprocessors() const {
    return chip_.backend == Backend::cuda && !wants_strange_number() &&
           turn_of_variant() % requests_on_cuda >= requests_on_cuda - requests_on_few;
}

std::optional<Battery::Candidate> Battery::draw(const Variant& variant, const Parameters& kept,
                                                bool new_kernels) {
    const int64_t between_large = chip_.backend == Backend::cpu ? 8 : 4;
    const double many = chip_.backend == Backend::cpu ? many_operations : most_on_cuda;
    const bool on_few = wants_few_multiprocessors();
    const bool is_large = random_.below(between_large) == 0 || on_few || jitter() != 0;
    double operations = is_large ? many : usual_operations;
    Parameters fixed = kept;
    const auto& rare = variant.rare_on_cuda;
    if ((new_kernels || wants_strange_number()) && chip_.backend == Backend::cuda && !rare.empty() &&
        random_.below(between_rare) == 0) {
        if (!new_kernels) fixed = {};
        const int64_t which = random_.below(static_cast<int64_t>(rare.size()));
        for (const auto& [name, value] : rare[static_cast<size_t>(which)].values)
            if (!fixed.has(name)) fixed.set(name, value);
        operations = most_if_rare;
    }
    auto set = draw_setting(random_, family_, variant, chip_, {.operations = operations}, fixed);
    if (!set) return {};
    Candidate made;
    Request& request = made.request;
    request = base_;
    request.variants = {variant.name};
    request.parameters = std::move(*set);
    request.jitter = jitter();
    if (on_few) request.multiprocessors = few_multiprocessors(random_);
    request.seed = static_cast<uint64_t>(1 + random_.below(most_seeds));
    request.values = drawn_values(random_, wants_strange_number());
    request.optional = random_.below(2) == 0;
    request.extras = random_.below(2) == 0 ? Extras::all : Extras::none;
    if (!planned_.depends_on_multiprocessors(family_, variant, request)) request.multiprocessors = 0;
    made.values = settled_values(family_, request.parameters, chip_.backend);
    made.facts = facts_of(variant, made);
    made.places = places_in_tiles(variant, made);
    made.sources = planned_.of(family_, variant, request);
    for (std::string& source : made.sources) source = with_jitter(source, request.jitter);
    if (new_kernels && chip_.backend == Backend::cuda) {
        made.kernels = facts_of_kernels(variant, made);
        for (const std::string& source : made.sources) made.kernels.merge(facts_of_defines(source));
    }
    if (chip_.backend == Backend::cuda) {
        made.choices = choices_of_kernels(variant, made);
        made.tiles = with_tiles(made.choices, variant, made);
    }
    made.paths = paths_of(made);
    if (wants_strange_number()) made.strange = strange_numbers_of(variant, made);
    return made;
}

// The choices and tiles that a kernel is compiled for, and pairs of them.
Battery::Facts Battery::facts_of_kernels(const Variant& variant, const Candidate& candidate) const {
    const Parameters& values = candidate.values;
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

// Every kernel with every choice that it is planned for.
Battery::Facts Battery::choices_of_kernels(const Variant& variant, const Candidate& candidate) const {
    const Parameters& values = candidate.values;
    Facts kernels, facts;
    for (const std::string& source : candidate.sources)
        kernels.insert(variant.name + ": " + name_of_kernel(source) + " ");
    for (const Parameter& row : family_.parameters)
        if (is_kind(row) && row.renews != Renews::figures && row.why_unused(values, chip_.backend).empty())
            for (const std::string& kernel : kernels) facts.insert(kernel + setting_words(row, values));
    return facts;
}

// Facts, each together with the dimensions that have several tiles.
Battery::Facts Battery::with_tiles(const Facts& facts, const Variant& variant,
                                   const Candidate& candidate) const {
    std::set<std::string> several;
    for (const Tiling& tiling : tilings_of(family_, variant, candidate.values, chip_.backend))
        if (candidate.values.integer(tiling.dimension) > tiling.size) several.insert(name_of_tiles(tiling));
    std::string tiles = ", several tiles of:";
    for (const std::string& name : several) tiles += " " + name;
    Facts together;
    for (const std::string& fact : facts) together.insert(fact + tiles);
    return together;
}

// The places of lengths in the tiles of the variant, and pairs of numbers of tiles.
Battery::Facts Battery::places_in_tiles(const Variant& variant, const Candidate& candidate) const {
    const std::string begin = "tiles of " + variant.name + ": ";
    Facts facts;
    std::set<std::string> counts;
    for (const Tiling& tiling : tilings_of(family_, variant, candidate.values, chip_.backend)) {
        const int64_t length = candidate.values.integer(tiling.dimension);
        facts.insert(begin + place_in_tiles(tiling, length));
        counts.insert(count_of_tiles(tiling, length));
    }
    for (auto first = counts.begin(); first != counts.end(); ++first)
        for (auto second = counts.begin(); second != first; ++second)
            facts.insert(begin + *first + ", " + *second);
    return facts;
}

// Every kernel, with the kinds of numbers that it gets, the places of lengths in its tiles, the jitter, and
// whether it is planned for few multiprocessors.
// The schema does not tell these: variants choose kernels by shape.
Battery::Facts Battery::paths_of(const Candidate& candidate) const {
    Facts paths;
    for (const std::string& source : candidate.sources) {
        const std::string kernel = name_of_kernel(source);
        paths.insert(kernel);
        paths.insert(kernel + " values=" + name_of(candidate.request.values));
        paths.insert(with_jitter(kernel, candidate.request.jitter));
        if (candidate.request.multiprocessors != 0)
            for (const std::string& fact : facts_of_defines(source)) paths.insert(fact + " on few");
        for (const std::string& place : candidate.places) paths.insert(kernel + " " + place);
    }
    return paths;
}

// The input with the infinity or NaN, for every kernel on a GPU, and for the variant otherwise.
Battery::Facts Battery::strange_numbers_of(const Variant& variant, const Candidate& candidate) const {
    const Request& request = candidate.request;
    Configuration configuration;
    configuration.family = &family_;
    configuration.backend = chip_.backend;
    configuration.parameters = candidate.values;
    configuration.with_optional = request.optional;
    const std::string place =
        name_of(request.values) + (" in " + input_with_strange_number(configuration, request));
    Facts facts{variant.name + ": " + place};
    if (request.values == Values::infinity)  // shows more than a NaN: zero times infinity is NaN
        for (const std::string& source : candidate.sources)
            facts.insert(variant.name + ": " + name_of_kernel(source) + " " + place);
    return facts;
}

Battery::Facts Battery::facts_of(const Variant& variant, const Candidate& candidate) const {
    const Request& request = candidate.request;
    const Parameters& values = candidate.values;
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
    Facts own;  // what other variants did does not count for this one
    for (const std::string& fact : facts) own.insert(variant.name + ": " + fact);
    return own;
}

}  // namespace sawtooth
