#include "app/engine/check/resume.h"

#include <algorithm>

namespace sawtooth {
namespace {

// What happened, without the request of the job and what becomes of its worker, which say nothing of a
// kernel.
std::string reason_in(const Error& error, const std::string& family) {
    return error.text.substr(0, error.text.rfind(" (" + family));
}

}  // namespace

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
    finding.request = *so_far.trying;
    finding.problem = reason_in(error, so_far.family);
    finding.number = so_far.trying_number;
    finding.seconds = so_far.seconds;
    if (std::ranges::any_of(so_far.findings, [&](const Finding& earlier) {
            return is_lost_once(earlier) && earlier.number == finding.number;
        })) {
        finding.variant = finding.request.variants.front();
        finding.problem += ", twice at this setting";
    }
    return finding;
}

bool is_lost_once(const Finding& finding) { return finding.variant.empty(); }

CheckReport without_lost_once(CheckReport report) {
    report.tried -= static_cast<int64_t>(std::erase_if(report.findings, is_lost_once));
    return report;
}

CheckRequest continued(const CheckRequest& request, const CheckReport& so_far) {
    CheckRequest rest = request;
    rest.first = so_far.next;
    if (rest.seconds) rest.seconds = std::max(0.0, *rest.seconds - so_far.seconds);
    for (const Finding& finding : so_far.findings)
        if (!is_lost_once(finding)) rest.leave_out.push_back(finding.variant);
    return rest;
}

}  // namespace sawtooth
