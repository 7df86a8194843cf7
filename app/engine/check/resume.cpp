#include "app/engine/check/resume.h"

#include <algorithm>

namespace sawtooth {

CheckReport joined(const CheckReport& before, CheckReport later) {
    later.tried += before.tried;
    later.judged += before.judged;
    later.cannot_judge += before.cannot_judge;
    later.given_up += before.given_up;
    later.seconds += before.seconds;
    for (Finding& finding : later.findings) finding.seconds += before.seconds;
    later.findings.insert(later.findings.begin(), before.findings.begin(), before.findings.end());
    return later;
}

Finding lost_with_worker(const CheckReport& so_far, const Error& error) {
    Finding finding;
    finding.variant = so_far.trying->variants.front();
    finding.request = *so_far.trying;
    finding.problem = error.text;
    finding.number = so_far.trying_number;
    finding.seconds = so_far.seconds;
    return finding;
}

CheckRequest continued(const CheckRequest& request, const CheckReport& so_far) {
    CheckRequest rest = request;
    rest.first = so_far.next;
    if (rest.seconds) rest.seconds = std::max(0.0, *rest.seconds - so_far.seconds);
    for (const Finding& finding : so_far.findings) rest.leave_out.push_back(finding.variant);
    return rest;
}

}  // namespace sawtooth
