#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/engine/run/configure.h"
#include "app/engine/run/judge.h"

namespace sawtooth {

// The expected outputs of variants for one set of inputs, computed when first needed and kept while
// the parameters that definitions read stay the same.
class Definitions {
  public:
    // What the outputs of a configuration are judged by. `reference` serves variants that are exact; if it is
    // empty, their definitions are computed, too.
    struct Source {
        const Configuration& configuration;
        Backend backend;
        const Arrays& inputs;
        const Arrays& reference;
        bool stores_extras = false;
        int threads = 0;  // compute at once; 0: one per core
    };

    // Forgets everything that depends on other values of parameters.
    void renew(const Configuration& configuration, Backend backend);

    // The expected outputs with their spread; null if they have not been computed yet.
    const std::vector<Expected>* known(const Source& source, const Variant& variant) const;
    // The expected outputs with their spread, computed if necessary. Error: cancelled, or why there is no
    // definition.
    Outcome<std::vector<Expected>*> find(const Source& source, const Variant& variant, std::stop_token stop);

  private:
    struct Entry {
        std::string definition;  // as in Variant
        Rounding rounding;
        std::map<std::string, Value> parameters;
        bool stores_extras = false;
        std::vector<Expected> outputs;
    };
    // The index of the entry, or the number of entries if there is none.
    size_t index_of(const Source& source, const Variant& variant) const;

    std::vector<Entry> entries_;
};

// The verdict on an output of the variant, with the place of its worst element in tiles; pending if it is not
// among the expected outputs, or if more draws may change it.
OutputVerdict verdict_on(const Array& output, const Variant& variant, const Definitions::Source& source,
                         const std::vector<Expected>& expected);
// The verdicts on outputs, in order. Where more draws may change one, `expected` gets their spread, and they
// decide. Error: cancelled, or that of the definition.
Outcome<std::vector<OutputVerdict>> verdicts_on(const Arrays& outputs, const Variant& variant,
                                                const Definitions::Source& source,
                                                std::vector<Expected>& expected, std::stop_token stop);

// The array of the reference for an output of the variant: "VARIANT/NAME", otherwise NAME. Null if there is
// none of that shape.
const Array* reference_of(const Arrays& reference, const std::string& variant, const Array& output);

// The least memory that judging takes, besides outputs and reference, for a reference of that many bytes.
int64_t judging_bytes(int64_t reference_bytes, int64_t computing_bytes, int64_t definitions,
                      bool may_diverge);

}  // namespace sawtooth
