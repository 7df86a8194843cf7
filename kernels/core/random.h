#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace sawtooth {

// A small generator whose numbers depend only on the seed and the name of the array, so that an input from a
// file does not change the others. The algorithm is splitmix64: Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators".
class Random {
  public:
    Random(uint64_t seed, std::string_view name) : state_(seed * 0x9E3779B97F4A7C15u) {
        for (char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
        next();
    }

    uint64_t next() {
        state_ += 0x9E3779B97F4A7C15u;
        uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        return mixed ^ (mixed >> 31);
    }

    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    int64_t below(int64_t count) { return static_cast<int64_t>(uniform() * static_cast<double>(count)); }

    // A standard normal number, by the polar method, which needs no trigonometric functions.
    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        double u, v, s;
        do {
            u = uniform(-1, 1);
            v = uniform(-1, 1);
            s = u * u + v * v;
        } while (s >= 1 || s == 0);
        const double scale = std::sqrt(-2 * std::log(s) / s);
        spare_ = v * scale;
        has_spare_ = true;
        return u * scale;
    }

  private:
    uint64_t state_;
    double spare_ = 0;
    bool has_spare_ = false;
};

}  // namespace sawtooth
