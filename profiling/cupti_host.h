#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/refusal.h"
#include "profiling/cupti.h"

namespace sawtooth {

using Image = std::vector<uint8_t>;  // what CUPTI's calls hand to one another

// Turns names of metrics into what the hardware is to count, and counts into values. `availability` says
// which counters may be used now.
class CuptiHost {
  public:
    static Outcome<CuptiHost> make(CUpti_ProfilerType type, const std::string& chip, Image availability);

    // Adds a metric; false where this chip has none of this name.
    bool add(const char* metric);
    const std::vector<const char*>& metrics() const { return metrics_; }
    size_t count() const { return metrics_.size(); }

    // What to count for the metrics that were added.
    Outcome<Image> configuration() const;
    // How often a kernel must run to be counted so.
    static Outcome<size_t> passes(Image& configuration);
    // The metrics of range or sample `index`, in the order in which they were added.
    Outcome<std::vector<double>> values(const Image& counts, size_t index) const;

  private:
    struct Closer {
        void operator()(CUpti_Profiler_Host_Object* object) const;
    };
    CuptiHost() = default;
    Image availability_;
    std::unique_ptr<CUpti_Profiler_Host_Object, Closer> object_;
    std::vector<const char*> metrics_;
};

// "GH100": what CUPTI calls the GPU of that number.
Outcome<std::string> cupti_chip_name(int device);

}  // namespace sawtooth
