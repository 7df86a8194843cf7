#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/refusal.h"
#include "profiling/cupti.h"

namespace sawtooth {

using Image = std::vector<uint8_t>;  // data that CUPTI calls pass to each other

// Translates names of metrics into a hardware configuration, and counts into values. `availability` says
// which counters can be used.
class CuptiHost {
  public:
    static Outcome<CuptiHost> make(CUpti_ProfilerType type, const std::string& chip, Image availability);

    // Adds a metric; false if the chip does not have it.
    bool add(const char* metric);
    const std::vector<const char*>& metrics() const { return metrics_; }
    size_t count() const { return metrics_.size(); }

    // The configuration for all added metrics.
    Outcome<Image> configuration() const;
    // The number of times that a kernel must run for a configuration.
    static Outcome<size_t> passes(Image& configuration);
    // The metrics of the range or sample `index`, in the order in which they were added.
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

// The CUPTI name of a GPU: "GH100".
Outcome<std::string> cupti_chip_name(int device);

}  // namespace sawtooth
