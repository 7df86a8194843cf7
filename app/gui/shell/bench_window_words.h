#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sawtooth {

// What `bench window` measured, in milliseconds, and its words.

struct SpreadMs {
    double median = 0, q1 = 0, q3 = 0, worst = 0;
};
SpreadMs spread_of(std::vector<double> ms);

struct SliderBench {
    std::string moved, how;                              // "chunk", "moved, reference kept"
    SpreadMs outputs;                                    // from the slider to new outputs and errors
    std::vector<std::pair<std::string, SpreadMs>> hops;  // their sum is `outputs` in each move
    std::optional<SpreadMs> times;                       // from the slider to new times
};

struct FamilyBench {
    std::string name, device;
    std::optional<SpreadMs> frame;
    std::vector<SliderBench> sliders;
    std::string note;     // a kind of slider that it lacks
    std::string problem;  // why the measuring ended early; "" if it did not
};

struct WindowBench {
    int width = 0, height = 0;
    std::vector<FamilyBench> families;
    double idle_share = 0;  // of a core
};

// Lines of the report, in order; each can be printed as soon as its numbers are known. The row of a whole
// ends with a badge if its quartiles lie apart.
std::string heading_of(const WindowBench& bench);
std::string heading_of(const FamilyBench& family);
std::string frame_words(const SpreadMs& frame);
std::string words_of(const SliderBench& slider);
std::string idle_words(double share);

std::string json_of(const WindowBench& bench);

}  // namespace sawtooth
