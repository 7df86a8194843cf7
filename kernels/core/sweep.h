#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

struct SweepAxis {
    std::string parameter;
    std::vector<Value> values;
    std::vector<std::string> also = {};  // further parameters that take the same values

    bool operator==(const SweepAxis&) const = default;
};

// A base Request and one or two axes. Cells run row by row, the last axis fastest.
struct Sweep {
    std::string id;  // the figure that requested it, or "" for the user
    Request base;
    std::vector<SweepAxis> axes;
    // Whether every cell is first measured with few repeats, and those that may be the fastest again in
    // rounds.
    bool search = false;

    size_t cells() const {
        size_t count = 1;
        for (const SweepAxis& axis : axes) count *= axis.values.size();
        return count;
    }
    std::vector<Value> cell(size_t index) const {  // the axes' values of one cell
        std::vector<Value> values(axes.size());
        for (size_t a = axes.size(); a-- > 0;) {
            values[a] = axes[a].values[index % axes[a].values.size()];
            index /= axes[a].values.size();
        }
        return values;
    }
    Request request(size_t index) const {  // the request of one cell
        Request request = base;
        const std::vector<Value> values = cell(index);
        for (size_t a = 0; a < axes.size(); ++a) {
            request.parameters.set(axes[a].parameter, values[a]);
            for (const std::string& name : axes[a].also) request.parameters.set(name, values[a]);
        }
        return request;
    }
    bool operator==(const Sweep&) const = default;
};

// A cell is a Result without its arrays, or the reason why no variant could run it.
struct SweepCell {
    std::vector<Value> values;
    std::string refused;
    std::shared_ptr<const Result> result;
};

struct SweepResult {
    Sweep sweep;
    std::vector<SweepCell> cells;  // finished cells, in order
    bool complete = false;
};

}  // namespace sawtooth
