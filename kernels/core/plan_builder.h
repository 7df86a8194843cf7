#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/buffer.h"
#include "kernels/core/family.h"
#include "kernels/core/integers.h"
#include "kernels/core/storage.h"

namespace sawtooth {

// Builds the Plan of a variant: memory, inputs and outputs, in the same way on both backends. The plan
// builders in kernels/cpu and kernels/cuda add the launches, so that a variant reads as a list of memory and
// launches. After a failure later calls do nothing, and `finish` returns the first error.
//
// A dry plan only counts memory. Its addresses are not null, because null means "absent", but must not be
// read or written.
class PlanBuilder {
  public:
    virtual ~PlanBuilder() = default;
    PlanBuilder(const PlanBuilder&) = delete;
    PlanBuilder& operator=(const PlanBuilder&) = delete;

    const PlanRequest& request() const { return request_; }
    const Parameters& parameters() const { return request_.parameters; }
    bool dry() const { return plan_.dry; }

    // Calls add(i) for i = 0 … count - 1. All calls must add launches of the same size, except for the first
    // and the last. A dry plan makes at most three calls and counts the others, so that the memory of any
    // plan is known at once.
    template <class Add>
    void repeat(int64_t count, Add add) {
        if (!request_.dry || count <= 3) {
            for (int64_t i = 0; i < count && goes_on(); ++i) add(i);
            return;
        }
        add(int64_t{0});
        const int64_t before = plan_.launch_bytes;
        add(int64_t{1});
        count_launches(count - 3, plan_.launch_bytes - before);
        add(count - 1);
    }

    // Takes an uninitialised array that is passed between launches.
    Buffer take(std::string name, Shape shape, Storage storage = Storage::f32);
    // The same for elements that are not floats of a storage, such as int32_t, double or a struct.
    template <class T>
    Buffer take(std::string name, Shape shape) {
        return take_array(std::move(name), std::move(shape), sizeof(T), Storage::f32);
    }
    // Takes uninitialised memory for `count` elements.
    template <class T>
    T* take(int64_t count) {
        return static_cast<T*>(take_bytes(count * static_cast<int64_t>(sizeof(T)), false));
    }
    // The same, zeroed once when the plan is built, as for flags that carry the number of the run.
    template <class T>
    T* take_zeroed(int64_t count) {
        return static_cast<T*>(take_bytes(count * static_cast<int64_t>(sizeof(T)), true));
    }

    // Returns an input in the memory of the backend and in that storage; absent if it is not given.
    Buffer input(std::string_view name, Storage storage = Storage::f32);
    // Returns an output with the dtype and shape of its row. Absent if the variant does not have it, if these
    // parameters do not use it, or if it is an extra that was not requested.
    Buffer output(std::string_view name, Storage storage = Storage::f32);

    // Takes `count` numbers, 0 at first, which launches set to another value if they cannot compute
    // something. If one of them is set after a run, the run has no outputs but fails with words_of(index,
    // number).
    int32_t* take_faults(int64_t count, std::function<std::string(int64_t index, int32_t number)> words_of);

    // Restores memory that a run destroys: copies it before every run, untimed.
    void restore(void* to, const void* from, int64_t bytes);

    // A value that lives as long as the plan, so that launches can store its address.
    template <class T>
    const T& keep(T value) {
        const auto kept = std::make_shared<const T>(std::move(value));
        plan_.memory.push_back(kept);
        return *kept;
    }

    void follow(Follow how) { plan_.follow = how; }
    bool failed() const { return error_.has_value(); }
    void fail(Error error);

    Outcome<Plan> finish();

  protected:
    struct Output {
        Array like;  // without data
        Storage storage;
        std::shared_ptr<void> memory;
    };
    // Reads an output of the last run. It lives as long as the plan.
    using Fetch = std::function<Outcome<Array>(const Output&)>;

    explicit PlanBuilder(const PlanRequest& request) : request_(request) { plan_.dry = request.dry; }

    virtual std::shared_ptr<void> allocate(int64_t bytes, bool zeroed) = 0;
    virtual const void* load(const Array& array, Storage storage) = 0;
    virtual Fetch fetch() = 0;
    using Copy = void (*)(Queue& queue, void* to, const void* from, int64_t bytes);
    virtual Copy copy() const = 0;

    Buffer take_array(std::string name, Shape shape, int64_t element_bytes, Storage storage);
    void* take_bytes(int64_t bytes, bool zeroed);
    // Returns false after a failure; a stop of the request is one.
    bool goes_on();
    void count_launches(int64_t count, int64_t bytes_each);
    // The host memory of a launch with its own description, including arrays and arguments; rounded up.
    static constexpr int64_t bytes_a_launch = 2048;
    // Returns the description without absent arrays, with the grid and the bytes of the arrays filled in.
    static LaunchInfo on_grid(LaunchInfo info, Extent grid, std::string formula);

    const PlanRequest& request_;
    Plan plan_;
    std::optional<Error> error_;

  private:
    struct Faults {
        Output numbers;
        std::function<std::string(int64_t, int32_t)> words_of;
    };
    std::vector<Output> outputs_;
    std::vector<Faults> faults_;
};

}  // namespace sawtooth
