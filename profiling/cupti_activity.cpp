#include "profiling/cupti_activity.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "profiling/cupti.h"

namespace sawtooth {
namespace {

constexpr size_t buffer_bytes = 1 << 20;
constexpr CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMSET};

// Guards the records, which a thread of CUPTI adds.
std::mutex mutex;
std::vector<Activity> recorded;

// Uses the oldest version of the records: later versions begin with the same fields.
Activity activity_of(const CUpti_ActivityKernel4& kernel) {
    Activity activity;
    activity.start_ns = kernel.start;
    activity.end_ns = kernel.end;
    activity.is_kernel = true;
    activity.registers = kernel.registersPerThread;
    activity.grid = {kernel.gridX, kernel.gridY, kernel.gridZ};
    activity.block = {kernel.blockX, kernel.blockY, kernel.blockZ};
    activity.shared_bytes = int64_t{kernel.staticSharedMemory} + kernel.dynamicSharedMemory;
    return activity;
}

Activity activity_of(const CUpti_ActivityMemcpy& copy) {
    Activity activity;
    activity.start_ns = copy.start;
    activity.end_ns = copy.end;
    return activity;
}

Activity activity_of(const CUpti_ActivityMemset& fill) {
    Activity activity;
    activity.start_ns = fill.start;
    activity.end_ns = fill.end;
    activity.filled_bytes = fill.bytes;
    return activity;
}

void keep(const CUpti_Activity* record) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        recorded.push_back(activity_of(*reinterpret_cast<const CUpti_ActivityKernel4*>(record)));
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
        recorded.push_back(activity_of(*reinterpret_cast<const CUpti_ActivityMemcpy*>(record)));
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
        recorded.push_back(activity_of(*reinterpret_cast<const CUpti_ActivityMemset*>(record)));
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* bytes, size_t* most_records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, buffer_bytes));
    *bytes = *buffer ? buffer_bytes : 0;
    *most_records = 0;  // 0: as many as fit
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t bytes) {
    const std::lock_guard lock(mutex);
    CUpti_Activity* record = nullptr;
    while ((*cupti())->cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) keep(record);
    std::free(buffer);
}

std::optional<Error> register_callbacks(const CuptiCalls& calls) {
    static const CUptiResult registered = calls.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    if (registered == CUPTI_SUCCESS) return {};
    return cupti_error("cuptiActivityRegisterCallbacks", registered);
}

}  // namespace

Outcome<ActivityRecorder> ActivityRecorder::start() {
    const auto calls = cupti();
    if (!calls) return calls.error();
    if (auto error = register_callbacks(**calls)) return *error;
    ActivityRecorder recorder;
    for (const CUpti_ActivityKind kind : kinds)
        if (const CUptiResult result = (*calls)->cuptiActivityEnable(kind); result != CUPTI_SUCCESS)
            return cupti_error("cuptiActivityEnable", result);
    return recorder;
}

ActivityRecorder::~ActivityRecorder() {
    if (!recording_) return;
    for (const CUpti_ActivityKind kind : kinds) (*cupti())->cuptiActivityDisable(kind);
    (*cupti())->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    const std::lock_guard lock(mutex);
    recorded.clear();
}

std::vector<Activity> ActivityRecorder::take_before_marker(size_t count) {
    const auto is_marker = [bytes = static_cast<uint64_t>(marker_bytes_)](const Activity& activity) {
        return activity.filled_bytes == bytes;
    };
    for (int attempt = 0; attempt < 50; ++attempt) {
        (*cupti())->cuptiActivityFlushAll(0);
        {
            const std::lock_guard lock(mutex);
            if (std::any_of(recorded.begin(), recorded.end(), is_marker)) break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::lock_guard lock(mutex);
    std::vector<Activity> all = std::exchange(recorded, {});
    std::sort(all.begin(), all.end(),
              [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; });
    while (!all.empty() && !is_marker(all.back())) all.pop_back();
    if (!all.empty()) all.pop_back();
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())));
    return all;
}

}  // namespace sawtooth
