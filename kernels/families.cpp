#include "kernels/families.h"

#include <algorithm>

#include "kernels/ar_ssm/family.h"
#include "kernels/attention/family.h"
#include "kernels/btp/family.h"
#include "kernels/lut/family.h"
#include "kernels/lut_sequence/family.h"
#include "kernels/memory/family.h"
#include "kernels/scan/family.h"

namespace sawtooth {

namespace {

std::vector<const Family*>& listed() {
    static std::vector<const Family*> families = {
        &memory_family(), &scan_family(), &ar_ssm_family(),       &attention_family(),
        &btp_family(),    &lut_family(),  &lut_sequence_family(),
    };
    return families;
}

}  // namespace

const std::vector<const Family*>& all_families() { return listed(); }
void add_family(const Family& family) { listed().push_back(&family); }

const Family* find_family(std::string_view name) {
    const auto& families = all_families();
    const auto found = std::find_if(families.begin(), families.end(),
                                    [&](const Family* family) { return family->name == name; });
    return found == families.end() ? nullptr : *found;
}

}  // namespace sawtooth
