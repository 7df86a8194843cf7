// The fill of the hash table and the probes of its keys.

#include "kernels/lut_sequence/figures/hash_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/core/table.h"

namespace sawtooth::lut_sequence {
namespace {

constexpr int64_t most_points = 512;

// The slots of the table. A taken slot points to a later one, so that a long cluster is skipped at once.
class Slots {
  public:
    explicit Slots(int64_t width) : next_(static_cast<size_t>(width)) {
        std::iota(next_.begin(), next_.end(), 0);
    }
    // Takes the first free slot from `start` on.
    int64_t take(int64_t start) {
        int32_t at = static_cast<int32_t>(start);
        while (next(at) != at) {
            next(at) = next(next(at));
            at = next(at);
        }
        next(at) = static_cast<int32_t>((at + 1) % std::ssize(next_));
        return at;
    }

  private:
    int32_t& next(int32_t slot) { return next_[static_cast<size_t>(slot)]; }

    std::vector<int32_t> next_;
};

// The clusters, runs of taken slots.
struct Clusters {
    int64_t count = 0, longest = 0;

    explicit Clusters(const std::vector<bool>& filled) {
        int64_t length = 0;
        for (const bool is_filled : filled) {
            length = is_filled ? length + 1 : 0;
            count += length == 1;
            longest = std::max(longest, length);
        }
    }
};

// The mean number of probes if keys are spread evenly over a table of that fill (Knuth, The Art of Computer
// Programming, volume 3, 6.4).
double even_probes(double fill) { return 0.5 * (1 + 1 / (1 - fill)); }

// "3.6", "3,754"
std::string words_of_probes(double probes) {
    return probes < 100 ? fmt::format("{:.2g}", probes) : with_thousands(std::llround(probes));
}

// The number of slots shown: up to the last filled one, and a quarter more to show that the rest is empty.
int64_t slots_in_sight(const std::vector<bool>& filled) {
    const int64_t end = filled.rend() - std::find(filled.rbegin(), filled.rend(), true);
    return std::min(end + end / 4 + 1, std::ssize(filled));
}

void add_fill(Figure& figure, const HashTable& table, const Drawn& drawn) {
    const int64_t width = std::ssize(table.filled), seen = slots_in_sight(table.filled);
    const int64_t points = std::min(seen, most_points);
    figure.x.maximum = static_cast<double>(seen);
    Line starts = line_of("keys that try this slot first", {Ink::Role::accent}, {}),
         filled = line_of("slot taken", {Ink::Role::kind, 2}, {});
    for (int64_t point = 0; point < points; ++point) {
        const Range slots{seen * point / points, seen * (point + 1) / points};
        const auto share = [&](const auto& of_slots) {
            const auto first = of_slots.begin() + slots.first;
            return static_cast<double>(std::accumulate(first, first + slots.count(), int64_t{0})) /
                   static_cast<double>(slots.count());
        };
        for (Line* line : {&starts, &filled})
            line->x.push_back(static_cast<double>(slots.first + slots.last - 1) / 2);
        starts.y.push_back(share(table.starts));
        filled.y.push_back(share(table.filled));
    }
    const Clusters clusters(table.filled);
    const int64_t reached = std::min(drawn.neurons() + drawn.length - 1, width);
    const std::string where =
        drawn.mixed_hash
            ? "anywhere"
            : fmt::format("in the first {} slots ({} %), at neuron + position", with_thousands(reached),
                          percent_number(static_cast<double>(reached) / static_cast<double>(width)));
    figure.caption =
        fmt::format("Keys: {} in {} ({} %), in {} of up to {}. They start {}.",
                    with_thousands(std::ssize(table.probes)), count_words(width, "slot"),
                    percent_number(static_cast<double>(table.probes.size()) / static_cast<double>(width)),
                    count_words(clusters.count, "cluster"), with_thousands(clusters.longest), where);
    figure.marks.push_back(std::move(starts));
    figure.marks.push_back(std::move(filled));
}

// "1", "2", "3 to 4", "5 to 8", …
std::string words_of_bin(size_t bin) {
    const int64_t last = int64_t{1} << bin, first = last / 2 + 1;
    return first >= last ? with_thousands(last) : with_thousands(first) + " to " + with_thousands(last);
}

void add_probes(Figure& figure, const HashTable& table) {
    const int64_t longest = *std::max_element(table.probes.begin(), table.probes.end());
    const auto bin_of = [](int64_t probes) { return std::bit_width(static_cast<uint64_t>(probes - 1)); };
    std::vector<int64_t> keys(static_cast<size_t>(bin_of(longest)) + 1);
    for (const int64_t probes : table.probes) ++keys[static_cast<size_t>(bin_of(probes))];
    Bars bars;
    const auto all = static_cast<double>(table.probes.size());
    for (size_t bin = 0; bin < keys.size(); ++bin) {
        const auto count = static_cast<double>(keys[bin]);
        bars.bars.push_back({.ink = {Ink::Role::kind, 0},
                             .segments = {{"", count}},
                             .low = {},
                             .high = {},
                             .text = percent_number(count / all) + " %"});
        figure.y.categories.push_back(words_of_bin(bin));
    }
    figure.caption =
        fmt::format("Probes per key: {} on average, up to {}. Spread evenly, the same keys would take {}.",
                    words_of_probes(table.mean_probes()), with_thousands(longest),
                    words_of_probes(even_probes(all / static_cast<double>(table.filled.size()))));
    figure.marks.push_back(std::move(bars));
}

}  // namespace

HashTable::HashTable(const HashStart& start_of, const EventsByPosition& events)
    : starts(static_cast<size_t>(start_of.width)), filled(static_cast<size_t>(start_of.width)) {
    Slots slots(start_of.width);
    for (const auto neurons : {&EventsAt::neurons, &EventsAt::alternative_neurons})
        for (size_t position = 0; position < events.size(); ++position)
            for (const int32_t neuron : events[position].*neurons) {
                const int64_t start = start_of(neuron, static_cast<int64_t>(position));
                const int64_t slot = slots.take(start);
                ++starts[static_cast<size_t>(start)];
                filled[static_cast<size_t>(slot)] = true;
                probes.push_back((slot - start + start_of.width) % start_of.width + 1);
            }
}

double HashTable::mean_probes() const {
    return static_cast<double>(std::accumulate(probes.begin(), probes.end(), int64_t{0})) /
           static_cast<double>(probes.size());
}

std::vector<Figure> hash_table_figures(const Drawn& drawn, const EventsByPosition& events) {
    std::vector<Figure> all = {
        new_figure("hash-fill", Place::views, "Hash table of the backward pass: first tries and taken slots",
                   "", {.label = "slot", .minimum = 0}, {.label = "per slot", .minimum = 0}),
        new_figure("hash-probes", Place::views, "Hash table of the backward pass: probes per key", "",
                   {.label = "keys", .minimum = 0}, {.label = "probes"})};
    for (Figure& figure : all) figure.chosen_by = {"drawn_batch"};
    if (events.empty()) {
        for (Figure& figure : all) leave_out_without_events(figure, drawn);
        return all;
    }
    const HashTable table(HashStart(drawn), events);
    if (table.probes.empty()) {
        for (Figure& figure : all)
            leave_out(figure, "Empty: no chosen row has synapses. Raise synapses_per_neuron.");
        return all;
    }
    add_fill(all[0], table, drawn);
    add_probes(all[1], table);
    return all;
}

}  // namespace sawtooth::lut_sequence
