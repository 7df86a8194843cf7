#include "kernels/cuda/storage.h"

#include <algorithm>

#include "kernels/core/integers.h"

namespace sawtooth::cuda {
namespace {

constexpr int64_t tile = 16 << 20;  // elements converted at once: 64 MiB of f32
constexpr int64_t threads = 256, most_blocks = 4096;

std::optional<Error> convert(Device& device, const std::string& entry, const void* from, void* to,
                             int64_t count) {
    const auto kernel = device.kernel({"kernels/cuda/convert.cu", {}}, entry);
    if (!kernel) return kernel.error();
    Queue queue;
    queue.stream = device.stream();
    const int64_t blocks = std::min(ceil_divide(count, threads), most_blocks);
    void* arguments[] = {&from, &to, &count};
    launch(queue, *kernel, {blocks, 1, 1}, {threads, 1, 1}, 0, arguments);
    if (!queue.error.empty()) return Error::failure(queue.error);
    return {};
}

const char* suffix(Storage storage) { return storage == Storage::f16 ? "_f16" : "_bf16"; }

// Calls each(staging, first element, elements) for tiles of `count` elements, one after another.
template <class Each>
std::optional<Error> in_tiles(Device& device, int64_t count, Each&& each) {
    const auto staging = device.allocate(std::min(count, tile) * static_cast<int64_t>(sizeof(float)));
    if (!staging) return staging.error();
    for (int64_t at = 0; at < count; at += tile)
        if (auto error = each(staging->get(), at, std::min(tile, count - at))) return error;
    return device.wait();
}

}  // namespace

std::optional<Error> store(Device& device, Storage storage, const Array& from, void* to) {
    if (storage == Storage::f32) return device.upload(to, from.data.get(), from.bytes());
    const float* const values = from.as<float>().data();
    return in_tiles(device, from.count(), [&](void* staging, int64_t at, int64_t count) {
        if (auto error = device.upload(staging, values + at, count * static_cast<int64_t>(sizeof(float))))
            return error;
        return convert(device, std::string("narrow") + suffix(storage), staging,
                       static_cast<uint16_t*>(to) + at, count);
    });
}

std::optional<Error> fetch(Device& device, Storage storage, const void* from, Array& to) {
    if (storage == Storage::f32) return device.download(to.data.get(), from, to.bytes());
    float* const values = to.as<float>().data();
    return in_tiles(device, to.count(), [&](void* staging, int64_t at, int64_t count) {
        if (auto error = convert(device, std::string("widen") + suffix(storage),
                                 static_cast<const uint16_t*>(from) + at, staging, count))
            return error;
        return device.download(values + at, staging, count * static_cast<int64_t>(sizeof(float)));
    });
}

}  // namespace sawtooth::cuda
