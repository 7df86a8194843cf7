#include "kernels/btp/cpu/sum_of_sequences.h"

#include <algorithm>

#include "kernels/btp/launches.h"

namespace sawtooth::btp {

void add_sum_of_sequences(cpu::PlanBuilder& builder, const Tensors& job) {
    builder.launch(sum_of_sequences(job), side("H", job.gate_rows), [&job](const cpu::Item& item) {
        float* const sum = job.da.as<float>() + item.index * job.length;
        std::fill_n(sum, job.length, 0.0f);
        for (int64_t head = item.index; head < job.heads; head += job.gate_rows) {
            const float* const one = job.da_of_sequences.as<float>() + job.gate_gradient_at(head, 0);
            for (int64_t i = 0; i < job.length; ++i) sum[i] += one[i];
        }
    });
}

}  // namespace sawtooth::btp
