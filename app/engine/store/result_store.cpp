#include "app/engine/store/result_store.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sawtooth {
namespace {

template <class OneResult>
auto all_arrays(OneResult& result) {
    std::vector<decltype(&result.inputs.front())> all;
    const auto add = [&](auto& arrays) {
        for (auto& array : arrays) all.push_back(&array);
    };
    add(result.inputs);
    for (auto& variant : result.variants) add(variant.outputs);
    add(result.reference);
    return all;
}

}  // namespace

std::vector<Array*> arrays_of(Result& result) { return all_arrays(result); }
std::vector<const Array*> arrays_of(const Result& result) { return all_arrays(result); }

void ResultStore::add(ResultId id, std::shared_ptr<const Result> result) {
    const auto same = [id](const Entry& entry) { return entry.id == id; };
    if (const auto place = std::find_if(entries_.begin(), entries_.end(), same); place != entries_.end()) {
        place->result = std::move(result);
        return;
    }
    entries_.push_back({id, std::move(result)});
    evict();
}

std::shared_ptr<const Result> ResultStore::find(ResultId id) const {
    for (const Entry& entry : entries_)
        if (entry.id == id) return entry.result;
    return nullptr;
}

void ResultStore::keep(std::vector<ResultId> ids) {
    kept_ = std::move(ids);
    evict();
}

bool ResultStore::is_kept(ResultId id) const {
    return id == entries_.back().id || std::find(kept_.begin(), kept_.end(), id) != kept_.end();
}

// Results share inputs and references.
int64_t ResultStore::bytes() const {
    std::set<const void*> counted;
    int64_t bytes = 0;
    for (const Entry& entry : entries_)
        for (const Array* array : arrays_of(*entry.result))
            if (array->data && counted.insert(array->data.get()).second) bytes += array->bytes();
    return bytes;
}

void ResultStore::evict() {
    while (entries_.size() > most_results || bytes() > most_bytes_) {
        const auto oldest = std::find_if(entries_.begin(), entries_.end(),
                                         [this](const Entry& entry) { return !is_kept(entry.id); });
        if (oldest == entries_.end()) return;
        entries_.erase(oldest);
    }
}

}  // namespace sawtooth
