#include "app/gui/state/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace sawtooth {

// Of the terms that begin alike, the longest comes first.
const std::vector<Term>& terms() {
    static const std::vector<Term> all{
        {"approximation",
         "Deliberately computes something other than the reference, to need fewer steps. As a "
         "number: the distance of its definition in float64 to the reference, relative L2."},
        {"arithmetic intensity",
         "Operations for each byte that is moved. Below the ridge of the roofline, where the slope meets the "
         "peak, memory is the nearer ceiling; above it arithmetic is."},
        {"boundary", "The end of a chunk, where the memory is brought up to date."},
        {"carry", "What one block hands on to the next one."},
        {"chunk",
         "Consecutive tokens that are computed together, from the memory at the start of the chunk."},
        {"copy bandwidth",
         "The bytes per second that a plain copy reads and writes on this machine: a copy of the same size "
         "beside a run, a large one in the roofline. A kernel that must move the same bytes is hardly "
         "faster."},
        {"disturbed",
         "A repeat in which a thread of the run waited for a core, or the clock of the GPU changed."},
        {"exact", "Equal to the reference up to rounding."},
        {"float64", "Numbers of 64 bits, with 16 decimal digits; float32 has 7."},
        {"grid", "All thread blocks of a launch; on the CPU, its work items."},
        {"idle", "The share of the time in which no launch keeps a worker, or SM, busy."},
        {"kernel error",
         "The distance of the outputs to the variant's own definition in float64, relative "
         "L2: rounding, or a mistake in the kernel."},
        {"kernel", "The code that a launch runs."},
        {"launch",
         "One start of a kernel: on a GPU a grid of thread blocks, on the CPU a job for all workers. "
         "The next launch starts when it is done."},
        {"look-back",
         "A tile adds up what the tiles before it have published, instead of waiting for a "
         "launch that does."},
        {"margin", "The difference of the two inputs that decide a bit: the bit flips where it is 0."},
        {"max abs error",
         "The largest absolute difference to the reference, over all elements of the output."},
        {"occupancy",
         "The warps that are resident on an SM, as a share of the most that fit. Theoretical: "
         "what registers, shared memory and block size allow. Achieved: counted during the run."},
        {"quartile", "A quarter of the repeats is below the lower quartile, a quarter above the upper one."},
        {"readout",
         "Which memory a token reads: the one that evolves inside its chunk, or the one at the "
         "boundary before it."},
        {"reference", "The result in float64, computed step by step with the formulas of the method."},
        {"rel L2",
         "The norm of the difference to the reference, divided by the norm of the reference: about "
         "1e-7 is rounding of f32, 1 is as far off as zeros."},
        {"roofline",
         "The most operations per second that memory and arithmetic allow, against the operations per byte."},
        {"SM", "Streaming multiprocessor: the part of a GPU that runs thread blocks. An H200 has 132."},
        {"speed-up", "How many times faster it is than the first variant, as far as the repeats can tell."},
        {"stability", "Marks times whose quartiles lie far apart: something disturbed the repeats."},
        {"tile", "A block of an array that one thread block, or worker, computes at a time."},
        {"unstable", "The quartiles of the repeats lie far apart: something disturbed them."},
        {"utilisation",
         "The mean, over the workers of the CPU or the SMs of a GPU, of the share of the time in "
         "which they are busy."},
        {"variant", "One way to compute the outputs of the family."},
        {"verdict", "Whether every output is as close to the variant's own definition as rounding allows."},
        {"warp", "32 threads of a GPU that run in step."},
        {"worker", "A CPU thread that runs a share of every launch."},
    };
    return all;
}

namespace {

bool is_letter(unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; }

bool is_at(std::string_view text, size_t begin, std::string_view word) {
    const std::string_view part = text.substr(begin, word.size());
    return part.size() == word.size() &&
           std::equal(part.begin(), part.end(), word.begin(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) ==
                      std::tolower(static_cast<unsigned char>(b));
           });
}

// The end of the word, including a plural ending; `begin` if it is another word.
size_t end_of_word(std::string_view text, size_t begin, std::string_view word) {
    if (!is_at(text, begin, word)) return begin;
    for (const std::string_view ending : {"", "s", "es"}) {
        const size_t end = begin + word.size() + ending.size();
        if (is_at(text, begin + word.size(), ending) && (end == text.size() || !is_letter(text[end])))
            return end;
    }
    return begin;
}

}  // namespace

std::vector<FoundTerm> find_terms(std::string_view text) {
    std::vector<FoundTerm> found;
    for (size_t at = 0; at < text.size(); ++at) {
        if (!is_letter(text[at]) || (at > 0 && (is_letter(text[at - 1]) || text[at - 1] == '-'))) continue;
        for (const Term& term : terms()) {
            const size_t end = end_of_word(text, at, term.word);
            if (end == at) continue;
            found.push_back({at, end, &term});
            at = end - 1;
            break;
        }
    }
    return found;
}

std::string definitions_in(std::string_view text) {
    std::vector<const Term*> told;
    std::string lines;
    for (const FoundTerm& found : find_terms(text)) {
        if (std::find(told.begin(), told.end(), found.term) != told.end()) continue;
        told.push_back(found.term);
        lines += fmt::format("{}{}: {}", lines.empty() ? "" : "\n", found.term->word, found.term->meaning);
    }
    return lines;
}

}  // namespace sawtooth
