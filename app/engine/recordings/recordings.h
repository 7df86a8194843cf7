#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/engine/session/session.h"
#include "kernels/core/family.h"

namespace sawtooth {

// Recorded GPUs: results that were measured on one, in assets/recordings/NAME/FAMILY.sawtooth. On a machine
// without such a GPU, Request::recording shows its times, launches, occupancy, counters and errors beside
// outputs that the CPU computes.

// The names of the recordings: "h200-2026-11".
std::vector<std::string> recording_names();
// "H200, recorded 2026-11".
std::string recording_words(const std::string& name);

// "length = 4096, chunk = 64".
std::string words_of(const Parameters& changes);

// The recorded results of one family.
class Recording {
  public:
    // Results of other families are left out.
    Recording(const Family& family, std::vector<SessionResult> results);
    // Failure: there is no such recording of this family, or its file is damaged.
    static Outcome<std::shared_ptr<const Recording>> open(const std::string& name, const Family& family);

    // The following take parameters that are settled for CUDA.

    // The result that was measured with them; null if there is none. Failure: its bytes are damaged.
    Outcome<std::shared_ptr<const Result>> find(const Parameters& settled) const;
    // The values to set for the recorded result whose parameters differ least, of those with most of the
    // variants; empty if nothing differs.
    Parameters changes_to_nearest(const Parameters& settled) const;
    // The different values of a parameter in the recording.
    std::vector<Value> values(const std::string& parameter) const;

  private:
    struct Entry {
        SessionResult result;
        Parameters acting;
    };
    // By how many parameters an entry differs, and by how much in all.
    std::pair<int, double> distance(const Entry& entry, const Parameters& acting) const;

    const Family& family_;
    std::vector<Entry> entries_;
};

// A run of a Request with a recording.
class RecordedRun {
  public:
    // Usage errors: an input file, inputs or caches that are not those of recordings, or settings that no
    // variant can run on CUDA. Failure: damaged bytes.
    static Outcome<RecordedRun> prepare(const Request& asked, const Recording& recording);

    // The Request that computes the outputs here; absent if the CPU has none of the variants, or cannot run
    // these settings.
    const std::optional<Request>& live() const { return live_; }
    // What is shown: the recorded result with the arrays of the live one, or the live one without times if
    // these settings were not recorded. `live` is null if there is none, and `why_none` says why unless there
    // is no live Request. Failure: there is neither.
    Outcome<std::shared_ptr<const Result>> shown(const Result* live, const std::string& why_none = "") const;

  private:
    Request asked_;
    Parameters parameters_;  // settled for CUDA
    std::optional<Request> live_;
    std::string not_live_;  // why live_ is absent
    std::shared_ptr<const Result> recorded_;
    std::vector<const Variant*> variants_;  // the requested ones
    std::string not_recorded_;              // a note; "" if there is a recorded result
};

// The recording that was opened last.
class OpenRecording {
  public:
    // Errors: those of Recording::open.
    Outcome<std::shared_ptr<const Recording>> get(const std::string& name, const Family& family);
    // Errors: those of `get` and of RecordedRun::prepare.
    Outcome<RecordedRun> prepare(const Request& asked);

  private:
    std::string name_;
    const Family* family_ = nullptr;
    std::shared_ptr<const Recording> recording_;
};

// A cell of a sweep with a recording; refused if it was not recorded.
SweepCell recorded_cell(const Sweep& sweep, size_t index, OpenRecording& open);

}  // namespace sawtooth
