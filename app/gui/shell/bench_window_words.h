#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sawtooth {

// The measurements of `bench window`, in milliseconds, and the words for them.

struct SpreadMs {
    double median = 0, q1 = 0, q3 = 0, worst = 0;
};
SpreadMs spread_of(std::vector<double> ms);

struct SliderBench {
    std::string moved, how;  // which slider, and how: "chunk", "moved, reference kept"
    SpreadMs outputs;        // time from the slider to new outputs and errors
    std::vector<std::pair<std::string, SpreadMs>> hops;  // in each move they add up to `outputs`
    std::optional<SpreadMs> times;                       // time from the slider to new times
};

// With as many pinned results as there can be.
struct PinsBench {
    SpreadMs pin, frame;  // the frames in which they were pinned, and those with all of them
    SpreadMs look;        // time from a zoom to the new figures of all of them
};

struct FamilyBench {
    std::string name, device;
    std::optional<SpreadMs> frame;
    std::vector<SliderBench> sliders;
    std::optional<PinsBench> pins;
    std::string note;     // names a kind of slider that the family lacks
    std::string problem;  // why measuring ended early; "" if it did not
};

struct WindowBench {
    int width = 0, height = 0;
    std::vector<FamilyBench> families;
    double idle_share = 0;  // a share of one core
};

// The lines of the report, in order; each can be printed as soon as its numbers are known. The row of a total
// ends with a badge if its quartiles are far apart.
std::string heading_of(const WindowBench& bench);
std::string heading_of(const FamilyBench& family);
std::string frame_words(const SpreadMs& frame);
std::string words_of(const SliderBench& slider);
std::string words_of(const PinsBench& pins);
std::string idle_words(double share);

std::string json_of(const WindowBench& bench);

}  // namespace sawtooth
